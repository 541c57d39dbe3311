import test from 'ava'
import { run } from './program.js'

interface Look {
  used: number
  rss: number
  prometheus: number
  opentelemetry: number
  size: number
  ids: number
}

const MIB = 2 ** 20
const nodes = process.argv.includes('--all') ? 1_000_000 : 20_000

test(`after ${nodes} nodes that came and went, memory, metric series and all maps of ids are as before`, async (t) => {
  t.timeout(3_600_000)
  const { code, out, err } = await run('churn.mjs', { args: [`${nodes}`], flags: ['--expose-gc'] })
  t.deepEqual([code, err], [0, ''])
  const { before, after } = JSON.parse(out) as { before: Look; after: Look }
  t.is(after.size, 1)
  t.deepEqual([after.prometheus, after.opentelemetry], [before.prometheus, before.opentelemetry])
  // What is kept of those that came last, such as changes for threads that attach, is bounded: as much after a million.
  t.true(after.ids < 4_000, `ids of ${after.ids} nodes that left are kept`)
  t.true(after.used - before.used < 4 * MIB, `in use: ${after.used - before.used} bytes more`)
})
