import test from 'ava'
import {
  type Algorithm,
  adaptive,
  attachBalancer,
  type Balancer,
  ClosedError,
  createBalancer,
  custom,
  hashRing,
  leastConnections,
  leastCpu,
  local,
  maglev,
  powerOfTwo,
  prequal,
  random,
  roundRobin,
  spareCapacity,
  type TrustOptions,
  UnknownNodeError,
  weightedRoundRobin,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

interface Given extends TrustOptions {
  readonly nodes?: readonly string[]
  readonly self?: string
}

function explained(algorithm: Algorithm, { nodes = ['a', 'b', 'c'], ...given }: Given = {}) {
  const clock = new VirtualClock()
  const balancer = createBalancer({ nodes, algorithm, poll: false, clock, seed: 1, ...given })
  return { balancer, clock, words: () => balancer.explain().map(({ words }) => words) }
}

function words(balancer: Balancer): string[] {
  return balancer.explain().map(({ words }) => words)
}

test('a node is explained in words and data', (t) => {
  const { balancer } = explained(leastCpu({ threshold: 5 }))
  balancer.report('a', { cpu: 10 })
  balancer.report('b', { cpu: 12 })
  balancer.report('c', { cpu: 40 })
  const a = balancer.explain('a')
  t.is(a.words, 'may be picked, 50 % of draws: in the band, 10 % against 10 % + 5')
  t.true(a.mayBePicked)
  t.is(a.share, 0.5)
  t.is(a.reason, undefined)
  t.deepEqual(a.grounds, { code: 'band', load: 10, least: 10, threshold: 5, isAssumed: false })
  t.is(a.facts.cpu, 10)
  t.is(a.rules.threshold, 5)
  const c = balancer.explain('c')
  t.is(c.words, 'not picked: outside the band: 40 % against 10 % + 5')
  t.false(c.mayBePicked)
  t.is(c.share, 0)
  t.deepEqual(c.reason, { code: 'band', load: 40, least: 10, threshold: 5 })
  t.is(c.grounds, undefined)
})

test('without a node all are explained, in the order of the members', (t) => {
  const { balancer } = explained(random())
  const all = balancer.explain()
  t.deepEqual(
    all.map(({ node }) => node),
    ['a', 'b', 'c'],
  )
  t.is(all[0]?.words, 'may be picked, 33.3 % of draws: as all are that take work')
})

test('nodes that are objects come back as they are, and may be asked for by id', (t) => {
  const a = { id: 'a', zone: 1 }
  const b = { id: 'b', zone: 2 }
  const balancer = createBalancer<{ id: string; zone: number }>({ nodes: [a, b], poll: false })
  t.is(balancer.explain('a').node, a)
  t.is(balancer.explain({ id: 'b' }).node, b)
})

test('who is no member can not be explained, nor can a balancer that is closed', async (t) => {
  const { balancer } = explained(random())
  t.throws(() => balancer.explain('z'), { instanceOf: UnknownNodeError })
  await balancer.close()
  t.throws(() => balancer.explain('a'), { instanceOf: ClosedError })
  t.throws(() => balancer.explain(), { instanceOf: ClosedError })
})

test('reports: none fresh, some missing, and too old ones', async (t) => {
  const { balancer } = explained(leastCpu({ threshold: 5, ttl: 1_000, missing: 10 }))
  t.is(words(balancer)[0], 'may be picked, 33.3 % of draws: no member has a fresh report')
  balancer.report('a', { cpu: 10 })
  t.is(
    words(balancer)[1],
    'may be picked, 33.3 % of draws: without a fresh report taken to be in the band, 10 % against 10 % + 5',
  )
  const excludes = explained(leastCpu({ ttl: 1_000, missing: 'exclude' }))
  excludes.balancer.report('a', { cpu: 10 })
  await excludes.clock.advance(1_500)
  excludes.balancer.report('b', { cpu: 10 })
  t.deepEqual(excludes.words(), [
    'not picked: report is 2 s old, ttl is 1 s',
    'may be picked, 100 % of draws: in the band, 10 % against 10 % + 5',
    'not picked: nothing is known of its load',
  ])
})

test('each algorithm says what it goes by', (t) => {
  const first = (
    algorithm: Algorithm,
    given: Given = {},
    prepare: (balancer: Balancer) => void = () => {},
  ) => {
    const { balancer, words } = explained(algorithm, given)
    prepare(balancer)
    return words()[0]
  }
  const even = 'may be picked, 33.3 % of draws: '
  t.is(first(roundRobin()), `${even}as all are that take work`)
  t.is(first(random({ weights: { a: 2 } })), 'may be picked, 50 % of draws: weight 2')
  t.is(
    first(leastConnections(), {}, (b) => b.acquire({ exclude: ['b', 'c'] })),
    `${even}its 1 in flight are compared with others'`,
  )
  t.is(first(prequal()), `${even}its 0 in flight are compared with others'`)
  t.is(first(adaptive()), `${even}counts as taking 1 ms a request`)
  t.is(first(weightedRoundRobin()), `${even}its weight is not known, and counts as the mean`)
  t.is(first(spareCapacity()), `${even}no member has a fresh report`)
  t.is(
    first(spareCapacity(), {}, (b) => {
      for (const node of b.nodes) b.report(node, { cpu: 25 })
    }),
    `${even}CPU of 25 %`,
  )
  t.is(
    first(powerOfTwo({ metric: 'queueDelay' }), {}, (b) => {
      for (const node of b.nodes) b.report(node, { queueDelay: 4 })
    }),
    `${even}its load of 4 is compared with others'`,
  )
  t.is(first(local(), { self: 'a' }), 'may be picked, 100 % of draws: the local node')
  t.is(first(maglev())?.replace(/[\d.]+/, 'N'), 'may be picked, N % of draws: keys fall to it')
  t.is(first(hashRing())?.replace(/[\d.]+/, 'N'), 'may be picked, N % of draws: keys fall to it')
  t.regex(first(custom({ name: 'mine', select: () => 'a' })) ?? '', /the algorithm decides$/)
})

test('others stand in for the local node while it takes no work', (t) => {
  const { balancer, words } = explained(local(), { self: 'a' })
  t.is(words()[1], 'not picked: the local node takes all')
  balancer.report('a', { state: 'drain' })
  t.is(words()[1], 'may be picked, 50 % of draws: the local node takes no work')
})

test('what nodes told, and what became of their requests, is said too', (t) => {
  const { balancer, words } = explained(random(), { nodes: ['a', 'b'], health: { ejection: 1_000 } })
  balancer.report('a', { weight: 30 })
  t.is(words()[0], 'may be picked, 50 % of draws: as all are that take work; reported a weight of 30 %')
  balancer.report('a', { weight: 100, state: 'down' })
  t.is(words()[0], 'not picked: down: told by the node')
  balancer.report('b', { state: 'down' })
  t.is(words()[0], 'may be picked, 50 % of draws: as all are that take work; though down, as all are')
})

test('an attached balancer explains its picks, and counts its own', async (t) => {
  const balancer = createBalancer({ nodes: ['a', 'b'], algorithm: leastCpu(), poll: false, seed: 1 })
  t.teardown(() => balancer.close())
  balancer.report('a', { cpu: 5 })
  balancer.report('b', { cpu: 50 })
  using attached = attachBalancer(balancer.handle())
  t.is(attached.explain('b').words, balancer.explain('b').words)
  attached.select()
  t.is(attached.stats().picks.picks, 1)
  t.is(balancer.stats().picks.picks, 0)
  t.false(attached.closed)
  attached.close()
  t.true(attached.closed)
})
