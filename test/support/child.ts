// Processes that tests start.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { ExecutionContext } from 'ava'
import { moduleFile } from './module-file.js'

/** Runs a module in a process of its own. `said` gives what it has written so far. */
export function child(t: ExecutionContext, script: string, flags: readonly string[] = []) {
  const process_ = spawn(process.execPath, [...flags, moduleFile(t, script)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => process_.kill('SIGKILL'))
  let said = ''
  process_.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  return { exit: once(process_, 'exit'), said: () => said }
}

/** Flags of a process in which packages whose names begin so are not installed. */
export function without(packages: string): string[] {
  const hooks = `export async function resolve(name, context, next) {
    if (!name.startsWith('${packages}')) return next(name, context)
    throw Object.assign(new Error("Cannot find package '" + name + "'"), { code: 'ERR_MODULE_NOT_FOUND' })
  }`
  const module = (source: string) => `data:text/javascript,${encodeURIComponent(source)}`
  return [
    '--import',
    module(`import { register } from 'node:module'; register(${JSON.stringify(module(hooks))})`),
  ]
}
