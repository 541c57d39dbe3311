import test from 'ava'
import fc from 'fast-check'
import { BadReportError, type Meter, type MeterOptions, meter, OptionError } from '../../dist/index.js'
import { BusyClock } from './support.js'

function measure(options: MeterOptions = {}): { queue: Meter; clock: BusyClock } {
  const clock = new BusyClock(1_000)
  return { queue: meter({ clock, ...options }), clock }
}

test('a process that has not shown itself counts as full', (t) => {
  t.is(measure().queue.value, 5_000)
  t.is(measure({ upper: 40 }).queue.value, 40)
  t.deepEqual(measure().queue.sample(), { metric: 'queueDelay', value: 5_000, age: 0 })
})

test('it says how long the last request waited from its arrival to the start of its work', async (t) => {
  const { queue, clock } = measure()
  const [first, second] = [queue.arrive(), queue.arrive()]
  await clock.advance(30)
  first.start()
  t.is(queue.value, 30)
  await clock.advance(12)
  second.start()
  t.is(queue.value, 42)
  second.end()
  first.end()
  t.is(queue.value, 42)
  t.deepEqual(queue.counters, { arrived: 2, recorded: 2, refused: 0, looks: 0 })
})

test('a wait counts from when the request was sent, where that is told', async (t) => {
  const { queue, clock } = measure()
  const arrival = queue.arrive(25)
  await clock.advance(5)
  arrival.start()
  t.is(queue.value, 30)
})

test('what was measured elsewhere is taken, capped at upper and never below 0', (t) => {
  const { queue } = measure({ upper: 100 })
  for (const [given, said] of [
    [7.5, 7.5],
    [100, 100],
    [1e9, 100],
    [-0.01, 0],
  ] as const) {
    t.true(queue.record(given))
    t.is(queue.value, said)
  }
})

test('an idle process falls to 0 within an update, and stays fresh', async (t) => {
  const { queue, clock } = measure()
  await clock.advance(99)
  t.is(queue.value, 5_000)
  await clock.advance(1)
  t.is(queue.value, 0)
  queue.record(80)
  await clock.advance(100)
  t.is(queue.value, 80, 'a request came since the last look')
  await clock.advance(100)
  t.is(queue.value, 0)
  for (let i = 0; i < 1_000; i++) {
    await clock.jump(17)
    t.true(queue.sample().age <= 100)
  }
})

test('a process whose event loop is blocked rises though no request tells', async (t) => {
  const { queue, clock } = measure()
  await clock.advance(100)
  clock.block(350)
  await clock.advance(100)
  t.is(queue.value, 350)
  await clock.advance(100)
  t.is(queue.value, 0)
})

test('a timer that is late by as little as timers count is not', async (t) => {
  const { queue, clock } = measure()
  clock.block(1.9)
  await clock.advance(100)
  t.is(queue.value, 0)
  clock.block(2)
  await clock.advance(100)
  t.is(queue.value, 2)
})

test('a process that takes up no work rises with the age of the oldest request that waits', async (t) => {
  const { queue, clock } = measure({ upper: 1_000 })
  await clock.advance(100)
  queue.arrive(20)
  const oldest = queue.arrive(50)
  await clock.advance(300)
  t.is(queue.value, 350)
  await clock.advance(5_000)
  t.is(queue.value, 1_000)
  oldest.end()
  await clock.advance(100)
  t.is(queue.value, 1_000, 'the other one waits still')
})

test('a process with nothing to do says so at once, and goes before one that works', async (t) => {
  const { queue, clock } = measure()
  const [first, second] = [queue.arrive(), queue.arrive()]
  await clock.advance(40)
  first.start()
  first.end()
  t.is(queue.value, 40)
  second.start()
  await clock.advance(0)
  t.is(queue.value, 40, 'the second is worked on')
  second.end()
  await clock.advance(0)
  t.is(queue.value, 0)
  queue.arrive().start()
  t.is(queue.value, 0.001)
  await clock.advance(1_000)
  t.is(queue.value, 0.001, 'still at work')
})

test('a request that comes in the turn after the last one keeps what was measured', async (t) => {
  const { queue, clock } = measure()
  const first = queue.arrive(60)
  first.start()
  first.end()
  queue.arrive(70).start()
  await clock.advance(0)
  t.is(queue.value, 70)
})

test('a request that is given up before its work started tells no wait', async (t) => {
  const { queue, clock } = measure()
  await clock.advance(100)
  {
    using _given = queue.arrive()
    await clock.advance(40)
  }
  t.is(queue.counters.recorded, 0)
  await clock.advance(60)
  t.is(queue.value, 0)
})

test('starting and ending again changes nothing', async (t) => {
  const { queue, clock } = measure({ metric: 'inFlight' })
  const one = queue.arrive()
  queue.arrive()
  t.is(queue.value, 2)
  for (let i = 0; i < 3; i++) {
    one.start()
    one.end()
  }
  one.start()
  t.is(queue.value, 1)
  await clock.advance(1_000)
  t.is(queue.value, 1)
})

test('inFlight is how many have arrived and not ended', (t) => {
  fc.assert(
    fc.property(fc.array(fc.nat(30)), (steps) => {
      const { queue } = measure({ metric: 'inFlight', upper: 20 })
      const open: { end(): void }[] = []
      for (const step of steps) {
        if (step < 10 && open.length > 0) open.splice(step % open.length, 1)[0]?.end()
        else open.push(queue.arrive())
        t.is(queue.value, Math.min(20, open.length))
      }
      queue.close()
    }),
  )
})

test('latency is from arrival to end, and of what has not ended its age', async (t) => {
  const { queue, clock } = measure({ metric: 'latency' })
  const done = queue.arrive()
  done.start()
  await clock.advance(35)
  done.end()
  await clock.advance(0)
  t.is(queue.value, 35)
  queue.arrive().start()
  await clock.advance(400)
  t.is(queue.value, 365, 'as of the last look, at 400')
})

test('without requests latency fades, so that a slow moment is forgotten', async (t) => {
  const { queue, clock } = measure({ metric: 'latency' })
  queue.record(1_000)
  await clock.advance(100)
  t.is(queue.value, 1_000)
  await clock.advance(100)
  t.is(queue.value, 900)
  await clock.advance(10_000)
  t.true(queue.value < 0.1)
})

test('run waits for its turn behind what has arrived, and gives what the work gives', async (t) => {
  const { queue, clock } = measure()
  const order: string[] = []
  const results = Promise.all(
    ['a', 'b', 'c'].map((name) =>
      queue.run(() => {
        order.push(`${name} after ${queue.value}`)
        clock.block(10)
        return name
      }),
    ),
  )
  t.deepEqual(order, [])
  await clock.advance(0)
  t.deepEqual(await results, ['a', 'b', 'c'])
  t.deepEqual(order, ['a after 0.001', 'b after 10', 'c after 20'])
})

test('run counts from when the request was sent, where that is told', async (t) => {
  const { queue, clock } = measure()
  const done = queue.run(() => queue.value, 35)
  await clock.advance(0)
  t.is(await done, 35)
})

test('run ends its request also where the work fails', async (t) => {
  const { queue, clock } = measure({ metric: 'inFlight' })
  const failing = [
    queue.run(() => Promise.reject(new Error('later'))),
    queue.run(() => {
      throw new Error('at once')
    }),
  ]
  const settled = Promise.allSettled(failing)
  t.is(queue.value, 2)
  await clock.advance(0)
  t.deepEqual(
    (await settled).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  t.is(queue.value, 0)
})

test('run needs no clock of its own', async (t) => {
  using queue = meter()
  t.is(await queue.run(() => 7), 7)
  t.true(queue.value < 5_000)
})

test('a closed meter takes nothing, says so, and grows old', async (t) => {
  const { queue, clock } = measure()
  await clock.advance(100)
  const open = queue.arrive()
  t.true(queue.close())
  t.false(queue.close())
  t.is(clock.pending, 0)
  t.false(queue.record(3))
  open.start()
  queue.arrive().start()
  t.is(
    await Promise.race([queue.run(() => 'done'), clock.advance(0).then(() => new Promise(setImmediate))]),
    'done',
  )
  await clock.advance(700)
  t.is(queue.value, 0)
  t.is(queue.sample().age, 700)
  t.is(queue.counters.refused, 1)
  t.true(queue.closed)
})

test('what is no number is refused with the name of the metric', (t) => {
  const { queue } = measure({ metric: 'askers' })
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, '5', undefined, null]) {
    const error = t.throws(() => queue.record(value as number), { instanceOf: BadReportError })
    t.is(error?.field, 'askers')
  }
  t.throws(() => queue.arrive(Number.NaN), { instanceOf: BadReportError, message: /age/ })
  t.is(queue.value, 5_000)
})

const BAD: [string, unknown][] = [
  ['metric', ''],
  ['metric', 7],
  ['metric', 'cpu'],
  ['metric', 'memory'],
  ['metric', 'qps'],
  ['upper', 0],
  ['upper', -1],
  ['upper', Number.NaN],
  ['upper', Number.POSITIVE_INFINITY],
  ['upper', '5'],
  ['update', 0],
  ['update', Number.NaN],
  ['update', 2 ** 31],
  ['clock', { now: () => 0 }],
  ['publish', 5],
  ['metrics', 'queueDelay'],
]

for (const [option, value] of BAD) {
  test(`${option} ${typeof value} ${String(value)} is refused`, (t) => {
    const error = t.throws(() => meter({ [option]: value }), { instanceOf: OptionError })
    t.is(error?.option, option)
  })
}
