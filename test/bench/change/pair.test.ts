import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import type { Compared } from '../../../bench/change/compare.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))

function pair(...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const command = ['--import', 'tsx', 'bench/change/pair.ts', ...args]
    execFile(process.execPath, command, { cwd: root }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr })
    })
  })
}

test('a checkout is measured beside itself: both have the same cases', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'idlest-bench-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const file = join(folder, 'pair.json')
  const { code, stdout } = await pair(
    ...[root, root, '--quick', '--processes', '1', '--rounds', '2', '--topics', 'leases', '--json', file],
  )
  // With so few samples anything may look slower; but it was compared.
  t.true(code === 0 || code === 1, `${code}`)
  t.regex(stdout, /^Of \d+ cases \d+ got slower by more than 1\.25 times/)
  const { base, head }: Record<'base' | 'head', Compared[]> = JSON.parse(await readFile(file, 'utf8'))
  t.true(base.length > 0 && base.every(({ key }) => key.startsWith('acquire + release')))
  t.deepEqual(base.map(({ key }) => key).sort(), head.map(({ key }) => key).sort())
})

test('a folder that is no clone can not be compared', async (t) => {
  const { code, stderr } = await pair(root, tmpdir())
  t.is(code, 2)
  t.regex(stderr, /no clone that can be compared/)
})
