import type { LiveNode, LiveView } from '../../../dist/live/live-view.js'

/** A node that is up and idle, but for what is given. */
export function liveNode(given: Partial<LiveNode> & { readonly id: string }): LiveNode {
  return {
    state: 'up',
    order: 'up',
    told: {},
    fixedWeight: undefined,
    cpu: 40,
    age: 1_200,
    fresh: true,
    share: 0.125,
    sentShare: 0.13,
    inFlight: 3,
    picks: 4_200,
    picksPerSecond: 120,
    released: 4_190,
    failed: 0,
    latency: 12.3,
    ejected: undefined,
    suspect: undefined,
    effective: undefined,
    cost: undefined,
    weight: undefined,
    poll: undefined,
    isReserve: false,
    part: 1,
    isCapped: false,
    report: { cpu: 40, qps: 130 },
    reason: undefined,
    why: undefined,
    ...given,
  }
}

const troubled: readonly Partial<LiveNode>[] = [
  { cpu: 71, share: 0, reason: 'band', why: 'outside the band: 71 % against 40 % + 5' },
  {
    cpu: 97,
    share: 0,
    failed: 40,
    ejected: { reason: 'consecutiveFailures', times: 1, remaining: 12_000 },
    reason: 'ejected',
    why: 'ejected for 12 s after 5 failures in a row',
  },
  {
    age: 14_000,
    fresh: false,
    poll: { count: 3, kind: 'exit', reason: 'connect ECONNREFUSED 10.0.0.3:9090' },
    reason: 'expired',
    why: 'report is 14 s old, ttl is 10 s',
  },
  { state: 'drain', told: { state: 'drain' }, reason: 'drain', why: 'drains: told by the node' },
  { suspect: 'slow', cpu: 2 },
  {},
  {},
  {},
]

/** A view of so many nodes, of which half have something of note; the same for the same numbers. */
export function liveView(count: number, turn = 0): LiveView {
  const nodes = Array.from({ length: count }, (_, i) => {
    const cpu = 30 + ((i * 37 + turn * 11) % 60)
    return liveNode({
      id: `10.0.${i >> 8}.${i & 255}:8080`,
      cpu,
      share: 1 / count,
      ...troubled[i % troubled.length],
    })
  })
  return viewOf(nodes, turn)
}

/** A view of these nodes. */
export function viewOf(nodes: readonly LiveNode[], turn = 0): LiveView {
  return {
    balancer: 'checkout',
    engine: 'native',
    algorithm: 'leastCpu',
    value: { label: 'Counts as', about: 'What the algorithm takes its CPU for, percent' },
    rules: {
      algorithm: 'leastCpu',
      ttl: 10_000,
      threshold: 5,
      excludesMissing: true,
      maxShare: 1,
      failures: 5,
      failureRate: undefined,
      isOpen: false,
    },
    time: 60_000 + turn * 1_000,
    uptime: 11_520_000 + turn * 1_000,
    interval: 1_000,
    window: 1_000,
    poll: { interval: 5_000, cycles: 12, asked: 96, stored: 90, errors: 4, exits: 2, failing: 1 },
    picks: 1_234_567 + turn * 900,
    picksPerSecond: 900 + ((turn * 70) % 400),
    empty: 0,
    stats: {} as LiveView['stats'],
    nodes,
  }
}
