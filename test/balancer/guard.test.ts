import test from 'ava'
import type { Algorithm } from '../../dist/algorithms/registry.js'
import {
  adaptive,
  attachBalancer,
  type Balancer,
  createBalancer,
  hashRing,
  leastConnections,
  leastCpu,
  local,
  NoNodesError,
  OptionError,
  peakEwma,
  powerOfTwo,
  prequal,
  random,
  roundRobin,
  spareCapacity,
  weightedRoundRobin,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { areUniform, countPicks, follow } from '../support/shares.js'

const NODES = ['a', 'b', 'c', 'd']

interface Setting {
  readonly algorithm?: Algorithm
  readonly engine?: 'native' | 'portable'
  readonly maxShare?: number
  readonly nodes?: readonly string[]
  readonly seed?: number
}

function setUp({
  algorithm = random(),
  engine = 'portable',
  maxShare = 1,
  nodes = NODES,
  seed = 1,
}: Setting = {}) {
  const clock = new VirtualClock()
  return createBalancer({ nodes, algorithm, engine, maxShare, poll: false, clock, seed })
}

/** How often each node is picked, in the order of `nodes`. */
function counts(balancer: Balancer<string>, times: number, pick: () => string | undefined): number[] {
  const all = countPicks(times, pick)
  return balancer.nodes.map((node) => all.get(node) ?? 0)
}

function lease(balancer: Balancer<string>): string {
  const lease = balancer.acquire()
  lease.release()
  return lease.node
}

/** Weights as parts of their sum. */
function proportions(weights: readonly number[]): number[] {
  const sum = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => weight / sum)
}

/** So many requests at a time; each node works on one after the other, 10 ms each. The second has half the weight. */
function playBusy(algorithm: Algorithm, engine: 'native' | 'portable', open: number) {
  const clock = new VirtualClock()
  const balancer = createBalancer({ nodes: NODES, algorithm, engine, poll: false, clock, seed: 1 })
  balancer.report('b', { weight: 50 })
  const freeAt = new Map(NODES.map((node) => [node, 0]))
  const inFlight = new Map<string, number>()
  const begin = () => {
    const lease = balancer.acquire()
    const end = Math.max(freeAt.get(lease.node) ?? 0, clock.now()) + 10
    freeAt.set(lease.node, end)
    return { lease, end, began: clock.now() }
  }
  const under = Array.from({ length: open }, begin)
  const picked = countPicks(12_000, () => {
    under.sort((one, other) => one.end - other.end)
    const first = under.shift()
    if (first === undefined) throw new Error('none is under way')
    clock.jump(Math.max(0, first.end - clock.now()))
    first.lease.release({ latency: clock.now() - first.began })
    under.push(begin())
    for (const { lease } of under) inFlight.set(lease.node, (inFlight.get(lease.node) ?? 0) + 1)
    return first.lease.node
  })
  return { picked, inFlight }
}

/** Nodes that report nothing but weights get picks in proportion to these. */
const proportional: readonly Algorithm[] = [
  random(),
  roundRobin(),
  weightedRoundRobin(),
  spareCapacity(),
  leastConnections(),
  leastConnections({ exact: true }),
  leastCpu(),
  powerOfTwo({ metric: 'cpu' }),
  powerOfTwo({ metric: 'inFlight' }),
  prequal(),
  peakEwma(),
  hashRing(),
]

for (const engine of engines) {
  for (const algorithm of proportional) {
    const name = `${engine}, ${algorithm.kind}${JSON.stringify(algorithm)}`
    test(`${name}: of two nodes one of half the weight gets a third, of three a fifth`, (t) => {
      for (const nodes of [
        ['a', 'b'],
        ['a', 'b', 'c'],
      ]) {
        const balancer = setUp({ algorithm, engine, nodes })
        balancer.report('b', { weight: 50 })
        const found = counts(balancer, 6_000, () => balancer.select())
        t.true(follow(found, proportions(nodes.map((node) => (node === 'b' ? 1 : 2)))), `${found}`)
      }
    })

    test(`${name}: the share of a node at its limit goes to the others by their weights`, (t) => {
      const balancer = setUp({ algorithm, engine })
      balancer.report('b', { maxInFlight: 1 })
      balancer.lease('b')
      balancer.report('d', { weight: 50 })
      const found = counts(balancer, 6_000, () => balancer.select())
      t.true(follow(found, proportions([2, 0, 2, 1])), `${found}`)
    })
  }

  for (const algorithm of [random(), leastConnections(), leastConnections({ exact: true }), leastCpu()]) {
    const name = `${engine}, ${algorithm.kind}${'exact' in algorithm && algorithm.exact ? ', exact' : ''}`
    test(`${name}: a node of less weight gets so much of its share, however it is picked`, (t) => {
      for (const weights of [
        [100, 50, 100, 100],
        [100, 25, 60, 100],
        [40, 20, 40, 10],
      ]) {
        const balancer = setUp({ algorithm, engine })
        for (const [i, weight] of weights.entries()) balancer.report(NODES[i] as string, { weight })
        const right = proportions(weights)
        const into = new Uint32Array(4_000)
        const ways: (() => number[])[] = [
          () => counts(balancer, 4_000, () => balancer.select()),
          () => counts(balancer, 4_000, () => lease(balancer)),
          () => counts(balancer, 4_000, () => balancer.nodes[balancer.selectIndex()]),
          () => {
            t.is(balancer.fill(into), 4_000)
            return NODES.map((_, index) => into.filter((picked) => picked === index).length)
          },
        ]
        for (const way of ways) t.true(follow(way(), right), `${weights}`)
        t.true(balancer.stats().guard.thinned > 1_000)
      }
    })
  }

  test(`${engine}, roundRobin: a node of half the weight is passed over in half of its turns`, (t) => {
    const balancer = setUp({ algorithm: roundRobin(), engine })
    balancer.report('b', { weight: 50 })
    const [a = 0, b = 0, c = 0, d = 0] = counts(balancer, 7_000, () => balancer.select())
    t.true(Math.abs(a - c) <= 1 && Math.abs(a - d) <= 1)
    t.true(follow([b, a - b], [0.5, 0.5]))
  })

  test(`${engine}, adaptive: a node of half the weight is passed over in half of its turns, without leases too`, (t) => {
    const balancer = setUp({ algorithm: adaptive(), engine })
    balancer.report('b', { weight: 50 })
    const [a = 0, b = 0, c = 0, d = 0] = counts(balancer, 14_000, () => balancer.select())
    // Turns are exact within the 5 % in which adaptive picks by chance.
    for (const other of [c, d]) t.true(Math.abs(a - other) < 0.05 * a, `${[a, b, c, d]}`)
    t.true(Math.abs(b - a / 2) < 0.05 * a, `${[a, b, c, d]}`)
  })

  test(`${engine}, adaptive: a node of half the weight gets half as many leases, idle and busy`, (t) => {
    for (const open of [1, 16]) {
      const { picked } = playBusy(adaptive(), engine, open)
      const [a = 0, b = 0, c = 0, d = 0] = NODES.map((node) => picked.get(node))
      t.true(b > 0.4 * ((a + c + d) / 3) && b < 0.6 * ((a + c + d) / 3), `${open}: ${[a, b, c, d]}`)
    }
  })

  for (const algorithm of [leastConnections({ exact: true }), powerOfTwo({ metric: 'inFlight' })]) {
    test(`${engine}, ${algorithm.kind}: a node of half the weight has half as much in flight at most`, (t) => {
      const { inFlight } = playBusy(algorithm, engine, 24)
      const [a = 0, b = 0, c = 0, d = 0] = NODES.map((node) => inFlight.get(node))
      t.true(b > 0.25 * ((a + c + d) / 3) && b < 0.6 * ((a + c + d) / 3), `${[a, b, c, d]}`)
    })
  }

  for (const algorithm of [leastCpu(), powerOfTwo({ metric: 'cpu', choices: 4 })]) {
    test(`${engine}, ${algorithm.kind}: an idle node of less weight that takes all gets so much of all`, (t) => {
      const balancer = setUp({ algorithm, engine })
      for (const node of NODES) balancer.report(node, node === 'b' ? { cpu: 0, weight: 30 } : { cpu: 50 })
      t.true(
        follow(
          counts(balancer, 6_000, () => balancer.select()),
          [0.7 / 3, 0.3, 0.7 / 3, 0.7 / 3],
        ),
      )
    })

    test(`${engine}, ${algorithm.kind}: an idle node that takes all gets maxShare of any 128 picks`, (t) => {
      const balancer = setUp({ algorithm, engine, maxShare: 0.4 })
      for (const node of NODES) balancer.report(node, { cpu: node === 'b' ? 0 : 50 })
      const picks = Array.from({ length: 5_120 }, () => balancer.select())
      const idle = (some: readonly string[]) => some.filter((node) => node === 'b').length
      for (let i = 0; i + 128 <= picks.length; i++) t.is(idle(picks.slice(i, i + 128)), 52)
      const rest = ['a', 'c', 'd'].map((node) => picks.filter((picked) => picked === node).length)
      t.true(areUniform(rest))
      t.is(balancer.stats().guard.capped, 5_120 - idle(picks))
      t.is(balancer.stats().guard.failedOpen, 0)
    })
  }

  for (const algorithm of [
    random(),
    roundRobin(),
    leastConnections(),
    leastCpu(),
    spareCapacity(),
    weightedRoundRobin(),
    adaptive(),
  ]) {
    test(`${engine}, ${algorithm.kind}: nodes of one weight are even, and none is passed over`, (t) => {
      const balancer = setUp({ algorithm, engine })
      for (const node of NODES) balancer.report(node, { cpu: 20, weight: 30 })
      t.true(areUniform(counts(balancer, 4_000, () => balancer.select())))
      t.is(balancer.stats().guard.thinned, 0)
    })

    test(`${engine}, ${algorithm.kind}: no node gets more leases at once than it told that it takes`, (t) => {
      const balancer = setUp({ algorithm, engine })
      balancer.report('a', { maxInFlight: 3 })
      balancer.report('b', { maxInFlight: 1 })
      balancer.report('c', { maxInFlight: 0 })
      const leases = Array.from({ length: 40 }, () => balancer.acquire())
      const open = (node: string) => leases.filter((lease) => lease.node === node).length
      t.deepEqual([open('a'), open('b')], [3, 1])
      t.is(balancer.stats().guard.failedOpen, 0)
      for (const lease of leases.splice(0)) if (lease.node === 'a') lease.release()
      t.true(Array.from({ length: 100 }, () => balancer.acquire().node).includes('a'))
    })
  }

  test(`${engine}: where all are at their limit all are used, and counted; who is excluded is not`, (t) => {
    const balancer = setUp({ engine, nodes: ['a', 'b', 'c'] })
    for (const node of balancer.nodes) balancer.report(node, { maxInFlight: 2 })
    for (let i = 0; i < 6; i++) balancer.acquire()
    t.is(balancer.stats().guard.failedOpen, 0)
    t.true(areUniform(counts(balancer, 900, () => balancer.select())))
    t.is(balancer.stats().guard.failedOpen, 900)
    t.is(balancer.select({ exclude: ['a', 'c'] }), 'b')
    t.is(balancer.trySelect({ exclude: ['a', 'b', 'c'] }), undefined)
    balancer.report('a', { state: 'drain' })
    t.deepEqual([...countPicks(100, () => balancer.select()).keys()].sort(), ['b', 'c'])
  })

  test(`${engine}: a node of small weight takes all where nobody else is left`, (t) => {
    const balancer = setUp({ engine })
    balancer.report('b', { weight: 1 })
    balancer.report('c', { maxInFlight: 1 })
    balancer.acquire({ exclude: ['a', 'b', 'd'] })
    for (let i = 0; i < 50; i++) t.is(balancer.select({ exclude: ['a', 'd'] }), 'b')
    t.is(balancer.stats().guard.failedOpen, 0)
  })

  test(`${engine}: of many nodes that are full the one that is not is found`, (t) => {
    const nodes = Array.from({ length: 500 }, (_, i) => `n${i}`)
    const balancer = setUp({ engine, nodes })
    for (const node of nodes) balancer.report(node, { maxInFlight: 1 })
    const leases = nodes.map(() => balancer.acquire())
    t.is(new Set(leases.map(({ node }) => node)).size, 500)
    t.is(balancer.stats().guard.failedOpen, 0)
  })

  test(`${engine}: what is told of weights counts from the very next pick on, and no longer than it is so`, (t) => {
    const given = { engine, algorithm: leastCpu({ threshold: 0 }) }
    const [balancer, never] = [setUp(given), setUp(given)]
    for (const node of NODES) {
      for (const one of [balancer, never]) one.report(node, { cpu: node === 'a' ? 0 : 50 })
    }
    for (let i = 0; i < 40; i++) t.is(balancer.select(), 'a')
    balancer.report('a', { weight: 1e-9 })
    for (let i = 0; i < 40; i++) t.not(balancer.select(), 'a')
    balancer.report('a', { weight: 100 })
    for (let i = 0; i < 40; i++) t.is(balancer.select(), 'a')
    t.is(balancer.stats().guard.thinned, 40)
    t.is(balancer.stats().picks.picks, 120)
    t.is(balancer.snapshot()[0]?.picks, 80)
  })
}

test('a weight above 100 counts as so many times as much', (t) => {
  for (const algorithm of proportional) {
    const balancer = setUp({ algorithm })
    balancer.report('a', { weight: 400 })
    balancer.report('b', { weight: 200 })
    balancer.report('c', { weight: 1e12 })
    balancer.report('c', { weight: 100 })
    const found = counts(balancer, 4_000, () => balancer.select())
    t.true(follow(found, proportions([4, 2, 1, 1])), `${algorithm.kind}: ${found}`)
  }
})

test('a weight counts 256 times at most', (t) => {
  const balancer = setUp({ nodes: ['a', 'b'] })
  balancer.report('a', { weight: 1e12 })
  const found = counts(balancer, 100_000, () => balancer.select())
  t.true(follow(found, proportions([256, 1])), `${found}`)
})

test('where all weights are alike none is passed over, however large they are', (t) => {
  const balancer = setUp()
  for (const node of NODES) balancer.report(node, { weight: 400 })
  t.true(areUniform(counts(balancer, 4_000, () => balancer.select())))
  t.is(balancer.stats().guard.thinned, 0)
})

test('maxShare is never less than an equal share', (t) => {
  const balancer = setUp({ maxShare: 0.01, algorithm: leastCpu() })
  balancer.report('a', { cpu: 0 })
  for (const node of NODES.slice(1)) balancer.report(node, { cpu: 90 })
  t.deepEqual(
    counts(balancer, 1_024, () => balancer.select()),
    [256, 256, 256, 256],
  )
  t.is(balancer.stats().guard.failedOpen, 0)
})

test('the local node is held to its weight and share as well', (t) => {
  const balancer = createBalancer({
    nodes: ['a', 'b'],
    self: 'me',
    algorithm: local({ otherwise: 'roundRobin' }),
    poll: false,
    clock: new VirtualClock(),
    maxShare: 0.5,
    seed: 1,
  })
  const all = countPicks(128, () => balancer.select())
  t.deepEqual([all.get('me'), all.get('a'), all.get('b')], [64, 32, 32])
})

test('picks by key and from arrays heed states and not weights', (t) => {
  const balancer = setUp({ algorithm: hashRing(), maxShare: 0.3 })
  const keys = Array.from({ length: 60 }, (_, i) => `key-${i}`)
  const owners = () => keys.map((key) => balancer.select({ key }))
  const before = owners()
  balancer.report('a', { weight: 1, maxInFlight: 1 })
  balancer.acquire({ exclude: ['b', 'c', 'd'] })
  t.deepEqual(owners(), before)
  t.true(areUniform(counts(balancer, 2_000, () => balancer.select(NODES))))
})

test('a pick that fails for want of a load is passed on', (t) => {
  const balancer = setUp({ algorithm: powerOfTwo({ metric: 'latency', unknown: 'fail' }), maxShare: 0.5 })
  t.throws(() => balancer.select(), { code: 'IDLEST_UNKNOWN_LOAD' })
  const into = new Uint32Array(3)
  t.throws(() => balancer.fill(into), { code: 'IDLEST_UNKNOWN_LOAD' })
  t.deepEqual([...into], [0xffffffff, 0xffffffff, 0xffffffff])
})

test('without members there is nobody to pick', (t) => {
  const balancer = setUp({ nodes: [], maxShare: 0.5 })
  t.throws(() => balancer.select(), { instanceOf: NoNodesError })
  t.is(balancer.fill(new Uint32Array(3)), 0)
})

test('an attached balancer heeds weights, limits and maxShare', (t) => {
  const clock = new VirtualClock()
  const balancer = createBalancer({
    nodes: NODES,
    algorithm: leastCpu(),
    poll: false,
    clock,
    maxShare: 0.5,
  })
  for (const node of NODES) balancer.report(node, { cpu: node === 'a' ? 0 : 50 })
  balancer.report('b', { maxInFlight: 1 })
  balancer.report('c', { weight: 1e-9 })
  const attached = attachBalancer(balancer.handle(), { clock, seed: 2 })
  const all = countPicks(128, () => attached.acquire().node)
  t.deepEqual([all.get('a'), all.get('b'), all.get('c'), all.get('d')], [64, 1, undefined, 63])
  attached.close()
})

test('bad shares are refused', (t) => {
  for (const maxShare of [0, -1, 1.1, Number.NaN, '0.5']) {
    t.throws(() => createBalancer({ poll: false, maxShare: maxShare as number }), {
      instanceOf: OptionError,
      message: /maxShare/,
    })
  }
})
