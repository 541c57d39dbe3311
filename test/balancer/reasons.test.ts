import test from 'ava'
import { definitionOf } from '../../dist/algorithms/registry.js'
import { wordsFor } from '../../dist/balancer/reason-words.js'
import { type OwnReason, reasonsOf, rulesOf } from '../../dist/balancer/reasons.js'
import { trustOptions } from '../../dist/balancer/trust-options.js'
import {
  type Algorithm,
  adaptive,
  type Balancer,
  createBalancer,
  hashRing,
  leastCpu,
  local,
  powerOfTwo,
  random,
  spareCapacity,
  type TrustOptions,
} from '../../dist/index.js'
import { checkOptions } from '../../dist/options.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

interface Given extends TrustOptions {
  readonly nodes?: readonly string[]
  readonly self?: string
}

/** A balancer in virtual time, and what it says of why its nodes are not picked. */
function watched(algorithm: Algorithm, { nodes = ['a', 'b', 'c'], ...given }: Given = {}) {
  const clock = new VirtualClock()
  const balancer = createBalancer({ nodes, algorithm, poll: false, clock, seed: 1, ...given })
  const { health, suspicion, maxShare } = given
  const trust = checkOptions(
    '',
    Object.fromEntries(
      Object.entries({ health, suspicion, maxShare }).filter(([, value]) => value !== undefined),
    ),
    trustOptions,
  )
  const unpicked = () => {
    const { isOpen } = balancer.stats().health
    return reasonsOf(balancer.snapshot(), rulesOf(algorithm, trust, isOpen))
  }
  return {
    balancer,
    clock,
    reasons: () => unpicked().map((out) => out?.reason),
    words: () => unpicked().map((out) => out?.words),
  }
}

function fail(balancer: Balancer, node: string, times: number, others: readonly string[]): void {
  for (let i = 0; i < times; i++) balancer.acquire({ exclude: others }).release({ ok: false })
  for (const other of others)
    balancer.acquire({ exclude: [node] }).release({ ok: true, latency: other.length })
}

test('who may be picked has no reason', (t) => {
  const { words } = watched(random())
  t.deepEqual(words(), [undefined, undefined, undefined])
})

test('what nodes told of themselves, and what was ordered, goes before all else', async (t) => {
  const { balancer, words } = watched(leastCpu(), { nodes: ['a', 'b', 'c', 'd', 'e'] })
  for (const node of balancer.nodes) balancer.report(node, { cpu: 10 })
  balancer.report('a', { state: 'maint' })
  balancer.report('b', { state: 'drain' })
  balancer.report('c', { state: 'down' })
  balancer.report('d', { weight: 0 })
  t.deepEqual(words(), [
    'in maintenance: told by the node',
    'drains: told by the node',
    'down: told by the node',
    'weight 0: told by the node',
    undefined,
  ])
  await balancer.drain('c')
  t.is(words()[2], 'drains: ordered here')
})

test("a weight of 0 in the algorithm's own weights is a reason", (t) => {
  const { words } = watched(random({ weights: { b: 0 } }))
  t.deepEqual(words(), [undefined, "weight 0: by the algorithm's weights", undefined])
})

test('an ejected node is out for failures in a row, and for how long yet', async (t) => {
  const { balancer, clock, words, reasons } = watched(adaptive(), { health: { consecutiveFailures: 3 } })
  fail(balancer, 'a', 3, ['b', 'c'])
  t.is(words()[0], 'ejected for 30 s more: 3 failures in a row')
  await clock.advance(18_500)
  t.is(words()[0], 'ejected for 12 s more: 3 failures in a row')
  t.deepEqual(reasons()[0], { code: 'ejected', by: 'consecutiveFailures', remaining: 11_500, limit: 3 })
  await clock.advance(11_500)
  t.is(words()[0], undefined)
})

test('where all are ill, all may be picked, and only orders are reasons', (t) => {
  const { balancer, words } = watched(random())
  balancer.report('a', { state: 'down' })
  balancer.report('b', { state: 'down' })
  balancer.report('c', { state: 'maint' })
  t.deepEqual(words(), [undefined, undefined, 'in maintenance: told by the node'])
})

test('who is busier than the band reaches is outside of it, by numbers', (t) => {
  const { balancer, words, reasons } = watched(leastCpu({ threshold: 5 }))
  balancer.report('a', { cpu: 40 })
  balancer.report('b', { cpu: 45 })
  balancer.report('c', { cpu: 71 })
  t.deepEqual(words(), [undefined, undefined, 'outside the band: 71 % against 40 % + 5'])
  t.deepEqual(reasons()[2], { code: 'band', load: 71, least: 40, threshold: 5 })
})

test('while the least busy one is full, the next ones may be picked', (t) => {
  const { balancer, words } = watched(leastCpu({ threshold: 5 }), { nodes: ['a', 'b', 'c', 'd'] })
  for (const [node, cpu] of [
    ['a', 10],
    ['b', 10],
    ['c', 40],
    ['d', 80],
  ] as const)
    balancer.report(node, { cpu })
  balancer.report('a', { maxInFlight: 1 })
  const lease = balancer.acquire({ exclude: ['b', 'c', 'd'] })
  t.is(words()[0], 'at its maxInFlight of 1: 1 in flight')
  t.is(words()[2], 'outside the band: 40 % against 10 % + 5')
  balancer.report('b', { maxInFlight: 1 })
  const other = balancer.acquire({ exclude: ['a', 'c', 'd'] })
  t.is(words()[1], 'at its maxInFlight of 1: 1 in flight')
  t.is(words()[2], undefined)
  t.is(words()[3], 'outside the band: 80 % against 40 % + 5')
  lease.release()
  other.release()
})

test('where all are full, all may be picked', (t) => {
  const { balancer, words } = watched(leastCpu(), { nodes: ['a', 'b'] })
  for (const node of ['a', 'b']) balancer.report(node, { cpu: 10, maxInFlight: 1 })
  const lease = balancer.acquire({ exclude: ['b'] })
  t.deepEqual(words(), ['at its maxInFlight of 1: 1 in flight', undefined])
  const other = balancer.acquire()
  t.deepEqual(words(), [undefined, undefined])
  lease.release()
  other.release()
})

test('a node that has had its share of the last picks is passed over', (t) => {
  const { balancer, words } = watched(leastCpu({ threshold: 0 }), { nodes: ['a', 'b'], maxShare: 0.6 })
  balancer.report('a', { cpu: 10 })
  balancer.report('b', { cpu: 10 })
  while (balancer.snapshot()[0]?.isCapped !== true) balancer.select({ exclude: ['b'] })
  t.is(words()[0], 'has had its maxShare of the last picks: 60 %')
})

test('without a fresh report nodes are left out where the algorithm says so', async (t) => {
  const { balancer, clock, words } = watched(leastCpu({ missing: 'exclude', ttl: 10_000 }))
  balancer.report('a', { cpu: 40 })
  await clock.advance(13_500)
  balancer.report('b', { cpu: 40 })
  t.deepEqual(words(), ['report is 14 s old, ttl is 10 s', undefined, 'nothing is known of its load'])
})

test('two choices never pick who is worse than all others', async (t) => {
  const { balancer, clock, words } = watched(powerOfTwo({ metric: 'cpu' }))
  balancer.report('a', { cpu: 10 })
  balancer.report('b', { cpu: 20 })
  balancer.report('c', { cpu: 30 })
  t.deepEqual(words(), [undefined, undefined, 'more loaded than the nodes it is compared with: 30'])
  await clock.advance(10_001)
  balancer.report('a', { cpu: 10 })
  balancer.report('b', { cpu: 20 })
  t.is(words()[2], 'report is 11 s old, ttl is 10 s')
})

test('a full node has nothing to spare', (t) => {
  const { balancer, words } = watched(spareCapacity({ minShare: 0, smoothing: 0 }))
  balancer.report('a', { cpu: 100 })
  balancer.report('b', { cpu: 50 })
  balancer.report('c', { cpu: 0 })
  t.deepEqual(words(), ['no CPU to spare: 100 %', undefined, undefined])
})

test('the local node takes all while it is up', (t) => {
  const { balancer, words } = watched(local(), { self: 'a' })
  t.deepEqual(words(), [undefined, 'the local node takes all', 'the local node takes all'])
  balancer.report('a', { state: 'drain' })
  t.deepEqual(words(), ['drains: told by the node', undefined, undefined])
})

test('picks by key are shared by all whom keys fall to', (t) => {
  const { words } = watched(hashRing())
  t.deepEqual(words(), [undefined, undefined, undefined])
})

test('each reason has words of its own', (t) => {
  const reasons: OwnReason[] = [
    { code: 'ejected', by: 'failureRate', remaining: 800, limit: 0.85 },
    { code: 'ejected', by: 'failureRate', remaining: undefined, limit: undefined },
    { code: 'ejected', by: 'elsewhere', remaining: undefined, limit: undefined },
    { code: 'expired', age: 700_000, ttl: 10_000, pollError: 'connect ECONNREFUSED' },
    { code: 'unheard', pollError: 'HTTP 503' },
  ]
  t.deepEqual(reasons.map(wordsFor), [
    'ejected for 800 ms more: 85 % or more of its requests failed',
    'ejected: too many of its requests failed',
    "ejected by the balancer's own thread",
    'report is 12 min old, ttl is 10 s; polls fail: connect ECONNREFUSED',
    'nothing is known of its load; polls fail: HTTP 503',
  ])
  const unknown = { cpu: undefined, effective: undefined }
  const others = { hasFresh: true, least: 0, self: undefined }
  const ofAlgorithm = (algorithm: Algorithm) =>
    definitionOf(algorithm).explain.reason?.(unknown, others, { threshold: 5 })?.words
  t.deepEqual([spareCapacity(), powerOfTwo({ metric: 'cpu' }), hashRing(), leastCpu()].map(ofAlgorithm), [
    'no CPU to spare',
    'more loaded than the nodes it is compared with',
    'no key falls to it',
    'the algorithm gives it no share',
  ])
})
