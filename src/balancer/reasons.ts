import { type LoadReason, shareless, type Unpicked } from '../algorithms/explain.js'
import {
  type Algorithm,
  bandWidthOf,
  definitionOfKind,
  excludesMissing,
  ttlOf,
} from '../algorithms/registry.js'
import { wordsFor } from './reason-words.js'
import type { NodeSnapshot } from './snapshot.js'
import type { TrustSettings } from './trust-options.js'

/** What is looked at of a member to say why it is not picked. */
export type NodeFacts = Pick<
  NodeSnapshot,
  | 'state'
  | 'order'
  | 'told'
  | 'fixedWeight'
  | 'ejected'
  | 'isReserve'
  | 'part'
  | 'cpu'
  | 'age'
  | 'fresh'
  | 'effective'
  | 'share'
  | 'inFlight'
  | 'isCapped'
  | 'poll'
>

/** What is looked at of a balancer: plain data. */
export interface Rules {
  /** Which algorithm picks. */
  readonly algorithm: Algorithm['kind']
  /** Oldest age of a fresh report, ms; undefined where the algorithm reads none, or takes any. */
  readonly ttl: number | undefined
  /** Width of the band, percentage points; undefined where the algorithm has none. */
  readonly threshold: number | undefined
  /** Whether members without a fresh report are left out while others have one. */
  readonly excludesMissing: boolean
  /** The share of the last picks that one member may have. */
  readonly maxShare: number
  /** Failures in a row for which members are ejected; undefined where they are not. */
  readonly failures: number | undefined
  /** Share of failures for which they are, 0-1; undefined where they are not. */
  readonly failureRate: number | undefined
  /** Whether members that are down or ejected are picked, since all are. */
  readonly isOpen: boolean
}

/** Why a member is not picked now, with the numbers that decide it. Times are ms, CPU and thresholds percent. */
export type Reason =
  /** It told that it is in maintenance. */
  | { readonly code: 'maint' }
  /** It told that it drains. */
  | { readonly code: 'drain' }
  /** It told that it is ill. */
  | { readonly code: 'down' }
  /** `drain` was called for it. */
  | { readonly code: 'ordered' }
  /** Its weight is 0: it told so, or the weights of the algorithm or of a discovery have it. */
  | { readonly code: 'weight'; readonly isTold: boolean; readonly isFound?: boolean }
  | {
      readonly code: 'ejected'
      readonly by: NonNullable<NodeSnapshot['ejected']>['reason']
      readonly remaining: number | undefined
      /** What members are ejected for: failures in a row, or a share of failures. */
      readonly limit: number | undefined
    }
  /** Others come first by whoever found the nodes. */
  | { readonly code: 'reserve' }
  /** Nothing is known of its load, and that is needed. */
  | { readonly code: 'unheard'; readonly pollError: string | undefined }
  /** What is known of its load is too old. */
  | {
      readonly code: 'expired'
      readonly age: number
      readonly ttl: number
      readonly pollError: string | undefined
    }
  /** It has as many requests in flight as it takes. */
  | { readonly code: 'full'; readonly inFlight: number; readonly limit: number }
  /** It has had its share of the last picks. */
  | { readonly code: 'capped'; readonly maxShare: number }
  | LoadReason

/** A reason that does not depend on the algorithm. */
export type OwnReason = Exclude<Reason, LoadReason>

/** The codes of `Reason`. */
export type ReasonCode = Reason['code']

/** What of a balancer decides why members are not picked. */
export function rulesOf(algorithm: Algorithm, { health, maxShare }: TrustSettings, isOpen: boolean): Rules {
  const ttl = ttlOf(algorithm)
  const rate = health === false ? false : health.failureRate
  return {
    algorithm: algorithm.kind,
    ttl: ttl === Number.POSITIVE_INFINITY ? undefined : ttl,
    threshold: bandWidthOf(algorithm),
    excludesMissing: excludesMissing(algorithm),
    maxShare,
    failures: health === false ? undefined : health.consecutiveFailures || undefined,
    failureRate: rate === false ? undefined : rate.threshold,
    isOpen,
  }
}

/**
 * Why each member is not picked now, in data and in words; undefined where it may be. What depends on chance is no reason: a member of a small
 * share may be picked, and so may one that is suspect.
 * @param nodes all members
 */
export function reasonsOf(nodes: readonly NodeFacts[], rules: Rules): (Unpicked<Reason> | undefined)[] {
  const reasons = new Reasons(rules)
  for (const node of nodes) reasons.note(node)
  return nodes.map((node) => reasons.of(node))
}

/** As `reasonsOf`, member by member: first note all of them. */
export class Reasons {
  readonly #rules: Rules
  readonly #others = { hasRoom: false, least: Number.POSITIVE_INFINITY }

  constructor(rules: Rules) {
    this.#rules = rules
  }

  note(node: NodeFacts): void {
    if (isFull(node) || node.isCapped || standingReason(node, this.#rules) !== undefined) return
    const { effective } = node
    this.#others.hasRoom = true
    if (effective !== undefined && effective < this.#others.least) this.#others.least = effective
  }

  /** Why a member is not picked now. */
  of(node: NodeFacts): Unpicked<Reason> | undefined {
    return worded(standingReason(node, this.#rules)) ?? loadReason(node, this.#rules, this.#others)
  }
}

function worded(reason: OwnReason | undefined): Unpicked<OwnReason> | undefined {
  return reason && { reason, words: wordsFor(reason) }
}

/** What the reason of one depends on of the others. */
interface Others {
  /** Whether somebody is below its limits: who is not is passed over then. */
  readonly hasRoom: boolean
  /** The least load of those that could: what the band starts from where they are drawn. */
  readonly least: number
}

function isFull({ told: { maxInFlight = 0 }, inFlight }: NodeFacts): boolean {
  return maxInFlight > 0 && inFlight >= maxInFlight
}

// What was ordered or told, and what became of its requests: whatever the algorithm.
function standingReason(node: NodeFacts, rules: Rules): OwnReason | undefined {
  const { told, order, fixedWeight, part, ejected } = node
  if (told.state === 'maint') return { code: 'maint' }
  if (order === 'drain') return { code: 'ordered' }
  if (told.state === 'drain') return { code: 'drain' }
  if (told.weight === 0) return { code: 'weight', isTold: true }
  if (fixedWeight === 0) return { code: 'weight', isTold: false }
  if (part === 0) return { code: 'weight', isTold: false, isFound: true }
  const reserve = node.isReserve ? ({ code: 'reserve' } as const) : undefined
  if (rules.isOpen) return reserve
  if (told.state === 'down') return { code: 'down' }
  if (ejected === undefined) return reserve
  const { reason: by, remaining } = ejected
  return { code: 'ejected', by, remaining, limit: limitOf(by, rules) }
}

function limitOf(by: string, { failures, failureRate }: Rules): number | undefined {
  if (by === 'consecutiveFailures') return failures
  return by === 'failureRate' ? failureRate : undefined
}

function loadReason(node: NodeFacts, rules: Rules, { hasRoom, least }: Others): Unpicked<Reason> | undefined {
  if (node.share > 0) return hasRoom ? worded(limitReason(node, rules)) : undefined
  const { reason, needsReport = false } = definitionOfKind(rules.algorithm).explain
  if ((rules.excludesMissing || needsReport) && !node.fresh) return worded(silentReason(node, rules))
  if (reason === undefined) return shareless()
  return reason(node, { hasFresh: true, least, self: undefined }, rules)
}

function silentReason({ age, poll }: NodeFacts, { ttl }: Rules): OwnReason {
  const pollError = poll?.reason
  if (age === undefined || ttl === undefined) return { code: 'unheard', pollError }
  return { code: 'expired', age, ttl, pollError }
}

function limitReason(node: NodeFacts, { maxShare }: Rules): OwnReason | undefined {
  const { told, inFlight } = node
  if (isFull(node)) return { code: 'full', inFlight, limit: told.maxInFlight ?? 0 }
  return node.isCapped ? { code: 'capped', maxShare } : undefined
}
