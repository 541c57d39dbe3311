import type { EngineAlgorithm } from '../algorithms/registry.js'
import type { TableMemory } from '../table/memory.js'
import type { OwnFlights } from '../table/own-flights.js'
import type { KeyTables } from './key-tables.js'

/** Which implementation makes the picks. */
export type EngineName = 'native' | 'portable'

// These numbers cross to the native engine: npm run lint compares them with crates/core/src/codes.rs.

/** What a member is allowed: `up` ones alone are picked. */
export const MEMBER_UP = 1
/** Any other state. */
export const MEMBER_OUT = 0

/** The members of one balancer as an engine sees them; four arrays of one length, index = member. */
export interface MemberArrays {
  /** Slot of each member, or `NO_SLOT` for a node that the table does not know. */
  readonly slots: Uint32Array
  /** Slot generation that the member was given its slot with; a reading with another tag counts as missing. */
  readonly generations: Uint32Array
  /** `MEMBER_UP` or `MEMBER_OUT`. A member whose weight is 0 is out. */
  readonly states: Uint8Array
  /** The fixed weight of each member, above 0 and finite; 1 where the algorithm gives none. */
  readonly weights: Float64Array
}

/** Indices into `View.facts`. */
export const FACT_GENERATION = 0
export const FACT_NEXT_EXPIRY = 1
export const FACT_BAND = 2
export const FACT_FRESH = 3
export const FACT_COUNT = 4

/** Value of a member that may not be picked now: out, or excluded for want of a reading. */
export const NOT_ELIGIBLE = Number.POSITIVE_INFINITY

/** What a draw gives in place of a member's index where no member may be picked. */
export const NO_ONE = -1
/** What an `unknownDraw` of the member at 0 is; those of further members are one less each. */
const UNKNOWN_LOAD = -2

/**
 * What a draw gives in place of a member's index where it compares members of which no load is known, and that is to
 * fail: it names one of them. The inverse of itself.
 */
export function unknownDraw(index: number): number {
  return UNKNOWN_LOAD - index
}

/**
 * What an engine tells of its last refresh, in arrays that JavaScript owns.
 *
 * `facts`: [0] the table's generation, read before any slot, [1] table time from which the view is out of date
 * (`Infinity`: never): the smallest `time + ttl` among fresh readings, plus 1 ms, unless the algorithm's definition says
 * otherwise, [2] the size of the band, [3] the number of members with a fresh reading of what the algorithm reads; 0 where
 * it reads none.
 */
export interface View {
  /**
   * The value that the algorithm's definition gives each member, or `NOT_ELIGIBLE`; CPU is in 1/1000 percentage points.
   * As long as the members.
   */
  values: Float64Array
  readonly facts: Float64Array
}

/**
 * One set of members, one algorithm, one generator: what a balancer picks with. Both engines make the same draws in
 * the same order for the same calls; this is the whole of what they must agree on. Floating-point operations are made
 * in the order in which they are written here, sums in member order.
 *
 * A reading is *fresh* where it is of the member's slot generation and `now - time <= ttl` (a time in the future is
 * fresh). A member is *eligible* where it may be picked; members that are not up never are.
 *
 * Each algorithm's own part of this stands with its definition: `src/algorithms/NAME/index.ts`.
 *
 * What goes around a core, in TypeScript and over either engine, is no part of this: turns that threads share, the local
 * node first, and pickers of the user's own (`src/balancer/cores.ts`).
 *
 * The band lists members in member order. A draw from it takes one 32-bit number `u` from the generator and is the
 * band's entry `floor(u * length / 2^32)`, also where the band has one entry, unless the algorithm's definition says
 * otherwise.
 */
export interface EngineCore {
  readonly name: EngineName
  /** Whether draws depend on what changes without a publication: then they can't be made ahead. */
  readonly live: boolean
  /** Replaces the members; `refresh` must be the next call. The generator is left where it is. */
  setMembers(members: MemberArrays): void
  /** Reads the table's generation, then the readings; computes the band anew and fills the view. */
  refresh(now: number, view: View): void
  /**
   * Draws `into.length` decisions (member indices) from the band of the last refresh. Returns how many were drawn:
   * all, or 0 where the band is empty (the generator is then left where it was). Some may be `unknownDraw`s.
   */
  fill(into: Uint32Array): number
  /**
   * Draws pairs in place of decisions, `PAIR_WORDS` each, where draws are of pairs, by requests in flight alone and without
   * weights: `leastConnections`, and `powerOfTwo` by `inFlight` with a `choiceRate` of 1. Which of a pair is the decision is
   * seen when it comes to it, and is what `pick` would then give. Returns how many were drawn: all, or 0 where draws are not such
   * (the generator is then left where it was). For a core whose `pick` costs more than a few reads; others need not be able to. Undone by `rewind`, as decisions are.
   *
   * The words of a pair: [0] the index of the member drawn first, [1] the 32-bit word of the table in which its requests in
   * flight are counted, [2] what that word is where there are none: any other upper 12 bits count as none, and 0 and 0 stand
   * for no slot, [3] 1 where it is the decision in a tie, else 0, [4, 5, 6] the same of the other member, [7] not used, [8, 9]
   * the first member's value in the view (a double), [10, 11] the other's. The load is the larger of value and count.
   */
  fillPairs?(into: Uint32Array): number
  /**
   * One draw of a live core: what `fill` would draw into an array of one. Returns the member's index, or -1 where the
   * band is empty, or an `unknownDraw`. Cores that are not live need not be able to.
   */
  pick(): number
  /**
   * Takes what a member (an index) said, for a core that has a pool: adds it, and moves `seen` on to its time; nothing happens where the
   * member is not up. Cores that can't have one need not be able to.
   * @param latency ms; NaN: unknown
   * @param time table time of the sample, ms
   * @returns table time from which the view is out of date because an entry expires
   */
  probed?(member: number, inFlight: number, latency: number, time: number): number
  /** Draws so far that were made at random for want of entries. */
  atRandom?(): number
  /** What learns from how picks end, where the algorithm does. */
  readonly learner?: Learner | undefined
  /** Undoes the last `fill` or `fillPairs` beyond its first `kept` draws, at most as many as it made; once, and right after it. */
  rewind(kept: number): void
  /**
   * One draw as though the members at `excluded` (indices, any order, repeats allowed, out of range ignored) were
   * not up: their values play no part in `mean`, in the least, or in the band. Returns the member's index, or -1
   * where no one is left (the generator is then left where it was), or an `unknownDraw`. Uses the effective readings of the last
   * refresh. Invalidates `rewind`.
   */
  pickExcluding(excluded: Uint32Array): number
  /**
   * The probability of each member at the next draw, as of the last refresh, into `shares`, as long as the members:
   * 1 / band for those in the band, the share where there are such; 0 for the others.
   */
  fillShares(shares: Float64Array): void
  /** Reports that refreshes have passed over so far because the algorithm can't go by them; undefined: none ever. */
  readonly ignored?: number
}

/** Learns from what becomes of a core's picks. */
export interface Learner {
  /** A pick of this member, by `pick` or `pickExcluding`, is no lease: nobody will tell how it ended. */
  sent(index: number): void
  /**
   * A lease on this member has ended.
   * @param left requests in flight there now
   * @param latency how long it took, ms
   * @param alone whether none of this balancer's requests was in flight there as it began
   */
  ended(index: number, left: number, ok: boolean, latency: number, alone: boolean): void
  /** So many of the requests in flight at this member have been overtaken by later ones, and say nothing of it any more. */
  setAside(index: number, count: number): void
}

/** Makes cores over tables. */
export interface Engine {
  readonly name: EngineName
  /** Builds what keys are looked up in. */
  readonly keyTables: KeyTables
  /**
   * Keeps a ledger of the requests in flight that this thread counts in a table, and takes them back when the thread ends.
   * Absent where that can't be known of a thread that is terminated.
   */
  readonly ownFlights?: (table: Uint8Array, ledger: Uint8Array) => OwnFlights
  /**
   * Throws TableError where the algorithm goes by a metric that the table has no room for.
   * @param seed two unsigned 32-bit numbers, low word first
   * @param thread the id of the thread that picks, 0 to 2^32 - 1; default 0
   */
  createCore(
    memory: TableMemory,
    algorithm: EngineAlgorithm,
    seed: readonly [number, number],
    thread?: number,
  ): EngineCore
}
