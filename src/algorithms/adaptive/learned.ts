import type { Flights } from '../../engine/portable/flights.js'
import type { Generator } from '../../engine/portable/generator.js'
import { COUNT_BITS } from '../../table/layout.js'
import * as constants from './constants.js'

// Of this module's own: what is imported or exported is no constant to the compiler, but looked up each time.
const BITS = COUNT_BITS
const SCATTER = constants.SCATTER
const CALM = constants.CALM
const IS_KNOWN = constants.IS_KNOWN
const MEAN = constants.MEAN
const FAILING = constants.FAILING
const PICKS = constants.PICKS
const RETRIED = constants.RETRIED
const LOADS = constants.LOADS
const TIMES = constants.TIMES
const ERRORS = constants.ERRORS
const AHEAD = constants.AHEAD
const COST = constants.COST
const THIN = constants.THIN
const ASIDE = constants.ASIDE
const PICKED = constants.PICKED
const FAR = constants.FAR
const LEAST = constants.LEAST
const LATENCY = constants.LATENCY
const SHIFT = Math.log2(constants.KNOWN)

const PRIOR = constants.PRIOR
const ERROR_GAIN = constants.ERROR_GAIN
const OWN_TIME = constants.OWN_TIME
const CLIP = constants.CLIP
const FIRST_CLIP = constants.FIRST_CLIP
const DIFFERENCE = constants.DIFFERENCE
const BUSY = constants.BUSY
const PAIRS = constants.PAIRS
const PRODUCTS = constants.PRODUCTS
const SQUARES = constants.SQUARES
const CALM_ERRORS = constants.CALM_ERRORS
// As parts: all are powers of two, so that to multiply is as exact as to divide, and takes less.
const FAILING_GAIN = 1 / constants.FAILING_MEMORY
const LATENCY_GAIN = 1 / constants.LATENCY_MEMORY
const FALL = 1 / constants.LEAST_FALL
const RISE = 1 / constants.LEAST_RISE
const KEPT = 1 - 1 / constants.MEMORY
/** Most members that a draw looks at. */
const MOST = constants.ALL

// Where a member's numbers begin; before them are those of all.
function placeOf(i: number): number {
  return (i + 1) << SHIFT
}

function scoreOf(i: number, words: Int32Array, places: Int32Array, known: Float64Array): number {
  // As `Flights.at`.
  const word = (words[places[i << 1] as number] as number) ^ (places[(i << 1) | 1] as number)
  const flights = word >>> BITS === 0 ? word : 0
  const at = placeOf(i)
  const waiting = Math.max(0, flights - (known[at | ASIDE] as number)) * (known[at | THIN] as number)
  return (waiting + (known[at | AHEAD] as number) + 1) * (known[at | COST] as number)
}

/** What `adaptive` does from one refresh to the next: learns from leases, and finds the best member. */
export class Learned {
  /** Numbers of all members, then of each, `KNOWN` at a time. One array, since each that is read has a price. */
  known: Float64Array = new Float64Array(constants.KNOWN)
  flights: Flights | undefined
  readonly #errorCost: number
  readonly #scores = new Float64Array(MOST)
  readonly #alike = new Uint32Array(MOST)

  constructor(errorCost: number) {
    this.#errorCost = errorCost
  }

  /** Sets the numbers of all members to those of a core that knows nothing. */
  start(): void {
    const { known } = this
    known.fill(0, 0, constants.KNOWN)
    known[MEAN] = 1
    known[SCATTER] = constants.BAND * constants.OWN_SHARE
    known[RETRIED] = -1
  }

  /** Sets the numbers of a member that has just joined. */
  join(i: number): void {
    const { known } = this
    const at = placeOf(i)
    known.fill(0, at, at + constants.KNOWN)
    known[at | THIN] = 1
    known[at | PICKED] = known[PICKS] as number
    known[at | LEAST] = -1
    known[at | LATENCY] = -1
    known[at | DIFFERENCE] = -2
    known[at | BUSY] = 1
    this.learn(i)
  }

  /** The member that is to be tried again, for once; -1 where there is none. */
  retried(): number {
    const retried = this.known[RETRIED] as number
    if (retried < 0) return -1
    this.known[RETRIED] = -1
    return this.#picked(retried)
  }

  /**
   * The member with the least score of the first `count`, 1 to 16. Of those within the scatter of it one at random, or the
   * one that was picked longest ago where load is low.
   */
  best(candidates: Uint32Array, count: number, generator: Generator): number {
    const { known } = this
    const scores = this.#scores
    const alike = this.#alike
    const { words, places } = this.flights as Flights
    let least = Number.POSITIVE_INFINITY
    let k = 0
    // Four at a time: whether arrays are what they seem is looked at anew in each turn of a loop.
    for (; k + 3 < count; k += 4) {
      const one = scoreOf(candidates[k] as number, words, places, known)
      const two = scoreOf(candidates[k + 1] as number, words, places, known)
      const three = scoreOf(candidates[k + 2] as number, words, places, known)
      const four = scoreOf(candidates[k + 3] as number, words, places, known)
      scores[k] = one
      scores[k + 1] = two
      scores[k + 2] = three
      scores[k + 3] = four
      if (one < least) least = one
      if (two < least) least = two
      if (three < least) least = three
      if (four < least) least = four
    }
    for (; k < count; k++) {
      const score = scoreOf(candidates[k] as number, words, places, known)
      scores[k] = score
      if (score < least) least = score
    }
    const most = least * (1 + (known[SCATTER] as number))
    // Equals move to the front. Written each time, and counted by a sum: a branch would be guessed wrong too often.
    let equals = 0
    k = 0
    for (; k + 3 < count; k += 4) {
      alike[equals] = candidates[k] as number
      equals += Number((scores[k] as number) <= most)
      alike[equals] = candidates[k + 1] as number
      equals += Number((scores[k + 1] as number) <= most)
      alike[equals] = candidates[k + 2] as number
      equals += Number((scores[k + 2] as number) <= most)
      alike[equals] = candidates[k + 3] as number
      equals += Number((scores[k + 3] as number) <= most)
    }
    for (; k < count; k++) {
      alike[equals] = candidates[k] as number
      equals += Number((scores[k] as number) <= most)
    }
    if (equals <= 1) return this.#picked(alike[0] as number)
    if ((known[CALM] as number) > 0) return this.#picked(this.#longestAgo(equals))
    return this.#picked(alike[generator.below(equals)] as number)
  }

  /** A pick of this member is no lease. */
  sent(i: number): void {
    const { known } = this
    const at = placeOf(i)
    known[at | AHEAD] = (known[at | AHEAD] as number) + 1
  }

  /** So many requests in flight at this member count no more. */
  setAside(i: number, count: number): void {
    this.known[placeOf(i) | ASIDE] = count
  }

  /** Requests of the first `left` in flight at a member that still count. */
  waiting(i: number, left: number): number {
    return Math.max(0, left - (this.known[placeOf(i) | ASIDE] as number))
  }

  /** A lease on this member has ended; `alone` where none of this balancer was in flight there as it began. */
  ended(i: number, left: number, ok: boolean, latency: number, alone: boolean): void {
    const { known } = this
    const at = placeOf(i)
    const share = known[at | ERRORS] as number
    const failing = known[FAILING] as number
    known[at | ERRORS] = share + ERROR_GAIN * ((ok ? 0 : 1 - failing) - share)
    if (ok) this.#responded(i, at, left, latency, alone)
    this.learn(i)
    // Last: an error does not excuse itself.
    known[FAILING] = failing + ((ok ? 0 : 1) - failing) * FAILING_GAIN
  }

  /** Makes a member's cost of what is known of it. */
  learn(i: number): void {
    const { known } = this
    const at = placeOf(i)
    const loads = (known[at | LOADS] as number) + PRIOR
    const mean = known[MEAN] as number
    const calm = known[CALM] as number
    let cost = ((known[at | TIMES] as number) + PRIOR * mean) / loads
    if (calm > 0) {
      const within = 1 + (CALM_ERRORS * calm) / Math.sqrt(loads)
      cost = cost > mean ? Math.max(mean, cost / within) : Math.min(mean, cost * within)
      // Where nothing waits a long way is what a request costs; but not so much that nearer nodes are overloaded.
      cost += calm * Math.min(known[at | FAR] as number, mean)
    }
    const errors = Math.max(0, (known[at | ERRORS] as number) - (known[FAILING] as number))
    known[at | COST] = cost * (1 + this.#errorCost * errors) * (known[at | BUSY] as number)
  }

  #responded(i: number, at: number, left: number, latency: number, alone: boolean): void {
    const { known } = this
    const far = known[at | FAR] as number
    const isKnown = known[IS_KNOWN] === 1
    const load = this.waiting(i, left) * (known[at | THIN] as number) + 1
    const loads = known[at | LOADS] as number
    const times = known[at | TIMES] as number
    const expected = (load * (times + PRIOR * (known[MEAN] as number))) / (loads + PRIOR)
    const clip = (known[at | LATENCY] as number) < 0 ? FIRST_CLIP : CLIP
    const most = isKnown ? far + clip * expected : Number.POSITIVE_INFINITY
    const took = Math.min(Math.max(latency, 0), most)
    this.#measured(at, took)
    const time = Math.max(0, took - far) + OWN_TIME * load
    if (alone && isKnown) this.#compare(at, time / expected - 1)
    known[at | LOADS] = loads * KEPT + load
    known[at | TIMES] = times * KEPT + time
  }

  // Its least and its mean response time. The first sets the mean alone, so that the least is not that of a connection.
  #measured(at: number, took: number): void {
    const { known } = this
    const least = known[at | LEAST] as number
    const latency = known[at | LATENCY] as number
    known[at | LATENCY] = latency < 0 ? took : latency + (took - latency) * LATENCY_GAIN
    if (latency < 0) return
    known[at | LEAST] = least < 0 ? took : least + (took - least) * (took <= least ? FALL : RISE)
  }

  // Requests of others that queue make responses of a node that follow each other alike.
  #compare(at: number, difference: number): void {
    const { known } = this
    const before = known[at | DIFFERENCE] as number
    known[at | DIFFERENCE] = difference
    if (before < -1) return
    known[PAIRS] = (known[PAIRS] as number) + 1
    known[PRODUCTS] = (known[PRODUCTS] as number) + difference * before
    const square = (difference * difference + before * before) / 2
    known[SQUARES] = (known[SQUARES] as number) + square
  }

  #longestAgo(equals: number): number {
    const { known } = this
    const alike = this.#alike
    let found = alike[0] as number
    let last = known[placeOf(found) | PICKED] as number
    for (let k = 1; k < equals; k++) {
      const i = alike[k] as number
      const picked = known[placeOf(i) | PICKED] as number
      if (picked >= last) continue
      found = i
      last = picked
    }
    return found
  }

  #picked(i: number): number {
    const { known } = this
    const picks = (known[PICKS] as number) + 1
    known[PICKS] = picks
    known[placeOf(i) | PICKED] = picks
    return i
  }
}
