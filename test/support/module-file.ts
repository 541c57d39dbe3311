import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'

const cache = fileURLToPath(new URL('../../node_modules/.cache/idlest/', import.meta.url))

/**
 * A file that holds a module which a test runs in a process of its own, until the test ends. Not by `--eval`, which
 * knows no modules in Deno; below the repository, where the packages are that it may import.
 */
export function moduleFile(t: ExecutionContext, source: string): string {
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'module-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'module.mjs')
  writeFileSync(file, source)
  return file
}
