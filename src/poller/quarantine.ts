import type { Clock } from '../clock.js'
import { reasonOf } from '../errors.js'
import type { Answer, Failure } from './answer.js'
import { BackOff, type BackOffOptions } from './back-off.js'
import type { PlacedMember } from './member.js'
import type { Place } from './store.js'
import { touch } from './touched.js'

/** How long a member is left out for the first time, and then. */
const WAITS: BackOffOptions = { first: 5_000, factor: 2, longest: 300_000, jitter: 0.2 }
/** A member that was well for so long, ms, is left out as for the first time again. */
const HEALTHY_TIME = 60_000

/** What a quarantine works with. */
export interface QuarantineOptions {
  readonly clock: Clock
  /** Makes the member, each time that it comes back. */
  readonly make: () => PlacedMember
  /** Uniform in [0, 1), for the jitter. */
  readonly random: () => number
  /** It is left out from now on. */
  readonly onFault: (failure: Failure) => void
}

/**
 * A member whose exceptions concern itself alone. Members catch what nodes are known to do; what they do not catch, since
 * nobody thought of it, ends here: the member is closed, fails in each round, and is made anew after a wait that grows.
 */
export class QuarantinedMember implements PlacedMember {
  readonly id: string
  readonly slot: number
  readonly generation: number
  readonly #options: QuarantineOptions
  readonly #backOff: BackOff
  #member: PlacedMember | undefined
  #madeAt = 0
  #until = Number.NEGATIVE_INFINITY
  #failure: Failure = { kind: 'error', reason: 'it was not asked yet' }
  #closed = false

  constructor(id: string, { slot, generation }: Place, options: QuarantineOptions) {
    this.id = id
    this.slot = slot
    this.generation = generation
    this.#options = options
    this.#backOff = new BackOff(WAITS, options.random)
    this.#make()
  }

  async ask(): Promise<Answer> {
    if (this.#member === undefined && this.#options.clock.now() >= this.#until) this.#make()
    const member = this.#member
    if (member === undefined) return this.#failure
    let answer: Answer
    try {
      touch(member)
      answer = await member.ask()
    } catch (error) {
      this.fault(member, error)
      return this.#failure
    }
    return this.#member === undefined && !this.#closed ? this.#failure : answer
  }

  cancel(reason: string): void {
    this.#guarded((member) => member.cancel(reason))
  }

  close(): void {
    this.#closed = true
    this.#guarded((member) => member.close?.())
  }

  /**
   * Handling what this member's node sent threw.
   * @param member the one that it was, which may have been left out meanwhile
   */
  fault(member: PlacedMember, error: unknown): void {
    if (this.#member === member) this.#leaveOut(error)
  }

  /** Whether it is this one's member that is asked at present. */
  has(member: object): boolean {
    return this.#member === member
  }

  #guarded(step: (member: PlacedMember) => void): void {
    const member = this.#member
    if (member === undefined) return
    try {
      step(member)
    } catch (error) {
      this.fault(member, error)
    }
  }

  #make(): void {
    const { clock, make } = this.#options
    this.#madeAt = clock.now()
    try {
      this.#member = make()
    } catch (error) {
      this.#leaveOut(error)
    }
  }

  #leaveOut(error: unknown): void {
    const { clock, onFault } = this.#options
    const member = this.#member
    this.#member = undefined
    const now = clock.now()
    if (now - this.#madeAt >= HEALTHY_TIME) this.#backOff.reset()
    const wait = this.#backOff.next()
    this.#until = now + wait
    const reason = `what it sent could not be handled (${reasonOf(error)}); left out for ${Math.round(wait / 1_000)} s`
    this.#failure = { kind: 'error', reason }
    // Told first: an ask that ends with the member then ends with this.
    if (!this.#closed) onFault(this.#failure)
    try {
      member?.close?.()
    } catch {
      // It has failed already, and is let go of.
    }
  }
}
