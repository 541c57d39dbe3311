import test from 'ava'
import { readingOf, virtualPoller } from './agents.js'

test('the newest sample stays, whatever order the reports arrive in', async (t) => {
  const { clock, table, poller, asks } = virtualPoller()
  const entry = table.claim('a')
  poller.setMembers([entry])
  poller.start()
  await clock.advance(0)
  // Somebody else heard of a sample taken 100 ms ago.
  table.write(entry, table.now() - 100, { cpu: 70 })
  asks[0]?.answer({ cpu: 10, age: 101 })
  await clock.advance(0)
  t.deepEqual(readingOf(table, 'a'), { cpu: 70, age: 100 })
  t.like(poller.counters, { stored: 0, older: 1 })
  await clock.advance(5_000)
  asks[1]?.answer({ cpu: 20, age: 30 })
  await clock.advance(0)
  t.deepEqual(readingOf(table, 'a'), { cpu: 20, age: 30 })
  t.like(poller.counters, { stored: 1, older: 1 })
})

test('a reading is as old as its sample, not as its arrival', async (t) => {
  const { clock, table, poller, asks } = virtualPoller()
  poller.setMembers([table.claim('a'), table.claim('b')])
  poller.start()
  await clock.advance(700)
  asks[0]?.answer({ cpu: 10, age: 4_000 })
  asks[1]?.answer({ cpu: 10 })
  await clock.advance(50)
  t.is(readingOf(table, 'a')?.age, 4_050)
  t.is(readingOf(table, 'b')?.age, 50)
})

test('a sampler that died keeps ageing: the same sample, older each time, is never fresher', async (t) => {
  const { clock, table, poller, asks } = virtualPoller({ interval: 1_000 })
  poller.setMembers([table.claim('a')])
  poller.start()
  for (let cycle = 0; cycle < 5; cycle++) {
    await clock.advance(cycle === 0 ? 0 : 1_000)
    asks[cycle]?.answer({ cpu: 10, age: 200 + cycle * 1_000 })
    await clock.advance(0)
    t.is(readingOf(table, 'a')?.age, 200 + cycle * 1_000)
  }
})

test('a report of nothing that the table keeps is counted and stores nothing', async (t) => {
  const { clock, table, poller, asks } = virtualPoller()
  poller.setMembers([table.claim('a')])
  poller.start()
  await clock.advance(0)
  asks[0]?.answer({ age: 3, named: { unasked: 4 } })
  await clock.advance(0)
  t.like(poller.counters, { stored: 0, empty: 1, exit: 0, error: 0 })
  t.is(readingOf(table, 'a'), undefined)
})

test('CPU above 100 is stored as 100', async (t) => {
  const { clock, table, poller, asks } = virtualPoller()
  poller.setMembers([table.claim('a')])
  poller.start()
  await clock.advance(0)
  asks[0]?.answer({ cpu: 250 })
  await clock.advance(0)
  t.is(readingOf(table, 'a')?.cpu, 100)
})

const wrong: [string, unknown][] = [
  ['NaN', { cpu: Number.NaN }],
  ['a negative CPU', { cpu: -1 }],
  ['a string', { cpu: '37' }],
  ['infinity', { cpu: Number.POSITIVE_INFINITY }],
  ['1e308', { cpu: 1e308 }],
  ['a negative age', { cpu: 1, age: -5 }],
  ['nothing', undefined],
  ['null', null],
]
for (const [what, report] of wrong) {
  test(`a custom transport that gives ${what} fails its node with error, and no other`, async (t) => {
    const { clock, table, poller, asks } = virtualPoller()
    poller.setMembers([table.claim('wrong'), table.claim('right')])
    poller.start()
    await clock.advance(0)
    asks[0]?.answer(report as { cpu: number })
    asks[1]?.answer({ cpu: 3 })
    await clock.advance(0)
    t.like(poller.counters, { cycles: 1, stored: 1, error: 1, exit: 0 })
    t.is(readingOf(table, 'wrong'), undefined)
    t.is(readingOf(table, 'right')?.cpu, 3)
  })
}

test('a custom transport that throws within the call fails its node with exit, and no other', async (t) => {
  const { clock, table, poller } = virtualPoller({
    transport: {
      poll(node) {
        if (node === 'wrong') throw new Error('no such thing')
        return Promise.resolve({ cpu: 3 })
      },
    },
  })
  poller.setMembers([table.claim('wrong'), table.claim('right')])
  poller.start()
  await clock.advance(0)
  t.like(poller.counters, { cycles: 1, stored: 1, exit: 1, error: 0 })
})

test('an answer after the time-out is dropped and counted', async (t) => {
  const { clock, table, poller, asks } = virtualPoller()
  poller.setMembers([table.claim('a')])
  poller.start()
  await clock.advance(2_000)
  asks[0]?.answer({ cpu: 55 })
  await clock.advance(0)
  t.is(readingOf(table, 'a'), undefined)
  t.like(poller.counters, { exit: 1, late: 1, stored: 0 })
})

test('an answer after close is dropped and counted', async (t) => {
  const { clock, table, poller, asks } = virtualPoller()
  poller.setMembers([table.claim('a')])
  poller.start()
  await clock.advance(0)
  await poller.close()
  asks[0]?.answer({ cpu: 55 })
  await clock.advance(0)
  t.is(readingOf(table, 'a'), undefined)
  t.like(poller.counters, { late: 1, stored: 0, exit: 0 })
})

test('a late answer of one cycle is not taken for one of the next', async (t) => {
  const { clock, table, poller, asks } = virtualPoller()
  poller.setMembers([table.claim('a')])
  poller.start()
  await clock.advance(7_000)
  t.is(asks.length, 2)
  asks[0]?.answer({ cpu: 55 })
  await clock.advance(0)
  t.is(poller.counters.cycles, 1)
  asks[1]?.answer({ cpu: 66 })
  await clock.advance(0)
  t.is(poller.counters.cycles, 2)
  t.is(readingOf(table, 'a')?.cpu, 66)
  t.like(poller.counters, { late: 1, stored: 1 })
})

test('a member that leaves while it is asked is not waited for; its answer is dropped and counted', async (t) => {
  const { clock, table, poller, asks } = virtualPoller()
  const [a, b] = [table.claim('a'), table.claim('b')]
  poller.setMembers([a, b])
  poller.start()
  await clock.advance(0)
  asks[1]?.answer({ cpu: 9 })
  await clock.advance(0)
  t.is(poller.counters.cycles, 0)
  poller.setMembers([b])
  await clock.advance(0)
  t.is(poller.counters.cycles, 1)
  t.true(asks[0]?.signal.aborted)
  asks[0]?.answer({ cpu: 5 })
  await clock.advance(0)
  // Another balancer still has the node, yet this one's report of it is dropped.
  t.is(readingOf(table, 'a'), undefined)
  t.like(poller.counters, { left: 1, late: 0, stored: 1, exit: 0 })
})

test('a report for a slot that was given back changes nothing and is counted', async (t) => {
  const { clock, table, poller, asks } = virtualPoller()
  const a = table.claim('a')
  poller.setMembers([a])
  poller.start()
  await clock.advance(0)
  table.unclaim(a)
  asks[0]?.answer({ cpu: 5 })
  await clock.advance(0)
  t.like(poller.counters, { left: 1, stored: 0 })
})

test('a node that left and came back gets its report under its new slot', async (t) => {
  const { clock, table, poller, asks } = virtualPoller()
  const first = table.claim('a')
  poller.setMembers([first])
  poller.start()
  await clock.advance(0)
  asks[0]?.answer({ cpu: 5 })
  await clock.advance(0)
  table.unclaim(first)
  const again = table.claim('a')
  poller.setMembers([again])
  await clock.advance(5_000)
  asks[1]?.answer({ cpu: 6 })
  await clock.advance(0)
  t.is(readingOf(table, 'a')?.cpu, 6)
  t.like(poller.counters, { stored: 2, left: 0 })
})

test('members that join during a cycle are asked from the next one on', async (t) => {
  const { clock, table, poller, asks } = virtualPoller()
  const a = table.claim('a')
  poller.setMembers([a])
  poller.start()
  await clock.advance(0)
  poller.setMembers([a, table.claim('b')])
  await clock.advance(0)
  t.deepEqual(
    asks.map(({ node }) => node),
    ['a'],
  )
  await clock.advance(7_000)
  t.deepEqual(
    asks.map(({ node }) => node),
    ['a', 'a', 'b'],
  )
})
