import { type Clock, LONGEST_WAIT, type TimerHandle } from '../clock.js'
import {
  type EngineCore,
  FACT_COUNT,
  FACT_GENERATION,
  FACT_NEXT_EXPIRY,
  type MemberArrays,
  type View,
} from '../engine/engine.js'
import { GENERATION_WORD } from '../table/layout.js'
import type { TableMemory } from '../table/memory.js'
import { tableTime } from '../table/table.js'

/** Where a view's members come from. */
export interface MemberSource {
  /** Whether the members are others than when `memberArrays` was last called. Throws where picks are not allowed. */
  membersChanged(): boolean
  memberArrays(): MemberArrays
}

export interface CoreViewOptions {
  readonly core: EngineCore
  readonly memory: TableMemory
  readonly clock: Clock
  /**
   * Whether expiry is checked by the clock at each pick. Else a timer does it, and each look at the clock that the
   * caller asks for: reading a real clock costs several times what a pick does.
   */
  readonly exact: boolean
  readonly source: MemberSource
}

// Of this module's own: what is imported is no constant to the compiler, but looked up each time.
const GENERATION = GENERATION_WORD

/** The table's generation as the hot path compares it: 31 bits, so that -1 stands for none. */
function generationOf(header: Int32Array): number {
  return Atomics.load(header, GENERATION_WORD) & 0x7fffffff
}

/**
 * The same by a plain read, for a look at each pick: an atomic one is a call in Node.js 20, and takes as long as the
 * rest of a pick. One word can't be torn, and `refresh` reads it atomically before any slot. A compiler might keep a
 * word in a register over a loop of picks; none does, and picks by blocks would see it at the next block.
 */
export function glimpseOfGeneration(header: Int32Array): number {
  return (header[GENERATION] as number) & 0x7fffffff
}

/** Never equal to a generation. */
const STALE = -1

/** An engine core's view of the readings, kept up to date with publications, members and the passing of time. */
export class CoreView {
  /**
   * The generation that the view is of: while it equals the table's, the view may be used as it is. `-1` where members
   * or time make another look necessary, and always where the clock has to be asked each time.
   */
  generation = STALE
  /** Steps at each refresh. */
  revision = 0
  /** Whether each pick is to ask whether the view is out of date: `generation` is that of none, after `invalidate`. */
  isWatched = false
  readonly view: View = { values: new Float64Array(0), facts: new Float64Array(FACT_COUNT) }
  readonly #core: EngineCore
  readonly #memory: TableMemory
  readonly #clock: Clock
  readonly #exact: boolean
  readonly #source: MemberSource
  #seen = STALE
  #hasMembers = false
  #timer: TimerHandle
  #timerAt = Number.POSITIVE_INFINITY

  constructor({ core, memory, clock, exact, source }: CoreViewOptions) {
    this.#core = core
    this.#memory = memory
    this.#clock = clock
    this.#exact = exact
    this.#source = source
  }

  /**
   * Whether `refresh` has something to do.
   * @param lookAtClock whether to ask a real clock too; an injected one is always asked
   */
  isStale(lookAtClock: boolean): boolean {
    if (!this.#hasMembers || this.#source.membersChanged()) return true
    if (this.#seen !== generationOf(this.#memory.header)) return true
    const nextExpiry = this.view.facts[FACT_NEXT_EXPIRY] as number
    if (nextExpiry === Number.POSITIVE_INFINITY || !(this.#exact || lookAtClock)) return false
    return this.#now() >= nextExpiry
  }

  /** Takes in members and readings as they are now. */
  refresh(): void {
    if (!this.#hasMembers || this.#source.membersChanged()) {
      const members = this.#source.memberArrays()
      this.#core.setMembers(members)
      const { length } = members.slots
      if (this.view.values.length !== length) this.view.values = new Float64Array(length)
      this.#hasMembers = true
    }
    const now = this.#now()
    this.#core.refresh(now, this.view)
    this.revision++
    this.#seen = (this.view.facts[FACT_GENERATION] as number) & 0x7fffffff
    if (this.#exact) return
    if (!this.isWatched) this.generation = this.#seen
    this.#arm((this.view.facts[FACT_NEXT_EXPIRY] as number) - now)
  }

  /**
   * What has come into the core since the last refresh makes the view out of date from `at` on.
   * @param at table time, ms
   */
  expiresAt(at: number): void {
    const { facts } = this.view
    if (at >= (facts[FACT_NEXT_EXPIRY] as number)) return
    facts[FACT_NEXT_EXPIRY] = at
    if (!this.#exact) this.#arm(at - this.#now())
  }

  /** Makes the next pick look at members and readings anew. */
  invalidate(): void {
    this.#seen = STALE
    this.generation = STALE
  }

  close(): void {
    this.invalidate()
    this.#clock.clearTimeout(this.#timer)
    this.#timerAt = Number.POSITIVE_INFINITY
  }

  #now(): number {
    return tableTime(this.#memory, this.#clock.now())
  }

  // One timer, and only while there is something to expire. When expiry moves on it stays where it is: it then finds
  // nothing to do but to make the next pick look again.
  #arm(wait: number): void {
    if (wait === Number.POSITIVE_INFINITY) return
    const at = this.#clock.now() + wait
    if (this.#timerAt <= at) return
    this.#clock.clearTimeout(this.#timer)
    this.#timerAt = at
    // One that fires early does no harm.
    this.#timer = this.#clock.setTimeout(
      () => {
        this.#timerAt = Number.POSITIVE_INFINITY
        this.invalidate()
      },
      Math.min(wait, LONGEST_WAIT),
    )
  }
}
