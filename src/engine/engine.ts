import type { EngineAlgorithm } from '../algorithms/algorithm.js'
import type { TableMemory } from '../table/memory.js'
import type { OwnFlights } from '../table/own-flights.js'
import type { KeyTables } from './key-tables.js'

/** Which implementation makes the picks. */
export type EngineName = 'native' | 'portable'

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

/**
 * What a draw gives in place of a member's index where it compares members of which no load is known, and that is to
 * fail: it names one of them. The inverse of itself.
 */
export function unknownDraw(index: number): number {
  return -2 - index
}

/** 32-bit words of a pair, as `EngineCore.fillPairs` draws them. */
export const PAIR_WORDS = 12

/**
 * What an engine tells of its last refresh, in arrays that JavaScript owns.
 *
 * `facts`: [0] the table's generation, read before any slot, [1] table time from which the view is out of date
 * (`Infinity`: never) because a reading expires: the smallest `time + ttl` among fresh readings, plus 1 ms; or because
 * weights change (`weightedRoundRobin`), an entry expires (`prequal`) or what was learned has to fade (`adaptive`),
 * [2] the size of the band, [3] the number of members with a fresh reading: of CPU, of the metric (`powerOfTwo`), or
 * whose weight is known by reports (`weightedRoundRobin`); 0 for those that read none.
 */
export interface View {
  /**
   * What the algorithm takes each member for, or `NOT_ELIGIBLE`: for those that go by CPU, 1/1000 percentage points; for
   * `powerOfTwo` the metric's value, also `NOT_ELIGIBLE` where none is fresh; for `weightedRoundRobin` the weight; for
   * `adaptive` the cost, ms; 0 for the others. As long as the members.
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
 * - `random`: every member that is up is eligible, with the value 0, and in the band. With `weights`, the share of an
 *   eligible member is `weight / total`, total the sum over the eligible, and draws are those of `spareCapacity`.
 * - `leastCpu`: the value of a fresh reading is its CPU, smoothed as for `spareCapacity` and then made whole by
 *   `floor(estimate + 0.5)`. What a missing one counts as depends on `missing`: a number,
 *   in 1/1000 points; `mean`: `floor(sum / fresh + 0.5)` over the fresh (50,000 where none is); `exclude`: not
 *   eligible, unless no member is fresh, then 50,000 for all. The band is every eligible member with
 *   `value <= least + threshold`.
 * - `hashRing`, `maglev`: as `random`: these are the picks without a key. Those by keys are made by
 *   `balancer/keyed-picks.ts`, from tables that an engine builds: `key-tables.ts`.
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
 *   equals are counted up, and it takes the place where `floor(u * equals / 2^32)` of another number is 0. Where d = 2 < n the
 *   number for that is always drawn, whether or not it is needed: a draw is a *pair*, and takes three. In flight is
 *   the slot's count; 0 where the slot belongs to another node or there is none. `pickExcluding` is a draw from the
 *   band without the excluded. `fillShares` gives 1 / n: what it is where all are equally busy.
 *
 *   With `weights`, what is compared is `(f + 1) / w`, f in flight and w the weight, by cross-multiplication in doubles: a
 *   candidate takes the place of the best where `(f + 1) * wBest < (fBest + 1) * w`, and is its equal where these are
 *   equal; whoever takes the place is what the next are compared with. `fillShares` gives `weight / total`.
 *
 * - `weightedRoundRobin`: every member that is up is in the band, with a weight, or none that is known.
 *
 *   With fixed `weights` these are the members', all known. Else they come from reports (gRFC A58). Of each member is kept,
 *   for as long as a member of the same slot and slot generation is among the members: `weight`, `since`, `updated` (none at
 *   first), and `from`, the time of the last refresh before it was among them. A refresh reads the reports of members that
 *   are up. A report gives a weight where its qps is above 0, its utilization too, its eps not below 0 and the weight
 *   finite and above 0: `qps / (utilization + (eps / qps) * errorUtilizationPenalty)`. `time` is that of the qps' sample;
 *   parts of samples of other times count as 0. The utilization is `application / 100` where that is above 0, else the
 *   largest of the metrics of `metricNames` (the report's own / 100) where that is above 0, else `cpu / 100`. Such a report
 *   is taken where its time is later than `updated`, or the same while `since` is known and the weight is another: `weight`
 *   and `updated = time` become its, and `since = max(time, from)` where that is none. What gives no weight is *ignored*,
 *   and counted where the time of the slot's last report is later than `updated` and than that of the last one ignored.
 *
 *   Weights change at *updates* alone: at the first refresh after `setMembers`, as of its time `now`; then every
 *   `weightUpdatePeriod` from there on, as of these times. A refresh for which some are due makes the last of them, with the
 *   reports of samples up to its time `at`; later ones are taken after it. At an update, a member with `at - updated >=
 *   weightExpirationPeriod` loses its `since`; it has a weight where `since` is known and `at - since >= blackoutPeriod`. The
 *   view is out of date from the first update that changes something: the next one where a report was taken since the last,
 *   else the first at which a blackout ends or a weight expires.
 *
 *   Scaled weights are whole. Fewer than two known, or 65,535 times their sum not finite: 65,535 for
 *   all. Else, with `mean` of the known, `cap = min(largest, max *
 *   mean)` and `half(x) = floor(x + 0.5)`: `m = half(mean * 65,535 / cap)`, at least 1, and for a known one `half(min(weight, cap) *
 *   65,535 / cap)`, at least `floor`, which is `half(min * m)` (rounded up instead with `roundUp`) and at least 1; `m` for one
 *   that is not known. The share is the scaled weight by their sum. The value in the view is the weight, 0 where it is
 *   not known. `FACT_FRESH` is the number of those known by reports.
 *
 *   The *sequence* is one unsigned 32-bit number. A draw takes numbers `s` of it, each time the one before it is stepped
 *   on, until one is a pick: with `n` the band's length, `i = s % n` and `g = floor(s / n)`, it is the band's entry i where
 *   `(w[i] * g + i * 32,767) % 65,535 >= 65,535 - w[i]`. `pickExcluding` goes on in the same sequence, with the same scaled
 *   weights, and passes over the picks that are excluded: so the turns of the others stay as they are. The sequence starts
 *   anew at a refresh whose scaled weights are not those of the refresh before, in number or value: with `total` their sum,
 *   `i` is the first entry at which the sum of the weights up to it is above `floor((u1 / 2^32) * total)`, and `g` the first
 *   round from `floor(u2 * min(65,535, floor(2^32 / n)) / 2^32)` on in which `i` is picked; the next number is `g * n + i`,
 *   or `i` where that is not below 2^32. So the first pick is each entry with the chance of its share.
 *
 * - `adaptive`: live. The band is every member that is up; a draw compares some of them by the response time to expect,
 *   `score = (flights + ahead + 1) * cost`, flights as for `leastConnections`. Each member has `loads`, `times`, `errors`,
 *   `ahead` (0 at first) and `cost`, kept for as long as estimates are; the core has `mean` (1 at first), `own` and `all`
 *   (0) and `scatter` (0.2 * 0.25). *Learning* a member is
 *   `cost = ((times + 5 * mean) / (loads + 5)) * (1 + errorCost * errors)`; each new member is learned.
 *
 *   Candidates: of a band of at most 16, all of it in order; else the `cheapest`, the `emptied`, and 4 drawn from the band
 *   by `floor(u * length / 2^32)`, repeats and all. With the least score, `most = least * (1 + scatter)`; of the
 *   candidates whose score is at most that, the only one, or the one at `floor(u * alike / 2^32)` in order, of one more
 *   number. `pickExcluding` draws from the band without the excluded, and passes over them among `cheapest` and `emptied`.
 *   `sent`, and each draw by `fill`, adds 1 to `ahead`.
 *
 *   `ended`: where `left` is 0, the band is longer than 16 and the member is up, it becomes entry `place` of `emptied`
 *   (8 places, a ring: `place` goes on by one). Then `errors = errors + 0.125 * ((ok ? 0 : 1) - errors)`; if ok,
 *   `loads = loads * (1 - 1 / 128) + (left + 1)` and `times = times * (1 - 1 / 128) + (max(latency, 0) + 0.5 * (left + 1))`; learn it.
 *
 *   Refresh, with `dt` the time since the last, at least 0 (0 at the first): for each member in order
 *   `loads = loads * (fading / (fading + dt))`, `times` too, `errors = errors * (5,000 / (5,000 + dt))`; `L` and `T` are the
 *   sums of loads and times, `least` the least `ahead * cost` of those that are up. `mean = T / L` if both are above 0.
 *   Then for each in order `a = max(0, ahead * cost - least)`; if both are, `times = min(times, 10 * mean * loads)` and
 *   learn it; else `cost = 1 / spare`; `ahead = a / cost`. `spare` is `max(0.01, 1 - value / 100,000)` with the value of
 *   `spareCapacity` (`smoothing` 10,000) where there is a fresh reading, else the mean of those that have one, `sum / fresh`,
 *   and 1 where there is none. Then, over members that are up
 *   with a fresh report of requests in flight, `o` and `r` are the sums of flights and of what is reported, and with
 *   `g = dt / (10,000 + dt)`, `own = own + g * (o - own)`, `all = all + g * (r - all)`,
 *   `scatter = 0.2 * (all > 0 ? min(1, own / all) : 0.25)`. Last, of a band longer than 16, `cheapest` are the 4 of the least
 *   cost, the first of equals first. `cheapest` and `emptied` are cleared, and `place` is 0, when members are set. The
 *   view's values are the costs; it is out of date 1,000 ms later. `fillShares` gives 1 / n.
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
 * - `prequal`: as `random`, but by a pool of what members said, one entry a member: its requests in flight, latency (NaN:
 *   unknown), `time` and uses. Entries are in order of their times, one that came later after those of equal time; those
 *   of members that left or are not up go at `setMembers`. Such a core is live.
 *
 *   To *add* what was said: nothing, where the member's entry has a later time; else that entry goes. The requests in
 *   flight are put to the last 128 that were added, and `threshold` is, of these in ascending order, the one at
 *   `floor(quantile * count)`; infinite where there is none. With `n` members that are up and
 *   `net = (1 - pool / n) * probes - removals` an entry has `budget = max(1, 2 / net)` uses, infinitely many where `net`
 *   is not above 0. Where the budget has a fraction, `floor(budget)`, and one more where `u / 2^32` of a number is below
 *   the fraction. With more than `pool` entries then, the first goes.
 *
 *   Each member has a time `seen`, kept as estimates are. At a refresh a member that is up, whose last report is later than
 *   that and has requests in flight that were sampled later, at most `maxAge` ago, has said these, and its latency where
 *   that was sampled at most `maxAge` ago; `seen` is that time then. Of those that did, found in member order, the first
 *   `pool` are kept; number k (from 0) takes the place `floor(u * (k + 1) / 2^32)` of another number, where there is such a
 *   place. Those kept are added in order. Then entries older than `maxAge` go. The view is out of date from the first
 *   entry's `time + maxAge + 1`.
 *
 *   A member is hot where it has more in flight than `threshold`. A cold entry goes before a hot one, of two cold ones that
 *   of the lower latency (then of fewer in flight), of two hot ones that of fewer in flight (then of the lower latency); an
 *   unknown latency is the mean of the known ones in the pool, 0 where there is none. A draw is the best of the entries,
 *   of equal ones the last; its requests in flight become one more, its uses one less, and with no use left it goes. Then,
 *   where `n > pool`, `removals` is added to a sum; while that is 1 or more, it becomes 1 less, and an entry goes, in turn
 *   the first and the worst (of equal ones the first). With less than two entries a draw is that of `random`, and
 *   counted. `pickExcluding` draws from the entries and the band without the excluded. `fillShares` gives 1 / n.
 *
 * What goes around a core, in TypeScript and over either engine, is no part of this: turns that threads share, `local`
 * and `custom` (`src/balancer/cores.ts`).
 *
 * The band lists members in member order. A draw from it takes one 32-bit number `u` from the generator and is the
 * band's entry `floor(u * length / 2^32)`, also where the band has one entry (`roundRobin` and
 * `weightedRoundRobin` take none, `leastConnections`, `powerOfTwo`, `adaptive` and `prequal` what is said there).
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
   */
  ended(index: number, left: number, ok: boolean, latency: number): void
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
