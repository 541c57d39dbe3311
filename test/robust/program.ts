// Programs of these tests, each in a process of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** How a process ended, and all that it said. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
}

export interface Start {
  readonly args?: readonly string[]
  readonly flags?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
}

/** Where a program of these tests is. */
export function pathOf(file: string): string {
  return fileURLToPath(new URL(`./programs/${file}`, import.meta.url))
}

/** Starts a program, without the flags that these tests run with. */
export function start(file: string, { args = [], flags = [], env = {} }: Start = {}): Running {
  const { NODE_OPTIONS: _, IDLEST_ENGINE: __, IDLEST_BINDING_PATH: ___, ...clean } = process.env
  const child = spawn(process.execPath, [...flags, pathOf(file), ...args], {
    env: { ...clean, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let [out, err] = ['', '']
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, out, err }))
  return { child, ended }
}

/** Runs a program to its end. */
export function run(file: string, how?: Start): Promise<Ended> {
  return start(file, how).ended
}
