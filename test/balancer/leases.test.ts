import test from 'ava'
import fc from 'fast-check'
import {
  adaptive,
  createBalancer,
  createTable,
  type Lease,
  OptionError,
  type Outcome,
  random,
  UnknownNodeError,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

const quiet = { poll: false, algorithm: random() } as const
const own = () => ({ ...quiet, clock: new VirtualClock(), seed: 1 })

function flights(balancer: { snapshot(): { id: string; inFlight: number }[] }): Record<string, number> {
  return Object.fromEntries(balancer.snapshot().map(({ id, inFlight }) => [id, inFlight]))
}

test('a lease counts as in flight until it is released, once', (t) => {
  const balancer = createBalancer({ nodes: ['a'], ...own() })
  const first = balancer.acquire()
  const second = balancer.acquire()
  t.is(first.node, 'a')
  t.deepEqual(flights(balancer), { a: 2 })
  first.release({ ok: false, latency: 12 })
  first.release()
  t.deepEqual(flights(balancer), { a: 1 })
  second[Symbol.dispose]()
  second[Symbol.dispose]()
  t.deepEqual(flights(balancer), { a: 0 })
  const { acquired, released, failed, releasedTwice } = balancer.stats().leases
  t.deepEqual([acquired, released, failed, releasedTwice], [2, 2, 1, 1])
  t.is(balancer.snapshot()[0]?.latency, 12)
})

test('balancers of one table share the count; those of others do not', (t) => {
  const table = createTable({ clock: new VirtualClock() })
  const one = createBalancer({ nodes: ['a', 'b'], ...quiet, table })
  const two = createBalancer({ nodes: ['a'], ...quiet, table })
  const apart = createBalancer({ nodes: ['a'], ...own() })
  two.acquire()
  t.is(flights(one).a, 1)
  t.is(flights(apart).a, 0)
})

test('a release after the node left, or left and came back, changes no count', (t) => {
  const balancer = createBalancer({ nodes: ['a'], ...own() })
  const early = balancer.acquire()
  balancer.remove('a')
  balancer.add('a')
  const late = balancer.acquire()
  early.release()
  t.deepEqual(flights(balancer), { a: 1 })
  late.release()
  t.deepEqual(flights(balancer), { a: 0 })
  t.is(balancer.stats().leases.releasedLate, 1)
})

test('a node that another balancer still has keeps its reading and its leases', (t) => {
  const table = createTable({ clock: new VirtualClock() })
  const one = createBalancer({ nodes: ['a'], ...quiet, table })
  const two = createBalancer({ nodes: ['a'], ...quiet, table })
  one.report('a', { cpu: 30 })
  const lease = one.acquire()
  one.remove('a')
  t.is(two.snapshot()[0]?.cpu, 30)
  t.is(two.snapshot()[0]?.inFlight, 1)
  lease.release()
  t.is(two.snapshot()[0]?.inFlight, 0)
  two.remove('a')
  two.add('a')
  t.is(two.snapshot()[0]?.cpu, undefined)
})

test('counts in flight are those of the open leases whatever happens, and never below zero', (t) => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('acquire' as const) }),
    fc.record({ kind: fc.constant('release' as const), which: fc.nat() }),
    fc.record({ kind: fc.constant('leave' as const), node: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ kind: fc.constant('join' as const), node: fc.constantFrom('a', 'b', 'c') }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const balancer = createBalancer({ nodes: ['a', 'b', 'c'], ...own() })
      const leases: Lease<string>[] = []
      // Leases of the node's present stay that were not released.
      const open = new Map<string, Set<Lease<string>>>([...'abc'].map((id) => [id, new Set()]))
      for (const step of steps) {
        if (step.kind === 'acquire' && balancer.nodes.length > 0) {
          const lease = balancer.acquire()
          leases.push(lease)
          open.get(lease.node)?.add(lease)
        } else if (step.kind === 'release' && leases.length > 0) {
          const lease = leases[step.which % leases.length] as Lease<string>
          lease.release()
          open.get(lease.node)?.delete(lease)
        } else if (step.kind === 'leave') {
          balancer.remove(step.node)
          open.get(step.node)?.clear()
        } else if (step.kind === 'join') balancer.add(step.node)
        for (const { id, inFlight } of balancer.snapshot()) t.is(inFlight, open.get(id)?.size ?? -1)
      }
    }),
    { numRuns: 300 },
  )
})

test('run releases with what became of the work, and passes it on', async (t) => {
  const clock = new VirtualClock()
  const balancer = createBalancer({ nodes: ['a'], ...quiet, clock })
  t.is(
    await balancer.run(async (node) => {
      clock.jump(25)
      t.deepEqual(flights(balancer), { a: 1 })
      return `${node}!`
    }),
    'a!',
  )
  const failure = new Error('no')
  t.is(await t.throwsAsync(balancer.run(() => Promise.reject(failure))), failure)
  t.is(
    await t.throwsAsync(
      balancer.run(() => {
        throw failure
      }),
    ),
    failure,
  )
  const [node] = balancer.snapshot()
  t.deepEqual([node?.inFlight, node?.released, node?.failed], [0, 3, 2])
  t.is(node?.latency, 25 / 3)
})

test('a latency that is no time is ignored and counted', (t) => {
  const balancer = createBalancer({ nodes: ['a'], ...own() })
  for (const latency of [Number.NaN, -1, Number.POSITIVE_INFINITY, '5' as unknown as number]) {
    balancer.acquire().release({ latency })
  }
  t.is(balancer.snapshot()[0]?.latency, undefined)
  t.is(balancer.stats().leases.badLatency, 4)
})

test('a neutral release takes it out of flight, and says nothing of the node', (t) => {
  const balancer = createBalancer({
    nodes: ['a', 'b'],
    poll: false,
    algorithm: adaptive(),
    clock: new VirtualClock(),
    health: { consecutiveFailures: 2 },
    seed: 1,
  })
  const fail = (outcome: Outcome) => balancer.acquire({ exclude: ['b'] }).release(outcome)
  fail({ ok: false, latency: 10 })
  fail({ neutral: true, ok: false, error: new Error('gave up'), latency: 5_000 })
  const [before] = balancer.snapshot()
  t.deepEqual([before?.inFlight, before?.released, before?.failed, before?.latency], [0, 1, 1, 10])
  t.is(balancer.stats().leases.neutral, 1)
  // Nor is it a success, after which failures would be counted anew.
  t.is(balancer.stats().health.ejections, 0)
  fail({ ok: false, latency: 10 })
  t.is(balancer.stats().health.ejections, 1)
})

test('drain ends when the last lease is released, from whichever balancer', async (t) => {
  const clock = new VirtualClock()
  const table = createTable({ clock })
  const balancer = createBalancer({ nodes: ['a', 'b'], ...quiet, table })
  const other = createBalancer({ nodes: ['a'], ...quiet, table })
  const mine = balancer.acquire({ exclude: ['b'] })
  const theirs = other.acquire()
  let done = false
  const drained = balancer.drain('a').then(() => {
    done = true
  })
  t.is(balancer.snapshot()[0]?.state, 'drain')
  t.is(balancer.select(), 'b')
  mine.release()
  await clock.advance(200)
  t.false(done)
  theirs.release()
  await clock.advance(200)
  await drained
  t.true(done)
  t.is(clock.pending, 0)
})

test('drain ends when the node is taken up again', async (t) => {
  const balancer = createBalancer({ nodes: ['a'], ...own() })
  balancer.acquire()
  const drained = balancer.drain('a')
  t.true(balancer.add('a'))
  await drained
  t.is(balancer.select(), 'a')
})

test('a lease beyond the most that a node counts takes nothing back', (t) => {
  const table = createTable({ clock: new VirtualClock() })
  const balancer = createBalancer({ nodes: ['a'], ...quiet, table })
  const entry = table.find('a')
  const word = (entry?.slot ?? 0) * 32 + 32 + 1
  Atomics.store(table.memory.words, word, 2 ** 20 - 2)
  const counted = balancer.acquire()
  const beyond = balancer.acquire()
  beyond.release()
  t.is(balancer.snapshot()[0]?.inFlight, 2 ** 20 - 1)
  counted.release()
  t.is(balancer.snapshot()[0]?.inFlight, 2 ** 20 - 2)
  t.is(balancer.stats().leases.releasedLate, 1)
})

test('drain ends when the node is removed or the balancer closed; an unknown node is refused', async (t) => {
  const balancer = createBalancer({ nodes: ['a', 'b'], ...own() })
  balancer.acquire({ exclude: ['b'] })
  balancer.acquire({ exclude: ['a'] })
  const removed = balancer.drain('a')
  const closed = balancer.drain('b')
  balancer.remove('a')
  await removed
  await balancer.close()
  await closed
  await t.throwsAsync(createBalancer({ ...own() }).drain('x'), { instanceOf: UnknownNodeError })
})

test('whatever a lease is released with, it counts as in flight no longer', (t) => {
  const balancer = createBalancer({ nodes: ['a'], ...own() })
  for (const outcome of [null, 0, 'failed', true, [], Symbol('x')]) {
    t.notThrows(() => balancer.acquire().release(outcome as never))
  }
  const throwing = {
    get latency(): number {
      throw new Error('mine')
    },
  }
  t.throws(() => balancer.acquire().release(throwing), { message: 'mine' })
  t.deepEqual(flights(balancer), { a: 0 })
})

test('an outcome that names nothing known is no success: it is neutral, counted, and warned of once', async (t) => {
  const balancer = createBalancer({ nodes: ['a'], ...own() })
  const warnings: string[] = []
  const onWarning = ({ message }: Error) => warnings.push(message)
  process.on('warning', onWarning)
  t.teardown(() => process.off('warning', onWarning))
  for (const outcome of ['it went wrong', false, null, 5, { failed: true }, { okay: false }]) {
    balancer.acquire().release(outcome as never)
  }
  for (const outcome of [undefined, {}, { ok: undefined }]) balancer.acquire().release(outcome)
  t.like(balancer.stats().leases, { badOutcome: 6, neutral: 6, failed: 0, released: 9 })
  await new Promise((resolve) => setImmediate(resolve))
  t.is(warnings.filter((text) => text.startsWith('release() was given "it went wrong"')).length, 1)
  for (const outcome of [null, 'x', { failed: true }]) {
    await t.throwsAsync(
      balancer.run((_, { setOutcome }) => setOutcome(outcome as never)),
      { instanceOf: OptionError, message: /expected an outcome/ },
    )
  }
})

test('a latency beyond all measure is counted as a bad one, and leaves the mean alone', (t) => {
  const balancer = createBalancer({ nodes: ['a'], ...own() })
  balancer.acquire().release({ latency: 10 })
  for (let i = 0; i < 2; i++) balancer.acquire().release({ latency: 1e308 })
  t.is(balancer.snapshot()[0]?.latency, 10)
  t.is(balancer.stats().leases.badLatency, 2)
})

test('a lease on a member that was picked before counts as in flight, and as no pick', (t) => {
  const balancer = createBalancer({ nodes: ['a', 'b'], ...own() })
  const lease = balancer.lease('b')
  t.is(lease.node, 'b')
  const inFlight = () => balancer.snapshot().map((node) => node.inFlight)
  t.deepEqual(inFlight(), [0, 1])
  lease.release()
  t.deepEqual(inFlight(), [0, 0])
  t.like(balancer.stats(), { picks: { picks: 0 }, leases: { acquired: 1, released: 1 } })
  t.throws(() => balancer.lease('c'), { code: 'IDLEST_UNKNOWN_NODE' })
  balancer.close()
  t.throws(() => balancer.lease('a'), { code: 'IDLEST_CLOSED' })
})
