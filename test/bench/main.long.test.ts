import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { keyOf } from '../../bench/case.js'
import { type Results, readResults } from '../../bench/results.js'
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

  const written: Results = JSON.parse(await readFile(file, 'utf8'))
  const { versions } = written
  t.is(versions.node, process.versions.node)
  for (const said of [versions.node, versions.v8, versions.idlest, `undici ${versions.peers.undici}`]) {
    t.true(stdout.includes(said), said)
  }
  if (versions.addon !== undefined) t.regex(versions.addon.rustc ?? '', /^rustc 1\./)
  t.regex(stdout, /The floor took .* ns|Without the addon/)
  for (const one of written.cases) {
    const { ns, p99, samples } = one
    t.true(ns.p10 > 0 && ns.p10 <= ns.median && ns.median <= ns.p90 && p99 > 0 && samples > 0, keyOf(one))
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
  // What the pages are made of has all that there is, but what only other machines have.
  const kept = new Set(readResults()?.cases.map(keyOf))
  const missing = written.cases.map(keyOf).filter((key) => !kept.has(key) && !/\b\d+ threads and/.test(key))
  t.deepEqual(missing, [], 'not in bench/results.json: npm run bench -- --write')
  // Without the addon there is nothing to compare with.
  if (engines.includes('native')) for (const { what, met } of written.bars) t.is(typeof met, 'boolean', what)
})
