import test from 'ava'
import { performanceClock } from '../../dist/clock.js'
import { Table } from '../../dist/table/table.js'
import { httpAsker } from './agents.js'

test('a wait beyond what timers take is one of the longest they take, not one of a millisecond', (t) => {
  const clock = performanceClock()
  const set = globalThis.setTimeout
  const waits: unknown[] = []
  globalThis.setTimeout = ((_run: () => void, ms: number) => waits.push(ms)) as unknown as typeof set
  try {
    for (const ms of [5, 2 ** 31 - 1, 2 ** 31, 1e308, Number.POSITIVE_INFINITY])
      clock.setTimeout(() => {}, ms)
  } finally {
    globalThis.setTimeout = set
  }
  const most = 2 ** 31 - 1
  t.deepEqual(waits, [5, most, most, most, most])
})

test('any number of nodes that can’t be asked fail one by one, and the round ends', async (t) => {
  const table = new Table(performanceClock())
  const asker = httpAsker(table, [])
  const count = 200_000
  asker.setMembers(Array.from({ length: count }, (_, i) => table.claim(`no/host/${i}`)))
  const tally = await asker.round(100)
  t.deepEqual([tally.asked, tally.failed.length], [count, count])
  await asker.close()
})
