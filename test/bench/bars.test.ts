import test from 'ava'
import { type Bar, barsOf } from '../../bench/bars.js'
import type { CaseResult, Doer } from '../../bench/case.js'
import type { GcResult } from '../../bench/figures/gc.js'
import { metWord } from '../../bench/report.js'
import type { Spread } from '../../bench/statistics.js'

/** ns */
const FLOOR = 20

function result(name: string, engine: Doer, nodes: number, nsPerPick: number): CaseResult {
  return {
    name,
    engine,
    nodes,
    topic: 'picks',
    unit: 'pick',
    ns: around(nsPerPick),
    floors: around(nsPerPick / FLOOR),
    p99: nsPerPick,
    samples: 1,
  }
}

// Eight of ten rounds within a tenth of it.
function around(median: number): Spread {
  return { median, p10: median * 0.9, p90: median * 1.1 }
}

function find(bars: readonly Bar[], what: string): Bar {
  const bar = bars.find((it) => it.what.includes(what))
  if (bar === undefined) throw new Error(`no bar for ${what}`)
  return bar
}

function gcResult(engine: 'native' | 'portable', collections: number): GcResult {
  return { engine, cases: [{ name: 'select', picks: 10, collections, bytesPerPick: 0 }] }
}

test('a bar is the ratio to the floor of the same moment, not to the median of floors', (t) => {
  const bars = barsOf([result('floor', 'native', 0, 15), result('select()', 'native', 8, 10)])
  const bar = find(bars, 'select(), 8 nodes, to the floor')
  t.is(bar.reached, 0.5)
  t.true(bar.met)
})

test('what is just reached is met, and what is beyond it is missed', (t) => {
  const at = (ns: number) => find(barsOf([result('fill(1024)', 'native', 8, ns)]), 'fill').met
  t.true(at(6))
  t.false(at(6.1))
})

test('the two sizes of native select() are compared with each other', (t) => {
  const bars = barsOf([result('select()', 'native', 8, 10), result('select()', 'native', 10_000, 13)])
  const bar = find(bars, '10,000 nodes, to that at 8')
  t.is(bar.reached, 1.3)
  t.false(bar.met)
})

test('the naive way is to be so many times slower', (t) => {
  const bars = barsOf([
    result('select()', 'native', 8, 20),
    result('naive scan', '-', 8, 100),
    result('select()', 'native', 1_000, 20),
    result('naive scan', '-', 1_000, 9_000),
  ])
  t.true(find(bars, 'naive way, 8 nodes').met)
  t.false(find(bars, 'naive way, 1,000 nodes').met)
})

test('publications are in milliseconds, tables in MiB', (t) => {
  const bars = barsOf([result('first select() after', 'native', 10_000, 1.5e6)], { tableBytes: 3 * 2 ** 20 })
  t.is(find(bars, 'first select() after').reached, 1.5)
  t.is(find(bars, 'table').reached, 3)
  t.false(find(bars, 'table').met)
})

test('one collection in one of the ways misses the bar', (t) => {
  const met = (...gc: GcResult[]) => find(barsOf([], { gc }), 'garbage').met
  t.true(met(gcResult('native', 0), gcResult('portable', 0)))
  t.false(met(gcResult('native', 0), gcResult('portable', 1)))
})

test('the longest poll cycle counts', (t) => {
  const poll = {
    agents: 1_000,
    silent: 100,
    timeout: 2_000,
    cycles: 2,
    durations: [2_010, 2_600],
    stored: [900, 900],
  }
  const bar = find(barsOf([], { poll }), 'poll cycle')
  t.is(bar.atMost, 2_500)
  t.is(bar.reached, 2_600)
  t.false(bar.met)
})

test('what was not measured is neither met nor missed', (t) => {
  for (const { reached, met } of barsOf([])) {
    t.is(reached, undefined)
    t.is(met, undefined)
  }
})

test('each middleware is to add at most 5 µs to a request, counted or with a report', (t) => {
  const middleware = [
    {
      server: 'Koa',
      plain: around(20),
      counted: { value: 5, low: 4, high: 6 },
      reported: { value: 5.1, low: 5.05, high: 5.2 },
    },
  ] as const
  const bars = barsOf([], { middleware })
  t.true(find(bars, 'middleware of Koa, a request counted').met)
  t.false(find(bars, 'middleware of Koa, a request with a report').met)
  t.is(find(bars, 'middleware of Fastify').met, undefined)
  // Where it lies within the interval, another run may say otherwise.
  t.is(metWord(find(bars, 'middleware of Koa, a request counted')), 'yes, just')
  t.is(metWord(find(bars, 'middleware of Koa, a request with a report')), 'MISSED')
})

test('a bar about one case names it, and says where its rounds lie', (t) => {
  const bar = find(barsOf([result('fill(1024)', 'native', 8, 5.8)]), 'fill')
  t.deepEqual(bar.of, { name: 'fill(1024)', engine: 'native', nodes: 8 })
  t.deepEqual(
    bar.between?.map((one) => one.toFixed(3)),
    ['0.261', '0.319'],
  )
  t.is(metWord(bar), 'yes, just')
})

test('a dispatcher is to send 0.95 of what undici does, also in turn; with a busy server its p99 is to be at most half', (t) => {
  const exactly = (value: number) => ({ value, low: value - 0.01, high: value + 0.01 })
  const result = {
    throughput: 1,
    cpu: 1,
    toBalancedPool: exactly(1),
    toRoundRobinPool: exactly(1),
    p50: 1,
    p99: 1,
  }
  const undici = [
    { ...result, sender: 'BalancedDispatcher, adaptive()', p99: 50, toBalancedPool: exactly(0.94) },
    {
      ...result,
      sender: 'BalancedDispatcher, roundRobin()',
      toBalancedPool: exactly(0.95),
      toRoundRobinPool: exactly(0.94),
    },
    { ...result, sender: 'BalancedPool', p99: 100 },
    { ...result, sender: 'RoundRobinPool, one a server in turn', p99: 99 },
  ] as const
  const bars = barsOf([], { undici })
  t.false(find(bars, 'BalancedDispatcher, time of a request to that of BalancedPool').met)
  t.true(find(bars, 'BalancedDispatcher, time of a request to that of RoundRobinPool').met)
  t.true(find(bars, 'in turn, time of a request to that of BalancedPool').met)
  t.false(find(bars, 'in turn, time of a request to that of RoundRobinPool').met)
  t.true(find(bars, 'p99 with a busy server to that of BalancedPool').met)
  t.false(find(bars, 'p99 with a busy server to that of RoundRobinPool').met)
})

test('a call of gRPC by the policies of idlest is to take at most 1.2 times that by round_robin', (t) => {
  const grpcPolicies = [
    { policy: 'round_robin', cpu: 100, toRoundRobin: 1 },
    { policy: 'weighted_round_robin', cpu: 2_000, toRoundRobin: 20 },
    { policy: 'idlest_weighted_round_robin', cpu: 119, toRoundRobin: 1.2 },
    { policy: 'idlest_adaptive', cpu: 119, toRoundRobin: 1.21 },
  ] as const
  const bars = barsOf([], { grpcPolicies })
  t.true(find(bars, 'by idlest_weighted_round_robin').met)
  t.false(find(bars, 'by idlest_adaptive').met)
})
