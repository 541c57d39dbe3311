import test from 'ava'
import { type Aside, TableSink } from '../../dist/poller/sink.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { Table } from '../../dist/table/table.js'
import { readingOf } from './agents.js'

function setUp() {
  const clock = new VirtualClock(1_000)
  const table = new Table(clock)
  const asides: Aside[] = []
  const sink = new TableSink({
    memory: table.memory,
    clock,
    coalesce: 50,
    onAside: (aside) => asides.push(aside),
  })
  const told = () => asides.flatMap((aside) => aside.told)
  const sum = () =>
    asides.reduce(
      (sum, { pushed }) =>
        Object.fromEntries(Object.entries(pushed).map(([name, count]) => [name, (sum[name] ?? 0) + count])),
      {} as Record<string, number>,
    )
  return { clock, table, sink, asides, told, sum }
}

test('a pushed report is stored, dated back by its age, and counted', (t) => {
  const { table, sink, sum } = setUp()
  sink.push(table.claim('a'), { cpu: 30, age: 200 }, 1_000)
  t.deepEqual(readingOf(table, 'a'), { cpu: 30, age: 200 })
  sink.flush()
  t.deepEqual(sum(), { stored: 1, older: 0, left: 0, empty: 0, bad: 0, strangers: 0 })
})

test('each push is counted as what became of it', (t) => {
  const { table, sink, sum } = setUp()
  const [a, gone] = [table.claim('a'), table.claim('gone')]
  table.unclaim(gone)
  sink.push(a, { cpu: 30 }, 1_000)
  sink.push(a, { cpu: 40, age: 5 }, 1_000)
  sink.push(a, { age: 5 }, 1_000)
  sink.push(gone, { cpu: 1 }, 1_000)
  sink.bad(a, 'no report')
  sink.flush()
  t.deepEqual(sum(), { stored: 1, older: 1, left: 1, empty: 1, bad: 1, strangers: 0 })
  t.is(readingOf(table, 'a')?.cpu, 30)
})

test('what a push tells of the node is passed on at once; the same again is not', async (t) => {
  const { clock, table, sink, told } = setUp()
  const { slot, generation } = table.claim('a')
  const place = { slot, generation }
  sink.push({ id: 'a', ...place }, { state: 'drain', weight: 50 }, 1_000)
  t.deepEqual(told(), [{ ...place, state: 'drain', weight: 50 }])
  for (let i = 0; i < 3; i++) sink.push({ id: 'a', ...place }, { state: 'drain', weight: 50, cpu: i }, 1_000)
  await clock.advance(100)
  t.is(told().length, 1)
  sink.push({ id: 'a', ...place }, { state: 'drain', weight: 60, maxInFlight: 0 }, 1_000)
  t.deepEqual(told().slice(1), [{ ...place, weight: 60, maxInFlight: 0 }])
})

test('what many tell in a row is passed on within 50 ms, in one piece', async (t) => {
  const { clock, table, sink, asides } = setUp()
  const places = Array.from({ length: 100 }, (_, i) => table.claim(`${i}`))
  for (const place of places) sink.push(place, { state: 'maint' }, 1_000)
  t.is(asides.length, 1)
  await clock.advance(50)
  t.deepEqual(
    asides.map(({ told }) => told.length),
    [1, 99],
  )
})

test('what answers of rounds tell is passed on when it is flushed, but nothing twice', (t) => {
  const { table, sink, asides, told } = setUp()
  const { slot, generation } = table.claim('a')
  t.is(sink.store({ id: 'a', slot, generation }, { cpu: 1, state: 'up' }, 1_000), 'stored')
  t.is(asides.length, 0)
  sink.flush()
  t.deepEqual(told(), [{ slot, generation, state: 'up' }])
  t.is(sink.store({ id: 'a', slot, generation }, { cpu: 1, state: 'up' }, 1_000), 'stored')
  sink.flush()
  t.is(asides.length, 1)
})

test('what was forgotten is passed on again, and so is what the next node in the slot tells', (t) => {
  const { table, sink, told } = setUp()
  const first = table.claim('a')
  sink.store(first, { state: 'up' }, 1_000)
  sink.forget(first.slot)
  sink.store(first, { state: 'up' }, 1_000)
  sink.flush()
  t.is(told().length, 2)
  const next = { slot: first.slot, generation: first.generation + 1 }
  table.unclaim(first)
  sink.store({ id: 'b', ...next }, { state: 'up' }, 1_000)
  sink.flush()
  t.deepEqual(told().at(-1), { ...next, state: 'up' })
})

test('of a node that tells nothing but nonsense one reason is passed on at a time', async (t) => {
  const { clock, sink, asides, sum } = setUp()
  for (let i = 0; i < 1_000; i++) sink.bad({ id: 'a' }, `nonsense ${i}`)
  await clock.advance(1_000)
  t.deepEqual(
    asides.map(({ bad }) => bad),
    [[['a', 'nonsense 0']], [['a', 'nonsense 1']]],
  )
  t.is(sum().bad, 1_000)
})

test('once closed it stores nothing, tells nothing and leaves no timer', async (t) => {
  const { clock, table, sink, asides } = setUp()
  const a = table.claim('a')
  sink.push(a, { cpu: 1, state: 'up' }, 1_000)
  sink.push(a, { cpu: 2, state: 'drain' }, 1_000)
  sink.close()
  sink.push(a, { cpu: 3, state: 'maint' }, 1_000)
  sink.bad(a, 'no report')
  t.is(clock.pending, 0)
  await clock.advance(100)
  t.is(readingOf(table, 'a')?.cpu, 2)
  t.is(asides.length, 1)
})
