import test from 'ava'
import fc from 'fast-check'
import {
  type Balancer,
  createBalancer,
  createTable,
  custom,
  hashRing,
  leastCpu,
  local,
  maglev,
  type NodeState,
  NoNodesError,
  type Report,
  random,
  roundRobin,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { keyedBalancer, keys, names } from '../support/keyed.js'
import { areUniform, countPicks } from '../support/shares.js'

const own = () => ({ poll: false, algorithm: random(), clock: new VirtualClock(), seed: 1 }) as const

/** Who may be picked now. */
function eligible(balancer: Balancer<string>): string {
  return balancer
    .snapshot()
    .flatMap(({ id, inBand }) => (inBand ? [id] : []))
    .join('')
}

function states(balancer: Balancer<string>): Record<string, NodeState> {
  return Object.fromEntries(balancer.snapshot().map(({ id, state }) => [id, state]))
}

for (const engine of engines) {
  for (const algorithm of [random(), roundRobin(), leastCpu()]) {
    test(`${engine}, ${algorithm.kind}: a node that tells that it takes no work is not picked until it does again`, (t) => {
      const balancer = createBalancer({ ...own(), nodes: ['a', 'b', 'c'], algorithm, engine })
      for (const state of ['drain', 'maint', 'down'] as const) {
        t.true(balancer.report('b', { state }))
        t.is(states(balancer).b, state)
        t.deepEqual([...countPicks(60, () => balancer.select()).keys()].sort(), ['a', 'c'])
        t.deepEqual([...countPicks(60, () => balancer.acquire().node).keys()].sort(), ['a', 'c'])
        t.is(balancer.select({ exclude: ['a'] }), 'c')
        const into = new Uint32Array(60)
        balancer.fill(into)
        t.deepEqual([...new Set(into)].sort(), [0, 2])
        t.deepEqual([...countPicks(60, () => balancer.select(['b', 'c'])).keys()], ['c'])
        balancer.report('b', { state: 'up', cpu: 1 })
        t.true([...countPicks(60, () => balancer.select()).keys()].includes('b'))
      }
    })
  }

  for (const algorithm of [hashRing(), maglev({ tableSize: 1_009 })]) {
    test(`${engine}, ${algorithm.kind}: keys leave a node that tells that it is down, and come back to it`, (t) => {
      const balancer = keyedBalancer(names(5), algorithm, engine)
      const all = keys(300)
      const before = all.map((key) => balancer.select({ key }))
      balancer.report('n3', { state: 'down' })
      const meanwhile = all.map((key) => balancer.select({ key }))
      t.false(meanwhile.includes('n3'))
      balancer.report('n3', { state: 'up' })
      t.deepEqual(
        all.map((key) => balancer.select({ key })),
        before,
      )
    })
  }
}

test('a weight of 0 is a drain', (t) => {
  const balancer = createBalancer({ ...own(), nodes: ['a', 'b'] })
  balancer.report('a', { weight: 0 })
  t.is(states(balancer).a, 'drain')
  t.is(eligible(balancer), 'b')
  balancer.report('b', { weight: 0 })
  t.throws(() => balancer.select(), { instanceOf: NoNodesError })
  balancer.report('a', { weight: 1 })
  t.is(eligible(balancer), 'a')
})

test('what a node tells of itself stays until it tells anew, each by itself', (t) => {
  const balancer = createBalancer({ ...own(), nodes: ['a', 'b'] })
  balancer.report('a', { state: 'maint', weight: 50 })
  balancer.report('a', { cpu: 20, maxInFlight: 7 })
  t.deepEqual(balancer.snapshot()[0]?.told, { state: 'maint', weight: 50, maxInFlight: 7 })
  balancer.setNodes(['b', 'a'])
  t.is(states(balancer).a, 'maint')
  balancer.remove('a')
  balancer.add('a')
  t.deepEqual(balancer.snapshot()[1]?.told, { state: undefined, weight: undefined, maxInFlight: undefined })
  t.is(states(balancer).a, 'up')
})

test('a report of nothing but a state counts as stored, and one with an old sample is heard nonetheless', (t) => {
  const balancer = createBalancer({ ...own(), nodes: ['a', 'b'] })
  t.true(balancer.report('a', { state: 'up' }))
  balancer.report('a', { cpu: 10 })
  t.true(balancer.report('a', { cpu: 90, age: 5_000, state: 'drain' }))
  t.is(balancer.snapshot()[0]?.cpu, 10)
  t.is(states(balancer).a, 'drain')
  const { reportsStored, reportsOlder, reportsEmpty } = balancer.stats().picks
  t.deepEqual([reportsStored, reportsOlder, reportsEmpty], [3, 0, 0])
})

test('an order of this process and the word of the node do not undo each other', async (t) => {
  const balancer = createBalancer({ ...own(), nodes: ['a', 'b'] })
  balancer.report('a', { state: 'drain' })
  t.false(balancer.add('a'))
  t.is(states(balancer).a, 'drain')
  await balancer.drain('a')
  balancer.report('a', { state: 'up' })
  t.is(states(balancer).a, 'drain')
  t.true(balancer.add('a'))
  t.is(eligible(balancer), 'ab')
})

test('drain waits until the node has nothing in flight, whatever it tells', async (t) => {
  const balancer = createBalancer({ ...own(), nodes: ['a', 'b'] })
  const lease = balancer.acquire({ exclude: ['b'] })
  let done = false
  const drained = balancer.drain('a').then(() => {
    done = true
  })
  for (const state of ['maint', 'up', 'down'] as const) balancer.report('a', { state })
  await Promise.resolve()
  t.false(done)
  lease.release()
  await drained
})

for (const engine of engines) {
  test(`${engine}: where all are down all are used, and counted; an order is obeyed even then`, (t) => {
    const nodes = ['a', 'b', 'c', 'd']
    const balancer = createBalancer({ ...own(), nodes, engine })
    void balancer.drain('d')
    for (const node of ['a', 'b', 'c']) balancer.report(node, { state: 'down' })
    t.true(areUniform([...countPicks(3_000, () => balancer.select()).values()]))
    t.is(eligible(balancer), 'abc')
    t.deepEqual([...countPicks(60, () => balancer.select(['b', 'd'])).keys()], ['b'])
    t.like(balancer.stats().health, { isOpen: true, timesOpen: 1 })
    balancer.report('b', { state: 'maint' })
    t.is(eligible(balancer), 'ac')
    balancer.report('c', { state: 'up' })
    t.is(eligible(balancer), 'c')
    t.like(balancer.stats().health, { isOpen: false, timesOpen: 1 })
  })

  test(`${engine}: a node that is down is picked where nobody else is left that is not excluded, or not in the array`, (t) => {
    const balancer = createBalancer({ ...own(), nodes: ['a', 'b', 'c'], engine })
    balancer.report('b', { state: 'down' })
    balancer.report('c', { state: 'drain' })
    t.is(balancer.select({ exclude: ['a'] }), 'b')
    t.is(balancer.acquire({ exclude: ['a', 'c'] }).node, 'b')
    t.is(balancer.trySelect({ exclude: ['a', 'b'] }), undefined)
    t.is(balancer.select(['b', 'c']), 'b')
    t.is(balancer.select(['a', 'b']), 'a')
    t.is(balancer.trySelect(['c']), undefined)
    t.deepEqual(
      balancer.snapshot().map(({ picks, inFlight }) => [picks, inFlight]),
      [
        [0, 0],
        [2, 1],
        [0, 0],
      ],
    )
  })
}

test('a node of fixed weight 0 is not what keeps others from being used', (t) => {
  const balancer = createBalancer({ ...own(), nodes: ['a', 'b'], algorithm: random({ weights: { a: 0 } }) })
  balancer.report('b', { state: 'down' })
  t.is(eligible(balancer), 'b')
})

test('an algorithm of the user is told of states, and given those that may be picked', (t) => {
  const told: string[] = []
  const algorithm = custom({
    select: ({ nodes }) => nodes[0],
    onNodeChange: ({ kind, node }) => told.push(`${kind} ${node}`),
  })
  const balancer = createBalancer({ ...own(), nodes: ['a', 'b'], algorithm })
  balancer.report('a', { state: 'drain' })
  t.is(balancer.select(), 'b')
  t.is(balancer.select(['a', 'b']), 'b')
  balancer.report('a', { state: 'down' })
  t.is(balancer.select(['a']), 'a')
  balancer.report('a', { state: 'up', weight: 40 })
  t.is(balancer.select(), 'a')
  t.deepEqual(told, ['add a', 'add b', 'drain a', 'down a', 'up a'])
})

test('the local node is not picked while it tells that it drains', (t) => {
  const balancer = createBalancer({ ...own(), nodes: ['a'], self: 'me', algorithm: local() })
  t.is(balancer.select(), 'me')
  balancer.report('me', { state: 'drain' })
  t.is(balancer.select(), 'a')
})

test('what a poller hears of several nodes is taken at once; of a node that left, it is counted', (t) => {
  const table = createTable({ clock: new VirtualClock() })
  const balancer = createBalancer({ poll: false, algorithm: random(), table, nodes: ['a', 'b', 'c'] })
  const [a, b, c] = ['a', 'b', 'c'].map((id) => table.find(id))
  if (a === undefined || b === undefined || c === undefined) return t.fail('no entries')
  balancer.told([
    { ...a, state: 'down' },
    { ...b, state: 'down' },
    { ...c, state: 'drain' },
  ])
  t.like(balancer.stats().health, { isOpen: true, timesOpen: 1 })
  // No moment at which both are down.
  balancer.told([
    { ...b, state: 'up' },
    { ...a, weight: 30 },
  ])
  t.is(eligible(balancer), 'b')
  balancer.remove('b')
  balancer.add('b')
  balancer.told([{ ...b, state: 'maint' }])
  t.is(states(balancer).b, 'up')
  t.is(balancer.stats().picks.reportsUnknown, 1)
})

test('what is polled and what is heard otherwise go by what came last, also where a poll says it again', async (t) => {
  const clock = new VirtualClock()
  const says: Report = { cpu: 10, state: 'drain', weight: 40 }
  const balancer = createBalancer({
    ...own(),
    clock,
    nodes: ['a', 'b'],
    poll: { transport: { poll: async (id) => (id === 'a' ? says : {}) }, startupJitter: 0, interval: 1_000 },
  })
  await clock.advance(100)
  t.is(states(balancer).a, 'drain')
  t.is(balancer.snapshot()[0]?.told.weight, 40)
  t.is(balancer.observe('a', { 'endpoint-load-metrics': 'TEXT named_metrics.idlest_state=0' }), 'stored')
  t.is(states(balancer).a, 'up')
  await clock.advance(1_000)
  t.is(states(balancer).a, 'drain')
  says.state = 'up'
  await clock.advance(1_000)
  t.is(states(balancer).a, 'up')
  await balancer.close()
})

test('whatever is ordered and told, those are picked that should be', (t) => {
  const ids = ['a', 'b', 'c', 'd']
  const id = fc.constantFrom(...ids)
  const step = fc.oneof(
    fc.record({ kind: fc.constantFrom('drain' as const, 'add' as const, 'remove' as const), id }),
    fc.record({
      kind: fc.constant('tell' as const),
      id,
      state: fc.constantFrom<NodeState>('up', 'up', 'drain', 'maint', 'down', 'down'),
    }),
    fc.record({ kind: fc.constant('weigh' as const), id, weight: fc.constantFrom(0, 50, 100) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const balancer = createBalancer({ ...own(), nodes: ids })
      const model = new Map(ids.map((id) => [id, { drained: false, state: 'up' as NodeState, weight: 100 }]))
      for (const step of steps) {
        const known = model.get(step.id)
        if (step.kind === 'add') {
          balancer.add(step.id)
          model.set(step.id, { state: 'up', weight: 100, ...known, drained: false })
        } else if (step.kind === 'remove') {
          balancer.remove(step.id)
          model.delete(step.id)
        } else if (step.kind === 'drain') {
          balancer.drain(step.id).catch(() => {})
          if (known !== undefined) known.drained = true
        } else if (step.kind === 'tell') {
          balancer.report(step.id, { state: step.state })
          if (known !== undefined) known.state = step.state
        } else if (step.kind === 'weigh') {
          balancer.report(step.id, { weight: step.weight })
          if (known !== undefined) known.weight = step.weight
        }
        const willing = [...model].filter(
          ([, { drained, state, weight }]) =>
            !drained && weight > 0 && state !== 'drain' && state !== 'maint',
        )
        const well = willing.filter(([, { state }]) => state === 'up')
        const right = (well.length > 0 ? well : willing).map(([id]) => id)
        t.is([...eligible(balancer)].sort().join(''), right.sort().join(''))
        t.is(balancer.stats().health.isOpen, well.length === 0 && willing.length > 0)
        for (const [id, { drained, weight, state }] of model) {
          const shown = state === 'up' && (drained || weight === 0) ? 'drain' : state
          t.is(states(balancer)[id], shown)
        }
      }
    }),
    { numRuns: 300 },
  )
})
