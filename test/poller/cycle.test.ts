import test from 'ava'
import { ClosedError } from '../../dist/errors.js'
import { readingOf, virtualPoller } from './helpers.js'

test('without jitter the first cycle starts at once, but not within the call', async (t) => {
  const { clock, table, poller, asks } = virtualPoller()
  poller.setMembers([table.claim('a')])
  poller.start()
  t.is(asks.length, 0)
  await clock.advance(0)
  t.is(asks.length, 1)
  t.is(asks[0]?.at, 1_000)
})

for (const [random, starts] of [
  [0, 0],
  [0.25, 15_000],
  [0.999, 59_940],
] as const) {
  test(`a draw of ${random} in a jitter of a minute starts the first cycle after ${starts} ms`, async (t) => {
    const { clock, table, poller, asks } = virtualPoller({ startupJitter: 60_000, random: () => random })
    poller.setMembers([table.claim('a')])
    poller.start()
    if (starts > 0) await clock.advance(starts - 1)
    t.is(asks.length, 0)
    await clock.advance(starts > 0 ? 1 : 0)
    t.is(asks.length, 1)
  })
}

test('starting twice makes one cycle', async (t) => {
  const { clock, table, poller, asks } = virtualPoller()
  poller.setMembers([table.claim('a')])
  poller.start()
  poller.start()
  await clock.advance(0)
  poller.start()
  await clock.advance(0)
  t.is(asks.length, 1)
})

test('all members are asked at the same moment', async (t) => {
  const { clock, table, poller, asks } = virtualPoller()
  poller.setMembers(['a', 'b', 'c'].map((id) => table.claim(id)))
  poller.start()
  await clock.advance(0)
  t.deepEqual(
    asks.map(({ node, at }) => [node, at]),
    [
      ['a', 1_000],
      ['b', 1_000],
      ['c', 1_000],
    ],
  )
})

test('the next cycle starts an interval after the end of the last', async (t) => {
  const { clock, table, poller, asks } = virtualPoller()
  poller.setMembers([table.claim('a')])
  poller.start()
  await clock.advance(1_500)
  asks[0]?.answer({ cpu: 1 })
  await clock.advance(4_999)
  t.is(asks.length, 1)
  await clock.advance(1)
  t.is(asks.length, 2)
  t.is(asks[1]?.at, 1_000 + 1_500 + 5_000)
})

test('cycles never overlap, even where the interval is far below the time of an answer', async (t) => {
  const { clock, table, poller, asks } = virtualPoller({ interval: 1, timeout: 1_000 })
  poller.setMembers([table.claim('a')])
  poller.start()
  let open = 0
  let most = 0
  let seen = 0
  for (let step = 0; step < 200; step++) {
    await clock.advance(7)
    for (const ask of asks.slice(seen)) {
      seen++
      most = Math.max(most, ++open)
      clock.setTimeout(() => {
        open--
        ask.answer({ cpu: 1 })
      }, 50)
    }
  }
  t.is(most, 1)
  t.true(seen > 10)
})

test('a cycle ends by its time-out, aborts what has not answered and counts it as exit', async (t) => {
  const { clock, table, poller, asks } = virtualPoller()
  poller.setMembers([table.claim('silent'), table.claim('a')])
  poller.start()
  await clock.advance(0)
  asks[1]?.answer({ cpu: 30 })
  await clock.advance(1_999)
  t.is(poller.counters.cycles, 0)
  t.false(asks[0]?.signal.aborted)
  await clock.advance(1)
  t.is(poller.counters.cycles, 1)
  t.true(asks[0]?.signal.aborted)
  t.false(asks[1]?.signal.aborted)
  t.like(poller.counters, { asked: 2, stored: 1, exit: 1, error: 0 })
  t.is(readingOf(table, 'a')?.cpu, 30)
  await clock.advance(5_000)
  t.is(asks.length, 4)
})

test('each cycle publishes exactly once, whatever its members do', async (t) => {
  const { clock, table, poller, asks } = virtualPoller()
  poller.setMembers(['a', 'b', 'c', 'd'].map((id) => table.claim(id)))
  poller.start()
  await clock.advance(0)
  t.is(table.publications, 0)
  asks[0]?.answer({ cpu: 1 })
  asks[1]?.fail(new Error('broken'))
  asks[2]?.answer({ cpu: -1 })
  await clock.advance(1_999)
  t.is(table.publications, 0)
  await clock.advance(1)
  t.is(table.publications, 1)
  await clock.advance(5_000 + 2_000)
  t.is(table.publications, 2)
})

test('a cycle without remote members samples the local node and publishes', async (t) => {
  const samples: number[] = []
  const { clock, table, poller } = virtualPoller({
    sampleSelf: async () => {
      samples.push(clock.now())
    },
  })
  poller.start()
  await clock.advance(10_000)
  t.deepEqual(samples, [1_000, 6_000, 11_000])
  t.is(table.publications, 3)
})

test('the local node is sampled while the remotes are asked', async (t) => {
  const order: string[] = []
  const { clock, table, poller, asks } = virtualPoller({
    sampleSelf: () =>
      new Promise((resolve) => {
        order.push(`sample begins, ${asks.length} asked`)
        clock.setTimeout(() => {
          order.push(`sample ends, ${asks.length} asked, ${table.publications} published`)
          resolve()
        }, 300)
      }),
  })
  poller.setMembers([table.claim('a')])
  poller.start()
  await clock.advance(10)
  asks[0]?.answer({ cpu: 5 })
  await clock.advance(289)
  t.is(poller.counters.cycles, 0)
  await clock.advance(1)
  t.is(poller.counters.cycles, 1)
  t.deepEqual(order, ['sample begins, 0 asked', 'sample ends, 1 asked, 0 published'])
})

for (const [what, sampleSelf] of [
  ['hangs', () => new Promise<void>(() => {})],
  ['rejects', () => Promise.reject(new Error('no sample'))],
  [
    'throws',
    () => {
      throw new Error('no sample')
    },
  ],
] as const) {
  test(`a local sample that ${what} stops neither the cycle nor the remotes`, async (t) => {
    const { clock, table, poller, asks } = virtualPoller({ sampleSelf })
    poller.setMembers([table.claim('a')])
    poller.start()
    await clock.advance(0)
    asks[0]?.answer({ cpu: 42 })
    await clock.advance(2_000)
    t.is(poller.counters.cycles, 1)
    t.is(readingOf(table, 'a')?.cpu, 42)
    await clock.advance(5_000)
    t.is(asks.length, 2)
  })
}

test('a sampler that gives up just at the time-out still writes into this cycle’s publication', async (t) => {
  let written = false
  let publishedAfter: boolean | undefined
  const { clock, poller } = virtualPoller({
    sampleSelf: () =>
      new Promise<void>((resolve) => {
        clock.setTimeout(() => {
          written = true
          resolve()
        }, 2_000)
      }),
    onCycle: () => {
      publishedAfter ??= written
    },
  })
  poller.start()
  await clock.advance(2_000)
  t.true(publishedAfter)
})

test('ready resolves after the first complete cycle and not before', async (t) => {
  const { clock, table, poller, asks } = virtualPoller()
  poller.setMembers([table.claim('a')])
  let ready = false
  poller.ready.then(() => {
    ready = true
  })
  poller.start()
  await clock.advance(500)
  t.false(ready)
  asks[0]?.answer({ cpu: 1 })
  await clock.advance(0)
  t.true(ready)
})

test('ready rejects where the poller is closed before', async (t) => {
  const { clock, poller } = virtualPoller({ startupJitter: 60_000 })
  poller.start()
  await clock.advance(10)
  await poller.close()
  await t.throwsAsync(poller.ready, { instanceOf: ClosedError })
})

test('nobody has to wait for ready: its rejection is no unhandled one', async (t) => {
  const unhandled: unknown[] = []
  const listener = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', listener)
  const { poller } = virtualPoller()
  await poller.close()
  await new Promise((resolve) => setTimeout(resolve, 10))
  process.off('unhandledRejection', listener)
  t.deepEqual(unhandled, [])
})

test('closing during a cycle aborts it: nothing is published, and no other cycle starts', async (t) => {
  const { clock, table, poller, asks } = virtualPoller()
  poller.setMembers([table.claim('a'), table.claim('b')])
  poller.start()
  await clock.advance(0)
  asks[0]?.answer({ cpu: 12 })
  await clock.advance(10)
  await poller.close()
  t.true(asks[1]?.signal.aborted)
  await clock.advance(60_000)
  t.is(table.publications, 0)
  t.is(asks.length, 2)
  t.is(poller.counters.cycles, 0)
  t.is(clock.pending, 0)
})

test('closing before the first cycle leaves no timer', async (t) => {
  const { clock, poller } = virtualPoller({ startupJitter: 60_000 })
  poller.start()
  t.is(clock.pending, 1)
  await poller.close()
  t.is(clock.pending, 0)
})

test('closing twice, and starting after, does nothing more', async (t) => {
  const { clock, table, poller, asks } = virtualPoller()
  poller.setMembers([table.claim('a')])
  poller.start()
  await clock.advance(0)
  t.is(poller.close(), poller.close())
  await poller.close()
  poller.start()
  poller.setMembers([table.claim('b')])
  await clock.advance(60_000)
  t.is(asks.length, 1)
})

test('a finished cycle leaves no timer but that of the next', async (t) => {
  const { clock, table, poller, asks } = virtualPoller({ sampleSelf: async () => {} })
  poller.setMembers([table.claim('a')])
  poller.start()
  await clock.advance(0)
  asks[0]?.answer({ cpu: 1 })
  await clock.advance(0)
  t.is(poller.counters.cycles, 1)
  t.is(clock.pending, 1)
})
