import { setImmediate as nextTurn } from 'node:timers/promises'
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
  'name' | 'engine' | 'algorithm' | 'closed' | 'stats' | 'snapshotParts'
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

/** So many nodes are counted in one turn of the event loop, which takes some 0.2 ms. */
const NODES_A_TURN = 256

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

  /**
   * All values as they are now. Nodes of which no more is told have a last 0 where that is right. Lets the event loop turn
   * between some dozens of members. Observe once at a time.
   */
  async observe(): Promise<readonly Point[]> {
    this.#points = []
    this.#named.begin()
    const pool = new Pool()
    const nodes: NodeSnapshot[] = []
    let stats: BalancerStats | undefined
    for (const part of this.#balancer.snapshotParts()) {
      // In the turn of the first part, which has all picks so far: later ones would be those of no member.
      if (stats === undefined) stats = this.#balancer.stats()
      else await nextTurn()
      for (const node of part) {
        nodes.push(node)
        pool.add(node)
        this.#named.note(node)
      }
    }
    stats ??= this.#balancer.stats()
    this.#countPicks(stats)
    this.#countPolls(stats)
    this.#countMembers(pool)
    await this.#countByNode(nodes, stats, this.#named.end())
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

  #countMembers({ sizes, fresh, inBand }: Pool): void {
    const { engine, algorithm, closed } = this.#balancer
    this.#putAll('poolSize', STATE, sizes)
    this.#put('poolFresh', fresh)
    this.#put('bandSize', inBand)
    this.#put('info', closed ? 0 : 1, { [ENGINE]: engine, [ALGORITHM]: algorithm.kind })
  }

  async #countByNode(
    nodes: readonly NodeSnapshot[],
    { picks, leases }: BalancerStats,
    named: ReadonlySet<string>,
  ): Promise<void> {
    const counts = [this.#picks, this.#ok, this.#failed]
    for (const count of counts) count.begin()
    const told = new Set<string>()
    const others = NODE_GAUGE_ENTRIES.map(([key]) => new Together(METRICS[key]))
    for (const [i, node] of nodes.entries()) {
      if (i % NODES_A_TURN === 0 && i > 0) await nextTurn()
      const { id, released, failed } = node
      const isNamed = named.has(id)
      this.#picks.note(id, node.picks, isNamed)
      this.#ok.note(id, released - failed, isNamed)
      this.#failed.note(id, failed, isNamed)
      const isOwn = isNamed && id !== OTHER
      told.add(isOwn ? id : OTHER)
      for (const [k, [key, read]] of NODE_GAUGE_ENTRIES.entries()) {
        const value = read(node)
        if (value === undefined) continue
        if (isOwn) this.#put(key, value, { [NODE]: id })
        else others[k]?.add(value)
      }
    }
    this.#picks.end(picks.picks + picks.arrayPicks)
    this.#ok.end(leases.released - leases.failed - leases.neutral)
    this.#failed.end(leases.failed)
    for (const [node, value] of this.#picks.entries()) this.#put('picks', value, { [NODE]: node })
    for (const [node, value] of this.#ok.entries())
      this.#put('leases', value, { [NODE]: node, [OUTCOME]: 'ok' })
    for (const [node, value] of this.#failed.entries()) {
      this.#put('leases', value, { [NODE]: node, [OUTCOME]: 'failed' })
    }
    for (const [k, [key]] of NODE_GAUGE_ENTRIES.entries()) {
      const value = others[k]?.value
      if (value !== undefined) this.#put(key, value, { [NODE]: OTHER })
    }
    this.#endGauges(told)
  }

  #endGauges(told: Set<string>): void {
    for (const id of this.#told) {
      if (told.has(id)) continue
      const attributes = { [BALANCER]: this.#balancer.name, [NODE]: id }
      for (const metric of ADDED) this.#points.push({ metric, value: 0, attributes, isLast: true })
    }
    this.#told = told
  }
}

/** How many members stand in which way. */
class Pool {
  readonly sizes = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<
    (typeof STATES)[number],
    number
  >
  fresh = 0
  inBand = 0

  add({ state, ejected, fresh, inBand }: NodeSnapshot): void {
    this.sizes[state === 'up' && ejected !== undefined ? 'ejected' : state]++
    if (fresh) this.fresh++
    if (inBand) this.inBand++
  }
}

/** What several values come to as one. */
class Together {
  readonly #how: Metric['together']
  #count = 0
  #value = 0

  constructor({ together }: Metric) {
    this.#how = together
  }

  add(value: number): void {
    this.#value =
      this.#how === 'max' && this.#count > 0
        ? Math.max(this.#value, value)
        : value + (this.#how === 'max' ? 0 : this.#value)
    this.#count++
  }

  /** Undefined of none. */
  get value(): number | undefined {
    if (this.#count === 0) return undefined
    return this.#how === 'mean' ? this.#value / this.#count : this.#value
  }
}
