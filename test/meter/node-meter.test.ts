import test, { type ExecutionContext } from 'ava'
import {
  type Algorithm,
  type AttachedBalancer,
  attachBalancer,
  type Balancer,
  ClosedError,
  createBalancer,
  leastCpu,
  type NodeMeterOptions,
  NodeTakenError,
  OptionError,
  random,
  TableError,
  UnknownNodeError,
} from '../../dist/index.js'
import { GENERATION_WORD } from '../../dist/table/layout.js'
import { BusyClock } from './support.js'

const TTL = 1_000

interface Scene {
  readonly clock: BusyClock
  readonly balancer: Balancer<string>
  attach(): AttachedBalancer
  /** What the balancer knows of a node. */
  known(node: string, metric?: 'queueDelay' | 'inFlight'): number | undefined
  publications(): number
}

function scene(t: ExecutionContext, algorithm: Algorithm = leastCpu({ ttl: TTL })): Scene {
  const clock = new BusyClock(1_000)
  const balancer = createBalancer({ nodes: ['a', 'b'], poll: false, clock, algorithm })
  t.teardown(() => balancer.close())
  const handle = balancer.handle()
  return {
    clock,
    balancer,
    attach: () => attachBalancer(balancer.handle(), { clock }),
    known: (node, metric = 'queueDelay') => balancer.snapshot().find(({ id }) => id === node)?.report[metric],
    publications: () => Atomics.load(new Int32Array(handle.table as SharedArrayBuffer), GENERATION_WORD),
  }
}

test('the balancer knows what a meter in another thread says, and first that it is full', async (t) => {
  const { clock, attach, known } = scene(t)
  t.is(known('a'), undefined)
  const queue = attach().meter('a', { publish: 0 })
  t.is(known('a'), 5_000)
  queue.arrive(30).start()
  t.is(known('a'), 30)
  await clock.advance(200)
  t.is(known('a'), 0.001)
  t.is(known('b'), undefined)
})

test('a balancer can measure its own thread', (t) => {
  const { balancer, known } = scene(t)
  const queue = balancer.meter('b', { metric: 'inFlight', publish: 0 })
  queue.arrive()
  queue.arrive()
  t.is(known('b', 'inFlight'), 2)
})

test('however many requests pass, it publishes once in a while, and the last value at the end of it', async (t) => {
  const { clock, attach, known, publications } = scene(t)
  const queue = attach().meter('a', { publish: 10 })
  const before = publications()
  await clock.advance(10)
  t.is(publications(), before)
  queue.record(1)
  t.is(known('a'), 1, 'the first at once')
  for (let i = 2; i < 50; i++) t.true(queue.record(i))
  t.is(known('a'), 1)
  t.is(publications(), before + 1)
  await clock.advance(10)
  t.is(known('a'), 49)
  t.is(publications(), before + 2)
  await clock.advance(50)
  t.is(publications(), before + 2, 'nothing new to say')
  await clock.advance(1_000)
  t.true(publications() >= before + 12, 'the looks of an idle thread')
})

test('registering a node twice is refused, and keeps the first value', (t) => {
  const { attach, known } = scene(t)
  const [one, other] = [attach(), attach()]
  one.meter('a', { publish: 0 }).record(12)
  for (const from of [one, other]) {
    const error = t.throws(() => from.meter('a'), { instanceOf: NodeTakenError })
    t.is(error?.code, 'IDLEST_NODE_TAKEN')
    t.is(error?.value, 'a')
    t.is(error?.lapses, from === other ? TTL : undefined)
  }
  t.is(known('a'), 12)
})

test('a node may have meters of several metrics, of one thread, and is free after the last of them', (t) => {
  const { attach, known } = scene(t)
  const [one, other] = [attach(), attach()]
  const waits = one.meter('a')
  const flights = one.meter('a', { metric: 'inFlight', publish: 0 })
  flights.arrive()
  t.throws(() => other.meter('a', { metric: 'latency' }), { instanceOf: NodeTakenError })
  t.true(waits.close())
  t.is(known('a'), undefined)
  t.is(known('a', 'inFlight'), 1)
  t.throws(() => other.meter('a'), { instanceOf: NodeTakenError })
  t.true(flights.close())
  t.notThrows(() => other.meter('a'))
})

test('what a closed meter said is unknown from then on, and it says that it was closed', (t) => {
  const { attach, known } = scene(t)
  const queue = attach().meter('a')
  t.true(queue.close())
  t.is(known('a'), undefined)
  t.false(queue.close())
  t.false(queue.record(5))
  t.is(known('a'), undefined)
})

test('a meter of a node that left says so, and does not write for the next owner of its slot', async (t) => {
  const { balancer, clock, attach, known } = scene(t)
  const queue = attach().meter('a', { publish: 0 })
  t.true(queue.record(4))
  balancer.remove('a')
  t.false(queue.record(5))
  t.is(queue.counters.refused, 1)
  t.false(queue.close())
  balancer.add('a')
  await clock.advance(500)
  t.is(known('a'), undefined)
  t.true(balancer.meter('a').record(6))
})

test('a thread that hangs past the ttl can be replaced, and is told so when it comes back', async (t) => {
  const { clock, attach, known } = scene(t)
  const [hanging, other] = [attach(), attach()]
  const lost = hanging.meter('a', { publish: 0, update: 500 })
  lost.record(1)
  clock.block(TTL)
  t.throws(() => other.meter('a'), { instanceOf: NodeTakenError }, 'as old as the ttl is not past it')
  clock.block(1)
  const next = other.meter('a', { publish: 0 })
  t.true(next.record(2))
  t.false(lost.record(3))
  t.true(lost.closed)
  t.is(known('a'), 2)
  t.false(lost.close())
  t.is(known('a'), 2)
  t.throws(() => hanging.meter('a'), { instanceOf: NodeTakenError })
  next.close()
  t.true(hanging.meter('a', { publish: 0 }).record(7))
  await clock.advance(0)
  t.is(known('a'), 7)
})

test('a thread that hangs and is not replaced goes on where it was', (t) => {
  const { clock, attach, known } = scene(t)
  const queue = attach().meter('a', { publish: 0 })
  clock.block(60_000)
  t.true(queue.record(8))
  t.is(known('a'), 8)
})

test('an idle thread keeps its node, for ever', async (t) => {
  const { clock, attach } = scene(t)
  attach().meter('a')
  for (let i = 0; i < 20; i++) {
    await clock.advance(TTL / 2 + 37)
    t.throws(() => attach().meter('a'), { instanceOf: NodeTakenError })
  }
})

test('a balancer that is closed takes its meters along', async (t) => {
  const { clock, attach, known } = scene(t)
  const [one, other] = [attach(), attach()]
  const queue = one.meter('a')
  one.close()
  t.true(queue.closed)
  t.false(queue.record(5))
  t.is(known('a'), undefined)
  t.throws(() => one.meter('a'), { instanceOf: ClosedError })
  const pending = clock.pending
  other.meter('a').close()
  t.is(clock.pending, pending)
})

test('named metrics are kept for the picks of all threads, up to four', (t) => {
  const { balancer, attach } = scene(t)
  const attached = attach()
  const names = ['askers', 'answerers', 'third', 'fourth']
  for (const metric of names) t.true(attached.meter('a', { metric }).record(1))
  t.throws(() => attached.meter('a', { metric: 'fifth' }), { instanceOf: TableError })
  t.true(balancer.report('b', { named: { answerers: 3 } }))
})

test('a node that is no member, and options that are wrong, are refused', (t) => {
  const { balancer } = scene(t)
  t.throws(() => balancer.meter('nobody'), { instanceOf: UnknownNodeError })
  const bad: [keyof NodeMeterOptions | 'clock', unknown][] = [
    ['publish', -1],
    ['publish', Number.NaN],
    ['metric', 'cpu'],
    ['upper', 0],
    ['update', 501],
    ['update', 0],
    ['clock', new BusyClock()],
  ]
  for (const [option, value] of bad) {
    const error = t.throws(
      () => balancer.meter('a', { [option]: value }),
      { instanceOf: OptionError },
      option,
    )
    t.is(error?.option, option)
  }
  t.notThrows(() => balancer.meter('a', { update: 500 }), 'nothing of what was refused is registered')
})

test('without a ttl a node is kept for ten seconds, also where readings never expire', (t) => {
  for (const algorithm of [random(), leastCpu({ ttl: Number.POSITIVE_INFINITY })]) {
    const { clock, attach } = scene(t, algorithm)
    attach().meter('a')
    clock.block(10_000)
    t.throws(() => attach().meter('a'), { instanceOf: NodeTakenError })
    clock.block(1)
    t.notThrows(() => attach().meter('a'))
  }
})
