import test from 'ava'
import fc from 'fast-check'
import {
  attachBalancer,
  type Balancer,
  createBalancer,
  createTable,
  hashRing,
  leastConnections,
  OptionError,
  roundRobin,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { eventsOf } from '../support/events.js'
import { areUniform, countPicks } from '../support/shares.js'
import { ejected, leaseOn, setUp } from './ejecting.js'

for (const engine of engines) {
  test(`${engine}: a node is not picked after five failures in a row, for 30 s`, async (t) => {
    const { balancer, clock, end, fail } = setUp({ engine })
    fail('b', 4)
    end('b', true)
    fail('b', 4)
    t.is(ejected(balancer), '')
    t.is(clock.pending, 0)
    fail('b')
    t.like(balancer.snapshot()[1], {
      state: 'up',
      inBand: false,
      ejected: { reason: 'consecutiveFailures', times: 1, remaining: 30_000 },
    })
    t.deepEqual([...countPicks(90, () => balancer.select()).keys()].sort(), ['a', 'c', 'd'])
    t.is(balancer.select(['b', 'c']), 'c')
    await clock.advance(29_999)
    t.is(ejected(balancer), 'b')
    await clock.advance(1)
    t.is(ejected(balancer), '')
    t.true(areUniform([...countPicks(4_000, () => balancer.select()).values()]))
    t.is(clock.pending, 0)
    t.like(balancer.stats().health, { ejected: 0, ejections: 1, returned: 1, spared: 0, timesOpen: 0 })
  })

  test(`${engine}: where all are ejected or down all are used`, (t) => {
    const { balancer, fail } = setUp({ engine, nodes: ['a', 'b', 'c'], health: { maxEjected: 1 } })
    for (const node of ['a', 'b']) fail(node, 5)
    balancer.report('c', { state: 'down' })
    t.is(ejected(balancer), 'ab')
    t.like(balancer.stats().health, { ejected: 2, isOpen: true, timesOpen: 1 })
    t.true(areUniform([...countPicks(3_000, () => balancer.select()).values()]))
  })
}

test('where most of the others failed last too, nobody is ejected: it is not that node', (t) => {
  const { balancer, end, fail } = setUp({ nodes: ['a', 'b', 'c', 'd', 'e'] })
  for (const node of ['b', 'c', 'd']) fail(node)
  fail('a', 5)
  t.is(ejected(balancer), '')
  t.like(balancer.stats().health, { ejections: 0, spared: 1 })
  end('b', true)
  fail('a', 4)
  t.is(ejected(balancer), '')
  fail('a')
  t.is(ejected(balancer), 'a')
})

test('where most of those that are left fail, all come back at once, and nobody is ejected for 30 s', async (t) => {
  const { balancer, clock, end, fail } = setUp({ nodes: ['a', 'b', 'c', 'd'], name: 'recalls' })
  const returned = eventsOf(t, 'recalls', ['idlest:member:returned'])
  fail('a', 5)
  fail('b', 3)
  t.is(ejected(balancer), 'a')
  fail('c', 3)
  t.is(ejected(balancer), '')
  t.like(balancer.stats().health, { returned: 1, recalled: 1 })
  t.is(returned.length, 1)
  t.is(clock.pending, 0)
  await clock.advance(29_999)
  for (const node of ['b', 'c', 'd']) end(node, true)
  fail('a', 10)
  t.is(ejected(balancer), '')
  await clock.advance(1)
  fail('a', 5)
  t.like(balancer.snapshot()[0]?.ejected, { times: 1 })
})

test('each time it is out for longer, at most 300 s, and is forgiven one for each interval that it was well', async (t) => {
  const { balancer, clock, fail } = setUp()
  const outFor = () => {
    fail('a', 5)
    return balancer.snapshot()[0]?.ejected?.remaining
  }
  const times: (number | undefined)[] = []
  for (let i = 0; i < 12; i++) {
    times.push(outFor())
    await clock.advance(times.at(-1) ?? 0)
  }
  const seconds = (all: readonly number[]) => all.map((time) => time * 1_000)
  t.deepEqual(times, seconds([30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 300, 300]))
  await clock.advance(9_999)
  t.is(outFor(), 300_000)
  await clock.advance(300_000)
  await clock.advance(40_000)
  t.is(outFor(), 210_000)
  await clock.advance(210_000)
  await clock.advance(1_000_000)
  t.is(outFor(), 30_000)
})

test('never are more than half out, but of two one may be; the others are spared and counted', (t) => {
  for (const [count, most, maxEjected] of [
    [1, 0, undefined],
    [2, 1, undefined],
    [3, 1, undefined],
    [4, 2, undefined],
    [7, 3, undefined],
    [7, 1, 0.1],
    [7, 0, 0],
    [10, 2, 0.25],
  ] as const) {
    const nodes = Array.from({ length: count }, (_, i) => `n${i}`)
    const { balancer, end, fail } = setUp({ nodes, health: maxEjected === undefined ? {} : { maxEjected } })
    let out = 0
    for (const node of nodes) {
      fail(node, 5)
      out = Math.max(out, balancer.stats().health.ejected)
      // So that the next one's failures are its own.
      end(node, true)
    }
    t.is(out, most, `${count}, ${maxEjected}`)
    t.true(balancer.stats().health.spared + most + (count === 2 ? 1 : 0) >= count)
  }
})

test('where members leave or are told to be down, so that too many are out, the first to return does so', async (t) => {
  const { balancer, clock, fail } = setUp({ name: 'trimmed', nodes: ['a', 'b', 'c', 'd', 'e', 'f'] })
  const returned = eventsOf(t, 'trimmed', ['idlest:member:returned'])
  fail('b', 5)
  await clock.advance(1_000)
  fail('a', 5)
  await clock.advance(1_000)
  fail('c', 5)
  t.is(ejected(balancer), 'abc')
  balancer.remove('f')
  t.is(ejected(balancer), 'ac')
  balancer.report('e', { state: 'down' })
  t.is(ejected(balancer), 'ac')
  void balancer.drain('d')
  t.is(ejected(balancer), 'c')
  t.deepEqual(
    returned.map(([, event]) => (event as { node: string }).node),
    ['b', 'a'],
  )
  t.is(clock.pending, 1)
  balancer.remove('c')
  t.is(clock.pending, 0)
})

test('an ejected node that leaves and comes back is a new one', (t) => {
  const { balancer, clock, fail } = setUp()
  const lease = leaseOn(balancer, 'a')
  fail('a', 5)
  balancer.remove('a')
  t.is(clock.pending, 0)
  balancer.add('a')
  lease.release({ ok: false })
  fail('a', 4)
  t.is(ejected(balancer), '')
  fail('a')
  t.like(balancer.snapshot().find(({ id }) => id === 'a')?.ejected, { times: 1 })
})

test('failures of requests that were under way when a node was ejected do not count after it returned', async (t) => {
  const { balancer, clock, fail } = setUp()
  const leases = Array.from({ length: 9 }, () => leaseOn(balancer, 'a'))
  fail('a', 5)
  for (const lease of leases.slice(0, 4)) lease.release({ ok: false })
  await clock.advance(30_000)
  for (const lease of leases.slice(4)) lease.release({ ok: false })
  t.is(ejected(balancer), '')
  t.is(balancer.stats().health.ejections, 1)
})

test('a node that drains or is down is not ejected for what it still answers', async (t) => {
  const { balancer, fail } = setUp({ nodes: ['a', 'b', 'c'] })
  const leases = [1, 2, 3, 4, 5, 6].map(() => leaseOn(balancer, 'a'))
  const drained = balancer.drain('a')
  for (const lease of leases) lease.release({ ok: false })
  await drained
  balancer.report('b', { state: 'down' })
  balancer.report('c', { state: 'down' })
  fail('b', 6)
  t.is(ejected(balancer), '')
  t.deepEqual(balancer.select(), 'b')
})

test('ejections and returns are told', async (t) => {
  const events = eventsOf(t, 'told', ['idlest:member:ejected', 'idlest:member:returned'])
  const clock = new VirtualClock()
  const balancer = createBalancer({ name: 'told', nodes: ['a', 'b'], poll: false, clock })
  for (let i = 0; i < 5; i++)
    await t.throwsAsync(balancer.run(() => Promise.reject(new Error('no')), { exclude: ['b'] }))
  await clock.advance(30_000)
  t.deepEqual(events, [
    [
      'idlest:member:ejected',
      { balancer: 'told', node: 'a', reason: 'consecutiveFailures', times: 1, duration: 30_000 },
    ],
    ['idlest:member:returned', { balancer: 'told', node: 'a' }],
  ])
})

test('whatever happens, no more than half are out, and there is someone to pick', async (t) => {
  const ids = ['a', 'b', 'c', 'd', 'e']
  const id = fc.constantFrom(...ids)
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('fail' as const), id }) },
    fc.record({
      kind: fc.constantFrom('succeed' as const, 'add' as const, 'remove' as const, 'drain' as const),
      id,
    }),
    fc.record({
      kind: fc.constant('tell' as const),
      id,
      state: fc.constantFrom('up' as const, 'down' as const),
    }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 50_000 }) }),
  )
  const health = { consecutiveFailures: 2, failureRate: { minimum: 2, members: 2, threshold: 0.5 } }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { balancer, clock } = setUp({ nodes: ids, health })
      const drained = new Set<string>()
      for (const step of steps) {
        if (step.kind === 'wait') await clock.advance(step.ms)
        else if (step.kind === 'add') {
          balancer.add(step.id)
          drained.delete(step.id)
        } else if (step.kind === 'remove') {
          balancer.remove(step.id)
          drained.delete(step.id)
        } else if (step.kind === 'drain') {
          balancer.drain(step.id).catch(() => {})
          drained.add(step.id)
        } else if (step.kind === 'tell') balancer.report(step.id, { state: step.state })
        else if (balancer.nodes.includes(step.id) && !drained.has(step.id)) {
          const lease = leaseOn(balancer, step.id)
          t.is(lease.node, step.id)
          lease.release({ ok: step.kind === 'succeed' })
        }
        const willing = balancer.snapshot().filter(({ state }) => state === 'up')
        const out = willing.filter(({ ejected }) => ejected !== undefined).length
        t.true(out <= Math.max(Math.floor(willing.length / 2), willing.length < 2 ? 0 : 1))
        t.is(
          balancer.trySelect() === undefined,
          balancer.nodes.every((node) => drained.has(node)),
        )
      }
      await balancer.close()
      t.is(clock.pending, 0)
    }),
    { numRuns: 200 },
  )
})

test('keys leave a node while it is ejected', async (t) => {
  const clock = new VirtualClock()
  const nodes = ['a', 'b', 'c']
  const balancer = createBalancer({ nodes, poll: false, clock, algorithm: hashRing() })
  const keys = Array.from({ length: 50 }, (_, i) => `key-${i}`)
  const owners = () => keys.map((key) => balancer.select({ key }))
  const before = owners()
  for (let i = 0; i < 5; i++) leaseOn(balancer, 'b').release({ ok: false })
  t.false(owners().includes('b'))
  await clock.advance(30_000)
  t.deepEqual(owners(), before)
})

test('an attached balancer ejects by its own leases, and heeds what the balancer ejected', async (t) => {
  const clock = new VirtualClock()
  const table = createTable({ clock })
  const health = { consecutiveFailures: 2 }
  const balancer = createBalancer({
    nodes: ['a', 'b', 'c', 'd'],
    poll: false,
    table,
    algorithm: roundRobin(),
    health,
  })
  const fail = (who: Pick<Balancer<string>, 'acquire'>, exclude: string[]) => {
    for (let i = 0; i < 2; i++) who.acquire({ exclude }).release({ ok: false })
  }
  fail(balancer, ['b', 'c', 'd'])
  const attached = attachBalancer(balancer.handle(), { clock, seed: 1 })
  fail(attached, ['a', 'c', 'd'])
  t.deepEqual(
    attached.snapshot().map(({ ejected }) => ejected?.reason),
    ['elsewhere', 'consecutiveFailures', undefined, undefined],
  )
  t.is(ejected(balancer), 'a')
  t.deepEqual([...countPicks(40, () => attached.select()).keys()].sort(), ['c', 'd'])
  // Half are out there already.
  fail(attached, ['a', 'b', 'd'])
  t.is(attached.snapshot()[2]?.ejected, undefined)
  await clock.advance(30_000)
  t.is(ejected(balancer), '')
  for (let i = 0; i < 100 && attached.snapshot()[0]?.ejected !== undefined; i++) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  t.true(attached.snapshot().every(({ ejected }) => ejected === undefined))
  attached.close()
  await balancer.close()
  t.is(clock.pending, 0)
})

test('with health false nothing is ejected, and failures are counted as ever', (t) => {
  const { balancer, fail } = setUp({ health: false })
  fail('a', 100)
  t.is(ejected(balancer), '')
  t.is(balancer.stats().leases.failed, 100)
})

test('bad options of health are refused with their path', (t) => {
  const wrong: [unknown, RegExp][] = [
    [true, /health is true: expected an object of options, or false/],
    [{ consecutiveFailures: -1 }, /health\.consecutiveFailures/],
    [{ consecutiveFailures: 1.5 }, /health\.consecutiveFailures/],
    [{ failureRate: 0.5 }, /health\.failureRate/],
    [{ failureRate: { threshold: 0 } }, /health\.failureRate\.threshold/],
    [{ failureRate: { minimum: 0 } }, /health\.failureRate\.minimum/],
    [{ interval: 0 }, /health\.interval/],
    [{ ejection: -1 }, /health\.ejection/],
    [{ maxEjected: 50 }, /health\.maxEjected/],
    [{ maxEject: 0.5 }, /health\.maxEject .*"maxEjected"/],
  ]
  for (const [health, message] of wrong) {
    t.throws(() => createBalancer({ poll: false, health: health as never, algorithm: leastConnections() }), {
      instanceOf: OptionError,
      message,
    })
  }
})
