import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import type { Bar } from '../../bench/bars.js'
import type { CaseResult } from '../../bench/case.js'
import type { Machine } from '../../bench/machine.js'
import { engines } from '../support/engines.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('a quick run measures everything, prints the bars and writes the file', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'idlest-bench-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const file = join(folder, 'bench.json')
  // Rejects where the exit code is another than 0, whatever bars are missed.
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', 'bench/main.ts', '--quick', '--json', file],
    { cwd: root },
  )
  t.regex(stdout, /at most/)
  t.regex(stdout, /quick run/)
  t.regex(stderr, /^[a-z ]+: \d+ of \d+$/m)

  const written: { machine: Machine; cases: CaseResult[]; bars: Bar[] } = JSON.parse(
    await readFile(file, 'utf8'),
  )
  t.is(written.machine.node, process.versions.node)
  for (const { name, engine, nodes, nsPerPick, p99, samples } of written.cases) {
    t.true(nsPerPick > 0 && p99 > 0 && samples > 0, `${name} ${engine} ${nodes}`)
  }
  const names = new Set(written.cases.map(({ name, engine, nodes }) => `${name} ${engine} ${nodes}`))
  for (const nodes of [8, 64, 1_000, 10_000]) {
    t.true(names.has(`naive scan - ${nodes}`))
    for (const engine of engines) {
      t.true(names.has(`select() ${engine} ${nodes}`))
      t.true(names.has(`fill(1024) ${engine} ${nodes}`))
    }
  }
  for (const nodes of [8, 64]) {
    t.true(names.has(`select(sameArray) - ${nodes}`))
    t.true(names.has(`select(freshArray) - ${nodes}`))
  }
  // Without the addon there is nothing to compare with.
  if (engines.includes('native')) for (const { what, met } of written.bars) t.is(typeof met, 'boolean', what)
})
