import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ExecutionContext } from 'ava'

/** A folder that holds the given files until the test ends. */
export function temporaryFolder(t: ExecutionContext, files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'idlest-ci-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(files)) write(folder, path, content)
  return folder
}

export function write(folder: string, path: string, content: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}
