import type { AttachedBalancer, Balancer, BalancerStats, NodeLike, NodeSnapshot } from '../../index.js'
import {
  ALGORITHM,
  type Attribute,
  BALANCER,
  ENGINE,
  ERROR_TYPE,
  METRICS,
  type Metric,
  type MetricKey,
  NODE,
  OTHER,
  OUTCOME,
  REASON,
  SOURCE,
  STATE,
} from './catalogue.js'
import { NamedNodes } from './named-nodes.js'
import { NodeCounts } from './node-counts.js'

/** What is watched: a balancer, or the one of a worker thread that is attached to it. */
export type Watchable<N extends NodeLike = NodeLike> = Pick<
  Balancer<N> | AttachedBalancer,
  'name' | 'engine' | 'algorithm' | 'closed' | 'stats' | 'snapshot'
>

/** What a metric's values differ by. */
export type Attributes = Readonly<Partial<Record<Attribute | typeof BALANCER, string>>>

/** One value. */
export interface Point {
  readonly metric: MetricKey
  readonly value: number
  readonly attributes: Attributes
  /** It is the 0 of a node of which no more is told: for those who would go on with the last value. */
  readonly isLast?: true
}

/** The states that members are counted by. */
const STATES = ['up', 'drain', 'maint', 'down', 'ejected'] as const

/** What is told of each node as it is now, in the units of the catalogue. */
const NODE_GAUGES = {
  inFlight: ({ inFlight }) => inFlight,
  age: ({ age }) => (age === undefined ? undefined : age / 1_000),
  cpu: ({ cpu }) => (cpu === undefined ? undefined : cpu / 100),
  share: ({ share }) => share,
  weight: ({ weight, fixedWeight }) => fixedWeight ?? weight,
  cost: ({ cost }) => (cost === undefined ? undefined : cost / 1_000),
} satisfies Partial<Record<MetricKey, (node: NodeSnapshot) => number | undefined>>

const NODE_GAUGE_ENTRIES = Object.entries(NODE_GAUGES) as [
  keyof typeof NODE_GAUGES,
  (node: NodeSnapshot) => number | undefined,
][]

/** Gauges that add up, so that 0 is right for who has left. */
const ADDED = NODE_GAUGE_ENTRIES.map(([key]) => key).filter((key) => METRICS[key].together === 'sum')

/** Reads one balancer: everything by one look at its counters, and one at its members. */
export class Observer {
  readonly #balancer: Watchable
  readonly #named: NamedNodes
  readonly #picks = new NodeCounts()
  readonly #ok = new NodeCounts()
  readonly #failed = new NodeCounts()
  // Nodes of which gauges were told last.
  #told = new Set<string>()
  #points: Point[] = []

  /** @param maxNodes how many nodes have series of their own */
  constructor(balancer: Watchable, maxNodes: number) {
    this.#balancer = balancer
    this.#named = new NamedNodes(maxNodes)
  }

  /** All values as they are now. Nodes of which no more is told have a last 0 where that is right. */
  observe(): readonly Point[] {
    this.#points = []
    const nodes: readonly NodeSnapshot[] = this.#balancer.snapshot()
    const stats = this.#balancer.stats()
    this.#countPicks(stats)
    this.#countPolls(stats)
    this.#countMembers(nodes)
    this.#countByNode(nodes, stats, this.#named.update(nodes))
    return this.#points
  }

  #put(metric: MetricKey, value: number, attributes: Attributes = {}): void {
    this.#points.push({ metric, value, attributes: { [BALANCER]: this.#balancer.name, ...attributes } })
  }

  #putAll(metric: MetricKey, attribute: Attribute, values: Readonly<Record<string, number>>): void {
    for (const [word, value] of Object.entries(values)) this.#put(metric, value, { [attribute]: word })
  }

  #countPicks({ picks, guard, health }: BalancerStats): void {
    this.#putAll('emptyPicks', REASON, { no_node: picks.empty, no_load: picks.unknown })
    this.#putAll('fallbacks', REASON, {
      no_key: picks.keyless,
      empty_pool: picks.atRandom,
      bad_pick: picks.badPicks,
      all_limited: guard.failedOpen,
      all_ill: health.timesOpen,
    })
    this.#putAll('passedOver', REASON, { weight: guard.thinned, limit: guard.full, share: guard.capped })
    this.#put('ejections', health.ejections)
  }

  #countPolls({ poll, inBand, picks }: BalancerStats): void {
    this.#putAll('reports', SOURCE, { response: inBand.stored, call: picks.reportsStored })
    if (poll === undefined) return
    this.#putAll('reports', SOURCE, { poll: poll.stored, push: poll.pushed.stored })
    this.#put('polled', poll.asked)
    this.#putAll('pollErrors', ERROR_TYPE, { exit: poll.exit, error: poll.error })
  }

  #countMembers(nodes: readonly NodeSnapshot[]): void {
    const { engine, algorithm, closed } = this.#balancer
    const sizes = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<
      (typeof STATES)[number],
      number
    >
    for (const { state, ejected } of nodes) {
      sizes[state === 'up' && ejected !== undefined ? 'ejected' : state]++
    }
    this.#putAll('poolSize', STATE, sizes)
    this.#put('poolFresh', nodes.filter(({ fresh }) => fresh).length)
    this.#put('bandSize', nodes.filter(({ inBand }) => inBand).length)
    this.#put('info', closed ? 0 : 1, { [ENGINE]: engine, [ALGORITHM]: algorithm.kind })
  }

  #countByNode(
    nodes: readonly NodeSnapshot[],
    { picks, leases }: BalancerStats,
    named: ReadonlySet<string>,
  ): void {
    const countsOf = (count: (node: NodeSnapshot) => number) =>
      nodes.map((node) => ({ id: node.id, count: count(node) }))
    this.#picks.update(
      countsOf((node) => node.picks),
      named,
      picks.picks + picks.arrayPicks,
    )
    this.#ok.update(
      countsOf(({ released, failed }) => released - failed),
      named,
      leases.released - leases.failed - leases.neutral,
    )
    this.#failed.update(
      countsOf(({ failed }) => failed),
      named,
      leases.failed,
    )
    for (const [node, value] of this.#picks.entries()) this.#put('picks', value, { [NODE]: node })
    for (const [node, value] of this.#ok.entries())
      this.#put('leases', value, { [NODE]: node, [OUTCOME]: 'ok' })
    for (const [node, value] of this.#failed.entries()) {
      this.#put('leases', value, { [NODE]: node, [OUTCOME]: 'failed' })
    }
    this.#gauge(nodes, named)
  }

  #gauge(nodes: readonly NodeSnapshot[], named: ReadonlySet<string>): void {
    const isOwn = ({ id }: NodeSnapshot) => named.has(id) && id !== OTHER
    const own = nodes.filter(isOwn)
    const others = nodes.filter((node) => !isOwn(node))
    const told = new Set(own.map(({ id }) => id))
    if (others.length > 0) told.add(OTHER)
    for (const [key, read] of NODE_GAUGE_ENTRIES) {
      for (const node of own) {
        const value = read(node)
        if (value !== undefined) this.#put(key, value, { [NODE]: node.id })
      }
      const values = others.map(read).filter((value) => value !== undefined)
      if (values.length > 0) this.#put(key, together(METRICS[key], values), { [NODE]: OTHER })
    }
    for (const id of this.#told) {
      if (told.has(id)) continue
      const attributes = { [BALANCER]: this.#balancer.name, [NODE]: id }
      for (const metric of ADDED) this.#points.push({ metric, value: 0, attributes, isLast: true })
    }
    this.#told = told
  }
}

/** What several values come to as one. */
function together({ together: how }: Metric, values: readonly number[]): number {
  if (how === 'max') return values.reduce((most, value) => Math.max(most, value))
  const sum = values.reduce((sum, value) => sum + value, 0)
  return how === 'sum' ? sum : sum / values.length
}
