import { shown } from '../errors.js'
import { MAX_VALUE } from '../reports/values.js'
import { enterFlight, leaveFlight } from '../table/in-flight.js'
import type { TableMemory } from '../table/memory.js'
import { warn } from '../warn.js'
import { causeOf, type FailureCause } from './failure-causes.js'
import type { Member } from './member.js'
import type { NodeLike } from './node.js'

/** How the work of a lease went. */
export interface Outcome {
  /** Whether it succeeded. Default: true without an `error`. */
  ok?: boolean | undefined
  /**
   * What went wrong. Default: nothing. idlest looks at its code and causes: a connection that was refused is not taken for
   * overload; an `AbortError`, an idle connection that the server had closed, and an HTTP/2 stream that it refused make the
   * outcome neutral.
   */
  error?: unknown | undefined
  /**
   * Which kind of failure it was, where it failed. `'refused'`: nothing accepts connections at the node. Others, such as
   * `'timeout'`, are for algorithms of your own. Default: what the error says.
   */
  kind?: string | undefined
  /**
   * How long it took, ms. Anything but a number from 0 to 1e12 is ignored and counted. Default: not known; then what
   * learns from it takes the time since the lease began.
   */
  latency?: number | undefined
  /**
   * True where it says nothing of the node, as where the caller gave up: neither a success nor a failure, and nothing is
   * learned from it. Default false.
   */
  neutral?: boolean | undefined
}

/** Counts over all leases of a balancer. */
export interface LeaseCounters {
  /** Leases that were taken. */
  acquired: number
  /** Leases that were released. */
  released: number
  /** Releases that told of a failure. */
  failed: number
  /** Releases that said nothing of the node. */
  neutral: number
  /** Failures while this process stood still, such as a time-out: they count as neutral. By algorithms that learn alone. */
  paused: number
  /** Failures of leases that began before their node was last ejected: they count for nothing else. */
  failedLate: number
  /** Releases of a lease that had been released: they change nothing. */
  releasedTwice: number
  /** Releases of leases that count no more: their node had left, or left and come back; or never did. */
  releasedLate: number
  /** Latencies that were no number from 0 to 1e12, and were ignored. */
  badLatency: number
  /** Outcomes that are not objects, or whose fields are all unknown, such as `{ failed: true }`. Each counts as neutral. */
  badOutcome: number
}

export function newLeaseCounters(): LeaseCounters {
  return {
    acquired: 0,
    released: 0,
    failed: 0,
    neutral: 0,
    paused: 0,
    failedLate: 0,
    releasedTwice: 0,
    releasedLate: 0,
    badLatency: 0,
    badOutcome: 0,
  }
}

/** What a lease needs of the balancer that gave it. */
export interface LeaseOwner {
  readonly memory: TableMemory
  readonly leases: LeaseCounters
  /** Called after a release, for those who wait for a node to drain. */
  released(member: Member): void
  /** Called after each release with what was told of it, where someone wants to know. Never throws. */
  readonly ended: ((member: Member, outcome: Outcome | undefined) => void) | undefined
  readonly health: LeaseHealth | undefined
  /** Where the algorithm learns from how leases end. */
  readonly learning: Learning | undefined
}

/** Takes in which leases fail. Not those that began before their member was last ejected. */
export interface LeaseHealth {
  /** A lease has failed: `streak` and `refusals` of the member count it already. */
  failed(member: Member): void
  /** A lease has succeeded, the first since one failed. */
  recovered(member: Member): void
}

/** Learns from how leases end. */
export interface Learning {
  /** A lease begins. Returns clock time, ms. */
  begin(): number
  /** A lease is over, whatever came of it. Returns whether it teaches something. */
  closed(member: Member, start: number): boolean
  /** Whether this process has stood still since then. */
  pausedSince(start: number): boolean
  /**
   * A lease has ended that teaches something.
   * @param left requests in flight at its node now
   * @param latency how long it took, ms; undefined where nobody has said
   * @param start when it began, clock time, ms
   * @param alone whether none of this balancer was open at its node as it began
   */
  ended(
    member: Member,
    left: number,
    ok: boolean,
    latency: number | undefined,
    start: number,
    alone: boolean,
  ): void
}

/**
 * A pick that counts as in flight, for all balancers and threads of the table, until it is released.
 */
export interface Lease<N extends NodeLike = NodeLike> {
  /** The node that was picked. */
  readonly node: N
  /**
   * Ends the lease. Throws nothing but what a getter of the outcome throws: a second release, and one after the node or
   * the balancer has gone, change nothing but a counter; an outcome that is none is left out.
   *
   * @param outcome how the work went; default: it succeeded
   */
  release(outcome?: Outcome): void
  /** As `release()`, for `using`; nothing where it is released. */
  [Symbol.dispose](): void
}

/** A lease from its start to its release. */
export class OpenLease<N extends NodeLike = NodeLike> implements Lease<N> {
  readonly node: N
  readonly #owner: LeaseOwner
  readonly #member: Member<N>
  // The member's era when it began; its complement where the lease is not counted in the table, since the node's count is
  // full or the node left another thread's balancer: then nothing is to be taken back.
  readonly #era: number
  readonly #start: number
  readonly #alone: boolean
  #open = true

  constructor(owner: LeaseOwner, member: Member<N>) {
    this.node = member.node
    this.#owner = owner
    this.#member = member
    owner.leases.acquired++
    this.#start = owner.learning === undefined ? 0 : owner.learning.begin()
    this.#alone = member.open === 0
    member.open++
    const isCounted = enterFlight(owner.memory, member.slot, member.generation)
    this.#era = isCounted ? member.era : ~member.era
  }

  release(outcome?: Outcome): void {
    const owner = this.#owner
    const { leases } = owner
    if (!this.#open) {
      leases.releasedTwice++
      return
    }
    this.#open = false
    const member = this.#member
    leases.released++
    member.open--
    // Before the outcome is looked at: whatever that is, the request is over.
    const left = this.#era >= 0 ? leaveFlight(owner.memory, member.slot, member.generation) : -1
    if (left < 0) leases.releasedLate++
    const taught = owner.learning?.closed(member, this.#start) === false ? -1 : left
    owner.released(member)
    // Most releases end here. This path is short so that the compiler inlines all of it.
    if (outcome === undefined || isPlainSuccess(outcome)) {
      this.#succeed(member, outcome?.latency, taught)
      owner.ended?.(member, outcome)
    } else this.#judge(member, outcome, taught)
  }

  [Symbol.dispose](): void {
    if (this.#open) this.release()
  }

  /** What JSON has of it: of its node the id alone, since the object may hold secrets. */
  toJSON(): object {
    return { node: this.#member.id, released: !this.#open }
  }

  /** What `console.log` shows: the same. */
  [Symbol.for('nodejs.util.inspect.custom')](): object {
    return this.toJSON()
  }

  // Whether its member was ejected since it began.
  get #isLate(): boolean {
    const era = this.#era
    return (era >= 0 ? era : ~era) !== this.#member.era
  }

  // Takes in how it went; `left` is what is in flight at the node now, or below 0 where nothing is to be learned.
  #judge(member: Member<N>, outcome: Outcome, left: number): void {
    const { leases } = this.#owner
    const isKnown = isOutcome(outcome)
    if (!isKnown) countBad(outcome, leases)
    let told = isKnown ? outcome : NEUTRAL
    const cause = told.neutral === true ? undefined : causeOfFailure(told)
    // A copy would lose what getters give.
    if (cause !== undefined && cause !== 'refused') told = NEUTRAL
    if (told.neutral === true) leases.neutral++
    else if (isFailure(told.ok, told.error)) this.#fail(member, told.latency, left, cause === 'refused')
    else this.#succeed(member, told.latency, left)
    this.#owner.ended?.(member, told === NEUTRAL ? { ...(isKnown && outcome), neutral: true } : outcome)
  }

  #succeed(member: Member<N>, latency: unknown, left: number): void {
    member.released++
    if (member.streak !== 0 && !this.#isLate) {
      member.streak = 0
      member.refusals = 0
      this.#owner.health?.recovered(member)
    }
    this.#learn(member, latency, left, true)
  }

  #fail(member: Member<N>, latency: unknown, left: number, isRefused: boolean): void {
    const { leases, health, learning } = this.#owner
    if (!isRefused && learning?.pausedSince(this.#start) === true) {
      leases.neutral++
      leases.paused++
      return
    }
    member.released++
    leases.failed++
    member.failed++
    if (this.#isLate) {
      if (latency !== undefined && !isLatency(latency)) leases.badLatency++
      leases.failedLate++
      member.lateFailures++
      return
    }
    member.streak++
    member.refusals = isRefused ? member.refusals + 1 : 0
    health?.failed(member)
    this.#learn(member, latency, left, false)
  }

  #learn(member: Member<N>, given: unknown, left: number, ok: boolean): void {
    const { leases, learning } = this.#owner
    let latency: number | undefined
    if (given !== undefined) {
      if (isLatency(given)) {
        latency = given
        member.latencySum += given
        member.latencyCount++
      } else leases.badLatency++
    }
    if (left >= 0) learning?.ended(member, left, ok, latency, this.#start, this.#alone)
  }
}

const NEUTRAL: Outcome = { neutral: true }

// Whether nothing else has to be looked at than its latency.
function isPlainSuccess(outcome: Outcome): boolean {
  return typeof outcome === 'object' && outcome !== null && outcome.ok === true && outcome.neutral !== true
}

/** Whether it has a known field, or no fields at all. A misspelt failure must not pass for a success. */
export function isOutcome(value: unknown): value is Outcome {
  if (typeof value !== 'object' || value === null) return false
  const told = value as Outcome
  if (told.ok !== undefined || told.error !== undefined || told.latency !== undefined) return true
  if (told.neutral !== undefined || told.kind !== undefined) return true
  for (const name in value) if (!(name in EVERY_FIELD)) return false
  return true
}

/** What is expected of an outcome, for messages. */
export const OUTCOME = 'an outcome, such as { ok: false } or { neutral: true }'

const EVERY_FIELD = { ok: 0, error: 0, kind: 0, latency: 0, neutral: 0 } satisfies Record<keyof Outcome, 0>

function countBad(outcome: unknown, leases: LeaseCounters): void {
  leases.badOutcome++
  if (leases.badOutcome > 1) return
  warn(
    `release() was given ${shown(outcome)}: expected ${OUTCOME}. It counts as neutral`,
    'IDLEST_BAD_OUTCOME',
  )
}

// What the error of a failure says. A kind other than `refused` has been looked at by whoever gave it.
function causeOfFailure({ ok, error, kind }: Outcome): FailureCause | undefined {
  if (!isFailure(ok, error)) return undefined
  if (kind === 'refused') return 'refused'
  if (typeof error !== 'object' || error === null) return undefined
  const cause = causeOf(error)
  return kind === undefined || cause === 'refused' ? cause : undefined
}

/** Whether the work failed, by what was told of it. */
export function isFailure(ok: unknown, error: unknown): boolean {
  return ok === false || (ok === undefined && error !== undefined)
}

/** Whether a value is a latency, ms. */
export function isLatency(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_VALUE
}
