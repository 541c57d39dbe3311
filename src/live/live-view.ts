import type { ValueColumn } from '../algorithms/definition.js'
import type { ReasonCode, Rules } from '../balancer/reasons.js'
import type { NodeSnapshot } from '../balancer/snapshot.js'
import type { BalancerStats } from '../balancer/stats.js'
import type { EngineName } from '../engine/engine.js'

/** A running balancer as `serve` shows it: plain data, the same for the page, `idlest top` and `GET /snapshot`. */
export interface LiveView extends LiveHead {
  /** The members, in their order. */
  readonly nodes: readonly LiveNode[]
}

/** What is shown of a balancer as a whole. */
export interface LiveHead {
  /** The balancer's name. */
  readonly balancer: string
  /** The engine in use. */
  readonly engine: EngineName
  /** What the algorithm is called, such as `leastCpu`. */
  readonly algorithm: Rules['algorithm']
  /** How the column of what members count as is headed; undefined: they count as nothing. */
  readonly value: ValueColumn | undefined
  /** What decides who is picked, such as `ttl` and `threshold`. */
  readonly rules: Rules
  /** Time since the balancer is served, ms, by its clock. */
  readonly time: number
  /** Time since the process started, ms. */
  readonly uptime: number
  /** From one look to the next while somebody watches, ms. */
  readonly interval: number
  /** Time over which `picksPerSecond` and `sentShare` were counted, ms: since the last look, or the start of serving. */
  readonly window: number
  /** What polling has come to; undefined with `poll: false`. */
  readonly poll: LivePoll | undefined
  /** Picks so far, those from arrays too. */
  readonly picks: number
  /** Picks a second within `window`. */
  readonly picksPerSecond: number
  /** Picks that found no node, so far. */
  readonly empty: number
  /** Every counter of the balancer. */
  readonly stats: BalancerStats
}

/** What polling has come to, since the balancer was made. */
export interface LivePoll {
  /** Pause between two cycles, ms. */
  readonly interval: number
  /** Complete cycles. */
  readonly cycles: number
  /** Members asked. */
  readonly asked: number
  /** Reports stored, those too that came unasked. */
  readonly stored: number
  /** Members with a bad status, size, shape or value. */
  readonly errors: number
  /** Members that refused, reset, timed out or closed. */
  readonly exits: number
  /** Members that failed in the last cycle. */
  readonly failing: number
}

/** What is shown of a member as the balancer has it: what these mean is said at `NodeSnapshot`. */
export type LiveFacts = Pick<
  NodeSnapshot,
  | 'id'
  | 'state'
  | 'order'
  | 'told'
  | 'fixedWeight'
  | 'suspect'
  | 'isReserve'
  | 'part'
  | 'isCapped'
  | 'poll'
  | 'cpu'
  | 'age'
  | 'fresh'
  | 'effective'
  | 'cost'
  | 'weight'
  | 'share'
  | 'report'
  | 'inFlight'
  | 'picks'
  | 'released'
  | 'failed'
  | 'latency'
  | 'ejected'
>

/** One member. */
export interface LiveNode extends LiveFacts {
  /** Within the view's `window`. */
  readonly picksPerSecond: number
  /** Its part of the picks of members within the view's `window`, 0-1; undefined where there were none. */
  readonly sentShare: number | undefined
  /** Why it is not picked now; undefined: it may be. */
  readonly reason: ReasonCode | undefined
  /** The same in words. */
  readonly why: string | undefined
}
