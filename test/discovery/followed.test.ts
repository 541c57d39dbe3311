import test from 'ava'
import { reasonsOf, rulesOf } from '../../dist/balancer/reasons.js'
import { trustOptions } from '../../dist/balancer/trust-options.js'
import {
  attachBalancer,
  type BalancerOptions,
  createBalancer,
  hashRing,
  leastConnections,
  OptionError,
  random,
  roundRobin,
  weightedRoundRobin,
} from '../../dist/index.js'
import { checkOptions } from '../../dist/options.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { areUniform, countPicks, follow } from '../support/shares.js'
import { found, HandSource } from './support.js'

function setUp(given: BalancerOptions<string> = {}) {
  const clock = new VirtualClock()
  const source = new HandSource()
  const balancer = createBalancer<string>({
    algorithm: random(),
    poll: false,
    coalesce: 0,
    seed: 1,
    ...given,
    nodes: source,
    clock,
  })
  const picked = () => [...countPicks(200, () => balancer.select()).keys()].sort().join('')
  return { clock, source, balancer, picked }
}

for (const engine of engines) {
  test(`${engine}: who stays keeps its readings, its requests in flight and its counts`, (t) => {
    const { source, balancer } = setUp({ engine, algorithm: leastConnections() })
    source.find('a', 'b', 'c')
    balancer.report('b', { cpu: 40 })
    const lease = balancer.acquire({ exclude: ['a', 'c'] })
    const before = balancer.snapshot()[1]
    source.find('c', 'd', 'b')
    const after = balancer.snapshot().find(({ id }) => id === 'b')
    t.deepEqual(after, before)
    t.is(after?.inFlight, 1)
    lease.release({ ok: true })
    t.like(
      balancer.snapshot().find(({ id }) => id === 'b'),
      { inFlight: 0, released: 1, cpu: 40 },
    )
    // Who left and came back is another.
    source.find('c', 'd')
    source.find('b', 'c', 'd')
    t.like(
      balancer.snapshot().find(({ id }) => id === 'b'),
      { released: 0, cpu: undefined },
    )
  })

  test(`${engine}: turns go on where they were, whatever order an answer has and whoever is replaced`, (t) => {
    const { source, balancer } = setUp({ engine, algorithm: roundRobin() })
    source.find('a', 'b', 'c', 'd')
    while (balancer.select() !== 'a');
    source.find('d', 'c', 'b', 'a')
    t.is(balancer.select(), 'b')
    source.find('x', 'd', 'b', 'c')
    t.deepEqual(
      Array.from({ length: 4 }, () => balancer.select()),
      ['c', 'd', 'x', 'b'],
    )
  })

  test(`${engine}: a node in a weighted turn keeps its place in the stride while another is replaced`, (t) => {
    const weights = { a: 1, b: 5, c: 3, d: 2, x: 2 }
    const given = { engine, algorithm: weightedRoundRobin({ weights }) }
    const [changed, left] = [setUp(given), setUp(given)]
    for (const { source } of [changed, left]) source.find('a', 'b', 'c', 'd')
    const take = (from: typeof left) => Array.from({ length: 500 }, () => from.balancer.select())
    t.deepEqual(take(changed), take(left))
    changed.source.find('x', 'c', 'a', 'b')
    // `x` weighs as much as `d`, so that it is picked where that would have been.
    t.deepEqual(
      take(changed).map((node) => (node === 'x' ? 'd' : node)),
      take(left),
    )
  })

  test(`${engine}: keys stay with their nodes on a ring, but for those of who left`, async (t) => {
    const { source, balancer } = setUp({ engine, algorithm: hashRing() })
    source.find('a', 'b', 'c', 'd')
    const keys = Array.from({ length: 1_000 }, (_, i) => `key ${i}`)
    const before = keys.map((key) => balancer.select({ key }))
    source.find('d', 'b', 'a')
    await balancer.settled()
    const after = keys.map((key) => balancer.select({ key }))
    t.true(before.every((node, i) => node === 'c' || node === after[i]))
    source.find('a', 'b', 'c', 'd')
    await balancer.settled()
    t.deepEqual(
      keys.map((key) => balancer.select({ key })),
      before,
    )
  })

  test(`${engine}: weights are obeyed whatever the algorithm, and 0 gets nothing`, (t) => {
    const { source, balancer } = setUp({ engine })
    source.find(found('a', 0, 1), found('b', 0, 0.5), found('c', 0, 0.25), found('d', 0, 0))
    const counts = countPicks(7_000, () => balancer.select())
    t.true(
      follow(
        ['a', 'b', 'c', 'd'].map((id) => counts.get(id) ?? 0),
        [4 / 7, 2 / 7, 1 / 7, 0],
      ),
    )
    source.find('a', 'b', 'c', 'd')
    t.true(areUniform([...countPicks(4_000, () => balancer.select()).values()]))
  })

  test(`${engine}: those in reserve are picked when none before them is up, and no longer when one is again`, async (t) => {
    const { source, balancer, picked, clock } = setUp({ engine })
    source.find('a', 'b', found('c', 1), found('d', 2))
    t.is(picked(), 'ab')
    balancer.report('a', { state: 'down' })
    t.is(picked(), 'b')
    t.deepEqual(
      balancer.snapshot().map(({ isReserve }) => isReserve),
      [false, false, true, true],
    )
    await balancer.drain('b')
    t.is(picked(), 'c')
    balancer.report('c', { state: 'maint' })
    t.is(picked(), 'd')
    balancer.add('b')
    t.is(picked(), 'b')
    // With nobody well, those that were not ordered out, of the first that has any.
    balancer.report('b', { state: 'maint' })
    balancer.report('d', { state: 'down' })
    t.is(picked(), 'a')
    t.true(balancer.stats().health.isOpen)
    await clock.advance(0)
  })
}

test('all that come first may be ejected where others are in reserve, and are used again when they return', async (t) => {
  const { source, balancer, picked, clock } = setUp()
  source.find('a', 'b', 'c', found('d', 1))
  const fail = (node: string) => {
    const lease = balancer.acquire({ exclude: ['a', 'b', 'c', 'd'].filter((other) => other !== node) })
    t.is(lease.node, node)
    lease.release({ ok: false })
  }
  for (let i = 0; i < 5; i++) for (const node of ['a', 'b', 'c']) fail(node)
  t.is(picked(), 'd')
  await clock.advance(30_000)
  t.is(picked(), 'abc')
  // Without a reserve no more than half of them may be out.
  for (let i = 0; i < 5; i++) for (const node of ['a', 'b', 'c']) fail(node)
  t.is(picked(), 'd')
  source.find('a', 'b', 'c')
  t.is(balancer.stats().health.ejected, 1)
})

test('where the reserve fails as well, all come back', (t) => {
  const { source, balancer, picked } = setUp()
  source.find('a', found('b', 1))
  for (let i = 0; i < 5; i++) balancer.acquire().release({ ok: false })
  t.is(picked(), 'b')
  for (let i = 0; i < 5; i++) balancer.acquire().release({ ok: false })
  t.is(picked(), 'a')
})

test('where all that come first are excluded, one in reserve is picked', (t) => {
  const { source, balancer } = setUp()
  source.find('a', found('b', 1), found('c', 2))
  t.is(balancer.select({ exclude: ['a'] }), 'b')
  t.is(balancer.select({ exclude: ['a', 'b'] }), 'c')
  t.is(balancer.trySelect({ exclude: ['a', 'b', 'c'] }), undefined)
})

test('members of the program stay whatever is found, and one that it removed comes back when it is found anew', (t) => {
  const { source, balancer } = setUp()
  source.find('a', 'b')
  balancer.add('own')
  balancer.remove('a')
  source.find('a', 'c')
  t.deepEqual([...balancer.nodes].sort(), ['c', 'own'])
  source.find('c')
  source.find('a', 'c')
  t.deepEqual([...balancer.nodes].sort(), ['a', 'c', 'own'])
})

test('changes that come fast are taken in together, the first at once', async (t) => {
  const { source, balancer, clock } = setUp({ coalesce: 50 })
  source.find('a')
  t.deepEqual(balancer.nodes, ['a'])
  const { nodes } = balancer
  for (let i = 0; i < 100; i++) source.find('a', `b${i}`)
  t.is(balancer.nodes, nodes)
  await clock.advance(50)
  t.deepEqual(balancer.nodes, ['a', 'b99'])
})

test('a source that finds the same again changes nothing', (t) => {
  const { source, balancer } = setUp()
  source.find('a', 'b')
  const { nodes } = balancer
  source.find('b', 'a')
  t.is(balancer.nodes, nodes)
})

test('a balancer is ready when the first nodes are there and were polled, and follows no more once it is closed', async (t) => {
  const clock = new VirtualClock()
  const source = new HandSource()
  const poll = { startupJitter: 0, transport: { poll: async () => ({ cpu: 10 }) } }
  const balancer = createBalancer<string>({ nodes: source, clock, poll })
  let isReady = false
  const ready = balancer.ready().then(() => {
    isReady = true
  })
  await clock.advance(10_000)
  t.false(isReady)
  source.find('a')
  await clock.advance(0)
  await ready
  t.is(balancer.snapshot()[0]?.cpu, 10)
  t.is(source.followers.size, 1)
  await balancer.close()
  t.is(source.followers.size, 0)
  const never = createBalancer<string>({ nodes: source, clock, poll: false })
  const wait = never.ready()
  await never.close()
  await t.throwsAsync(wait, { code: 'IDLEST_CLOSED' })
})

test('the source is told of a node that is ejected, and of polls that begin to fail, once', async (t) => {
  const { source, balancer } = setUp()
  source.find('a', 'b')
  for (let i = 0; i < 5; i++) balancer.acquire({ exclude: ['a'] }).release({ ok: false })
  t.is(source.failures, 1)
  const clock = new VirtualClock()
  const polled = new HandSource()
  const transport = {
    poll: (node: string) => (node === 'b' ? Promise.reject(new Error('gone')) : Promise.resolve({ cpu: 1 })),
  }
  const other = createBalancer<string>({
    nodes: polled,
    clock,
    poll: { startupJitter: 0, interval: 1_000, transport },
  })
  polled.find('a', 'b')
  await clock.advance(5_000)
  t.is(polled.failures, 1)
  await other.close()
})

test('what is neither an array of nodes nor finds them is refused', (t) => {
  const error = t.throws(() => createBalancer({ nodes: 'a' as never }), { instanceOf: OptionError })
  t.regex(error?.message ?? '', /an array of nodes, or what finds them/)
})

test('why a node is not picked is told: it is in reserve, or of weight 0', (t) => {
  const { source, balancer } = setUp()
  source.find('a', found('b', 1), found('c', 0, 0), found('d', 1))
  balancer.report('d', { state: 'down' })
  const rules = rulesOf(random(), checkOptions('', {}, trustOptions), false)
  const words = reasonsOf(balancer.snapshot(), rules).map((out) => out?.words)
  t.deepEqual(words, [
    undefined,
    'in reserve: others come first, and one of them is used',
    'weight 0: by the discovery',
    'down: told by the node',
  ])
})

test('an attached balancer heeds what is in reserve, and weights', async (t) => {
  const { source, balancer, clock } = setUp()
  source.find(found('a', 0, 1), found('b', 0, 0.5), found('c', 1))
  const attached = attachBalancer(balancer.handle(), { clock, seed: 1 })
  t.teardown(() => attached.close())
  const counts = countPicks(3_000, () => attached.select())
  t.true(
    follow(
      ['a', 'b', 'c'].map((id) => counts.get(id) ?? 0),
      [2 / 3, 1 / 3, 0],
    ),
  )
  source.find(found('a', 2), 'b', found('c', 1))
  while (attached.select() !== 'b') await new Promise(setImmediate)
  while (attached.snapshot()[0]?.isReserve !== true) await new Promise(setImmediate)
  t.deepEqual([...countPicks(100, () => attached.select()).keys()], ['b'])
})
