import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'

const folders = fileURLToPath(new URL('../../build/modules/', import.meta.url))

/**
 * A file that holds a module which a test runs in a process of its own, until the test ends. Not by `--eval`, which
 * knows no modules in Deno; in the repository, whose packages it may import, but not below its node_modules, where Deno
 * lets nothing import idlest.
 */
export function moduleFile(t: ExecutionContext, source: string): string {
  mkdirSync(folders, { recursive: true })
  const folder = mkdtempSync(join(folders, 'module-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'module.mjs')
  writeFileSync(file, source)
  return file
}
