import type { Clock } from '../clock.js'
import type { Learner } from '../engine/engine.js'
import { isLatency, type Learning, type LeaseCounters } from './lease.js'
import type { Member } from './member.js'
import { Pauses } from './pauses.js'
import { TurnClock } from './turn-clock.js'

/** A lease is looked at as open for long after this, ms, and after so many times the mean response time. */
const LONG = 1_000
const TIMES_MEAN = 8
/** Leases of a node that end in the meantime, so that it is that one lease and not the node that takes long. */
const OVERTAKING = 8
/** Responses over which the mean response time is taken. */
const MEMORY = 128

/** What learns from leases. */
export interface LearningOptions {
  readonly learner: Learner
  readonly clock: Clock
  readonly leases: LeaseCounters
  /** The members that the engine knows, by index. */
  readonly members: () => readonly Member[]
}

/**
 * Has an engine learn from how leases end. Two kinds of leases teach nothing: those that were open while this process stood
 * still, and those that later ones have overtaken, such as long polls. The latter do not count as in flight either.
 */
export class LeaseLearning implements Learning {
  readonly #learner: Learner
  readonly #turns: TurnClock
  readonly #pauses: Pauses
  readonly #members: () => readonly Member[]
  // Leases that began before `#epoch` are of the epoch before, those that began before `#before` are older.
  #epoch = Number.NEGATIVE_INFINITY
  #before = Number.NEGATIVE_INFINITY
  #end = Number.NEGATIVE_INFINITY
  #mean = 0

  constructor({ learner, clock, leases, members }: LearningOptions) {
    this.#learner = learner
    this.#turns = new TurnClock(clock)
    this.#pauses = new Pauses(clock, () => leases.acquired > leases.released)
    this.#members = members
  }

  begin(): number {
    const now = this.#turns.now()
    // Also where a clock told a wrong time once.
    if (now >= this.#end || now < this.#epoch) this.#nextEpoch(now)
    this.#pauses.watch(now)
    return now
  }

  closed(member: Member, start: number): boolean {
    if (start >= this.#epoch) return true
    if (start >= this.#before) {
      if (member.earlier > 0) member.earlier--
      return true
    }
    if (member.aside === 0) {
      if (member.old > 0) member.old--
      return true
    }
    member.aside--
    this.#setAside(member)
    return false
  }

  pausedSince(start: number): boolean {
    return this.#pauses.since(start, this.#turns.now())
  }

  ended(
    member: Member,
    left: number,
    ok: boolean,
    latency: number | undefined,
    start: number,
    alone: boolean,
  ): void {
    const now = this.#turns.now()
    if (this.#pauses.since(start, now) || !this.#isKnown(member)) return
    const took = latency ?? now - start
    // As where a clock told a wrong time once.
    if (!isLatency(took)) return
    if (ok) this.#mean += (took - this.#mean) / MEMORY
    this.#learner.ended(member.index, left, ok, took, alone)
  }

  #isKnown(member: Member): boolean {
    return this.#members()[member.index] === member
  }

  #setAside(member: Member): void {
    if (this.#isKnown(member)) this.#learner.setAside(member.index, member.aside)
  }

  #nextEpoch(now: number): void {
    this.#before = this.#epoch
    this.#epoch = now
    this.#end = now + Math.max(LONG, TIMES_MEAN * this.#mean)
    for (const member of this.#members()) this.#age(member)
  }

  #age(member: Member): void {
    if (member.old === 0) member.releasedBefore = member.releasedAtEpoch
    member.releasedAtEpoch = member.released
    member.old += member.earlier
    member.earlier = Math.max(0, member.open - member.old - member.aside)
    if (member.old === 0 || member.released - member.releasedBefore < OVERTAKING) return
    member.aside += member.old
    member.old = 0
    this.#setAside(member)
  }
}
