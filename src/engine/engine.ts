import type { Algorithm } from '../algorithms/algorithm.js'
import type { TableMemory } from '../table/memory.js'

/** Which implementation makes the picks. */
export type EngineName = 'native' | 'portable'

/** What a member is allowed: `up` ones alone are picked. */
export const MEMBER_UP = 1
/** Any other state. */
export const MEMBER_OUT = 0

/** The members of one balancer as an engine sees them; three arrays of one length, index = member. */
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

/**
 * What a draw gives in place of a member's index where it compares members of which no load is known, and that is to
 * fail: it names one of them. The inverse of itself.
 */
export function unknownDraw(index: number): number {
  return -2 - index
}

/**
 * What an engine tells of its last refresh, in arrays that JavaScript owns.
 *
 * `facts`: [0] the table's generation, read before any slot, [1] table time from which the view is out of date
 * because a reading expires (`Infinity`: never): the smallest `time + ttl` among fresh readings, plus 1 ms,
 * [2] the size of the band, [3] the number of members with a fresh reading.
 */
export interface View {
  /**
   * What the algorithm takes each member for, or `NOT_ELIGIBLE`: for those that go by CPU, 1/1000 percentage points; for
   * `powerOfTwo` the metric's value, also `NOT_ELIGIBLE` where none is fresh. As long as the members.
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
 * - `random`: every member that is up is eligible, with the value 0, and in the band.
 * - `leastCpu`: the value of a fresh reading is its CPU. What a missing one counts as depends on `missing`: a number,
 *   in 1/1000 points; `mean`: `floor(sum / fresh + 0.5)` over the fresh (50,000 where none is); `exclude`: not
 *   eligible, unless no member is fresh, then 50,000 for all. The band is every eligible member with
 *   `value <= least + threshold`.
 * - `roundRobin`: as `random`, but in turn. `turn` is a whole number: at creation the generator's next number.
 *   A draw is `band[turn % length]`, and then `turn = turn % length + 1`. `pickExcluding` takes the first of
 *   `band[(turn + i) % length]`, i = 0, 1, ..., that is not excluded, and then `turn = (turn + i) % length + 1`.
 * - `spareCapacity`: each member has an estimate (`value`, `time`), kept for as long as a member of the same slot and
 *   slot generation is among the members. At a refresh, a fresh reading of a member that is up makes it `value = cpu`
 *   where there is none yet, and where its time is later than the estimate's,
 *   `value = value + (cpu - value) * (dt / (smoothing + dt))` with `dt` the difference of the times: a first-order lag
 *   with the time constant `smoothing`, by the implicit Euler step; with `smoothing` 0 it is always the CPU. The weight of a member with a fresh reading is
 *   `100,000 - value`; of a missing one the mean of these, `sum / fresh`; with `missing: 'exclude'` such a member is
 *   not eligible. Where no member is fresh, or all weights are 0, every eligible one has the weight 1. The share of an
 *   eligible member is `(1 - minShare) * (weight / total) + minShare / n`, n the eligible members. The value in the
 *   view is `floor(100,000 - weight + 0.5)`, 50,000 where no member is fresh. The band is every eligible member.
 *
 *   A draw takes two numbers from the generator, always: `i = floor(u1 * n / 2^32)` and `u2`; it is the band's entry i
 *   where `u2 < accept[i]`, else entry `alias[i]`. The tables are Vose's: `s[i] = share * n`; entries below 1 go on one
 *   stack and the others on another, in order; while both have one, pop `l` from the small and `g` from the large:
 *   `accept[l] = floor(s[l] * 2^32)`, `alias[l] = g`, `s[g] = s[g] + s[l] - 1`, and `g` goes on the stack that it
 *   belongs to now. Those left over accept always (`2^32`). `pickExcluding` makes the tables anew, from the last
 *   refresh's estimates and freshness, for those that are left.
 *
 * - `leastConnections`: as `random`, but the fewest requests in flight of some. Counts in flight change at any moment, so
 *   a draw reads them as it is made: such a core is *live*, draws are made one at a time, and are never taken back. `n`
 *   is the band's length, `d = min(choices, n)`, or n with `exact`. The candidates are entries of the band: all of
 *   them in order where d = n; else d distinct ones, by Floyd's way: for k = n - d, ..., n - 1, one number gives
 *   `t = floor(u * (k + 1) / 2^32)`, and the candidate is t, or k where t is a candidate already. The first candidate is the
 *   best so far, with one equal; one with fewer in flight takes its place, with one equal; for one with as many, the
 *   equals are counted up, and it takes the place where `floor(u * equals / 2^32)` of another number is 0. In flight is
 *   the slot's count; 0 where the slot belongs to another node or there is none. `pickExcluding` is a draw from the
 *   band without the excluded. `fillShares` gives 1 / n: what it is where all are equally busy.
 *
 * - `powerOfTwo`: as `random`, but the best of some by one metric. A value is fresh as a reading is, by the time of the
 *   metric's own sample; the value in the view is the metric's, `NOT_ELIGIBLE` where it is not fresh. For `inFlight` that
 *   is 0, the load at a draw is the larger of the value and the slot's count, and the core is live; else the load is the
 *   value. `n` is the band's length; where it is 1 a draw gives the one, without a number. With `0 < c < 2^32` for
 *   `c = floor(choiceRate * 2^32)`, one number u says whether it compares: `u < c`; with `c = 2^32` it always does, with
 *   0 never. Where it does not, `random` takes another number as a draw from the band does, and `worker` none: the
 *   band's entry `thread % n`. Where it does, `d = min(choices, n)`, and candidates and best are drawn as for
 *   `leastConnections`, by the load. With `unknown: 'fail'` and a best of load `Infinity` the draw gives
 *   `unknownDraw(index)`, modulo 2^32 in a `Uint32Array`; it is a draw like any other, and takes the same numbers.
 *   `fillShares` gives, where n > 1, `rate * compared + (1 - rate) * rest`, with `rate = c / 2^32` and `rest = 1 / n`, or
 *   for `worker` 1 for its entry and 0 for the others. `compared` is `1 / n` for `inFlight`. Else k members of one load,
 *   with m whose load is no less (they included), have `(r(m) - r(m - k)) / k` each, `r(m)` the product of
 *   `(m - i) / (n - i)` for i = 0, ..., d - 1, in this order, 0 where m < d; 0 where a draw of them fails.
 *
 * The band lists members in member order. A draw from it takes one 32-bit number `u` from the generator and is the
 * band's entry `floor(u * length / 2^32)`, also where the band has one entry (`roundRobin` takes
 * none, `leastConnections` and `powerOfTwo` what is said there).
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
   * One draw of a live core: what `fill` would draw into an array of one. Returns the member's index, or -1 where the
   * band is empty, or an `unknownDraw`. Cores that are not live need not be able to.
   */
  pick(): number
  /** Undoes the last `fill` beyond its first `kept` draws, at most as many as it made; once, and right after it. */
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
   * 1 / band for those in the band, the share for `spareCapacity` and `powerOfTwo`; 0 for the others.
   */
  fillShares(shares: Float64Array): void
}

/** Makes cores over tables. */
export interface Engine {
  readonly name: EngineName
  /**
   * Throws TableError where the algorithm goes by a metric that the table has no room for.
   * @param seed two unsigned 32-bit numbers, low word first
   * @param thread the id of the thread that picks, 0 to 2^32 - 1; default 0
   */
  createCore(
    memory: TableMemory,
    algorithm: Algorithm,
    seed: readonly [number, number],
    thread?: number,
  ): EngineCore
}
