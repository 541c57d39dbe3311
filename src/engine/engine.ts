import type { Algorithm } from '../algorithms/algorithm.js'
import type { TableMemory } from '../table/memory.js'

/** Which implementation makes the picks. */
export type EngineName = 'native' | 'portable'

/** What a member is allowed: `up` ones alone are picked. */
export const MEMBER_UP = 1
/** Any other state: drain, maint or down. */
export const MEMBER_OUT = 0

/** The members of one balancer as an engine sees them; three arrays of one length, index = member. */
export interface MemberArrays {
  /** Slot of each member, or `NO_SLOT` for a node that the table does not know. */
  readonly slots: Uint32Array
  /** Slot generation that the member was given its slot with; a reading with another tag counts as missing. */
  readonly generations: Uint32Array
  /** `MEMBER_UP` or `MEMBER_OUT`. */
  readonly states: Uint8Array
}

/** Indices into `View.facts`. */
export const FACT_GENERATION = 0
export const FACT_NEXT_EXPIRY = 1
export const FACT_BAND = 2
export const FACT_FRESH = 3
export const FACT_COUNT = 4

/** Value of a member that may not be picked now: out, or excluded for want of a reading. */
export const NOT_ELIGIBLE = 0xffffffff

/**
 * What an engine tells of its last refresh, in arrays that JavaScript owns.
 *
 * `facts`: [0] the table's generation, read before any slot, [1] table time from which the view is out of date
 * because a reading expires (`Infinity`: never): the smallest `time + ttl` among fresh readings, plus 1 ms,
 * [2] the size of the band, [3] the number of members with a fresh reading.
 */
export interface View {
  /** Effective CPU of each member in 1/1000 percentage points, or `NOT_ELIGIBLE`. As long as the members. */
  values: Uint32Array
  readonly facts: Float64Array
}

/**
 * One set of members, one algorithm, one generator: what a balancer picks with. Both engines make the same draws in
 * the same order for the same calls; this is the whole of what they must agree on.
 *
 * - `random`: every member that is up is eligible, with the value 0. The band is all of them.
 * - `leastCpu`: the value of a fresh reading is its CPU; fresh is `now - time <= ttl` (a time in the future is fresh).
 *   What a missing one counts as depends on `missing`: a number, in 1/1000 points; `mean`:
 *   `floor(sum / fresh + 0.5)` over the fresh (50,000 where none is); `exclude`: not eligible, unless no member
 *   is fresh, then 50,000 for all. The band is every eligible member with `value <= least + threshold`.
 *
 * The band lists members in member order. A draw takes one 32-bit number `u` from the generator and is the band's
 * entry `floor(u * length / 2^32)`, also where the band has one entry.
 */
export interface EngineCore {
  readonly name: EngineName
  /** Replaces the members; `refresh` must be the next call. The generator is left where it is. */
  setMembers(members: MemberArrays): void
  /** Reads the table's generation, then the readings; computes the band anew and fills the view. */
  refresh(now: number, view: View): void
  /**
   * Draws `into.length` decisions (member indices) from the band of the last refresh. Returns how many were drawn:
   * all, or 0 where the band is empty (the generator is then left where it was).
   */
  fill(into: Uint32Array): number
  /** Undoes the last `fill` beyond its first `kept` draws, at most as many as it made; once, and right after it. */
  rewind(kept: number): void
  /**
   * One draw as though the members at `excluded` (indices, any order, repeats allowed, out of range ignored) were
   * not up: their values play no part in `mean`, in the least, or in the band. Returns the member's index, or -1
   * where no one is left (the generator is then left where it was). Uses the effective readings of the last
   * refresh. Invalidates `rewind`.
   */
  pickExcluding(excluded: Uint32Array): number
}

/** Makes cores over tables. */
export interface Engine {
  readonly name: EngineName
  /**
   * @param seed two unsigned 32-bit numbers, low word first
   */
  createCore(memory: TableMemory, algorithm: Algorithm, seed: readonly [number, number]): EngineCore
}
