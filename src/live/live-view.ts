import type { ReasonCode, Rules } from '../balancer/reasons.js'
import type { EjectionSnapshot } from '../balancer/snapshot.js'
import type { MemberState, Order, Told } from '../balancer/standings.js'
import type { BalancerStats } from '../balancer/stats.js'
import type { SuspicionReason } from '../balancer/suspicion.js'
import type { EngineName } from '../engine/engine.js'
import type { PollFailure } from '../poller/failures.js'
import type { KeptReport } from '../report.js'

/** A running balancer as `serve` shows it: plain data, the same for the page, `idlest top` and `GET /snapshot`. */
export interface LiveView {
  /** The balancer's name. */
  readonly balancer: string
  readonly engine: EngineName
  /** What the algorithm is called, such as `leastCpu`. */
  readonly algorithm: Rules['algorithm']
  /** What decides who is picked, such as `ttl` and `threshold`. */
  readonly rules: Rules
  /** Time since the balancer is served, ms, by its clock. */
  readonly time: number
  /** Time since the process started, ms. */
  readonly uptime: number
  /** Time over which `picksPerSecond` and `sentShare` were counted, ms: since the last look, or the start of serving. */
  readonly window: number
  /** What polling has come to; undefined with `poll: false`. */
  readonly poll: LivePoll | undefined
  /** Picks so far, those from arrays too. */
  readonly picks: number
  readonly picksPerSecond: number
  /** Picks that found no node, so far. */
  readonly empty: number
  /** Every counter of the balancer. */
  readonly stats: BalancerStats
  /** The members, in their order. */
  readonly nodes: readonly LiveNode[]
}

/** What polling has come to, since the balancer was made. */
export interface LivePoll {
  /** Pause between two cycles, ms. */
  readonly interval: number
  /** Complete cycles. */
  readonly cycles: number
  /** Members asked. */
  readonly asked: number
  /** Reports stored, pushed ones too. */
  readonly stored: number
  /** Answers with a bad status, size, shape or value. */
  readonly errors: number
  /** Members that refused, reset, timed out or closed. */
  readonly exits: number
  /** Members that did not answer well when they were asked last. */
  readonly failing: number
}

/** One member. */
export interface LiveNode {
  readonly id: string
  /** The gravest of what was ordered here and what the node told. */
  readonly state: MemberState
  readonly order: Order
  /** What it told of itself: state, weight, most requests in flight. */
  readonly told: Told
  /** Its weight in the algorithm's own weights, where that has some. */
  readonly fixedWeight?: number | undefined
  /** CPU that it reported last, percent, however old. */
  readonly cpu?: number | undefined
  /** Age of the sample that the algorithm goes by, ms. */
  readonly age?: number | undefined
  /** Whether that sample counts. */
  readonly fresh: boolean
  /** What `weightedRoundRobin` takes its weight for. */
  readonly weight?: number | undefined
  /** What the algorithm takes its load for: CPU in percent, or the metric's value. */
  readonly effective?: number | undefined
  /** For `adaptive`: response time to expect for each request there, ms. */
  readonly cost?: number | undefined
  /** The chance that the next draw is this node, 0-1. */
  readonly share: number
  /** Its part of the picks of members within the view's `window`, 0-1; undefined where there were none. */
  readonly sentShare?: number | undefined
  /** Requests in flight by this process. */
  readonly inFlight: number
  /** Picks since it became a member. */
  readonly picks: number
  readonly picksPerSecond: number
  /** Leases released since then, and how many of these had failed. */
  readonly released: number
  readonly failed: number
  /** Mean of the latencies told at release, ms. */
  readonly latency?: number | undefined
  /** Where it is ejected: why, and for how long yet, ms. */
  readonly ejected?: Pick<EjectionSnapshot, 'reason' | 'remaining'> | undefined
  /** Why it gets half of its share. */
  readonly suspect?: SuspicionReason | 'elsewhere' | undefined
  /** Whether it has had its `maxShare` of the last picks. */
  readonly isCapped: boolean
  /** Polls in a row that it did not answer well, and what the last came to; undefined where it did, or is not polled. */
  readonly poll?: PollFailure | undefined
  /** What is known of its reports, however old each part is. */
  readonly report: KeptReport
  /** Why it is not picked now; undefined: it may be. */
  readonly reason: ReasonCode | undefined
  /** The same in words. */
  readonly why: string | undefined
}
