import type { Flights } from '../../engine/portable/flights.js'
import type { Generator } from '../../engine/portable/generator.js'
import { COUNT_BITS } from '../../table/layout.js'
import * as constants from './constants.js'

// Of this module's own: what is imported or exported is no constant to the compiler, but looked up each time.
const BITS = COUNT_BITS
const LOADS = constants.LOADS
const TIMES = constants.TIMES
const ERRORS = constants.ERRORS
const AHEAD = constants.AHEAD
const COST = constants.COST
const SHIFT = Math.log2(constants.KNOWN)

const MEMORY = constants.MEMORY
const PRIOR = constants.PRIOR
const ERROR_GAIN = constants.ERROR_GAIN
const OWN_TIME = constants.OWN_TIME
/** Most members that a draw looks at. */
const MOST = constants.ALL

function scoreOf(i: number, words: Int32Array, places: Int32Array, known: Float64Array): number {
  // As `Flights.at`.
  const word = (words[places[i << 1] as number] as number) ^ (places[(i << 1) | 1] as number)
  const flights = word >>> BITS === 0 ? word : 0
  return (flights + (known[(i << SHIFT) | AHEAD] as number) + 1) * (known[(i << SHIFT) | COST] as number)
}

/** What `adaptive` does from one refresh to the next: learns from leases, and finds who is best. */
export class Learned {
  /** Of each member as many numbers as `KNOWN`. One array, since each that is read has a price. */
  known: Float64Array = new Float64Array(0)
  flights: Flights | undefined
  /** Cost of all members, ms. */
  mean = 1
  /** Difference of two scores that counts as none, as a share. */
  scatter = 0
  readonly #errorCost: number
  readonly #scores = new Float64Array(MOST)
  readonly #alike = new Uint32Array(MOST)

  constructor(errorCost: number) {
    this.#errorCost = errorCost
  }

  /** The member with the least score of the first `count`, 1 to 16; or at random among those within the scatter of it. */
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
    const most = least * (1 + this.scatter)
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
    return alike[equals > 1 ? generator.below(equals) : 0] as number
  }

  /** A pick of this member is no lease. */
  sent(i: number): void {
    const { known } = this
    known[(i << SHIFT) | AHEAD] = (known[(i << SHIFT) | AHEAD] as number) + 1
  }

  /** A lease on this member has ended. */
  ended(i: number, left: number, ok: boolean, latency: number): void {
    const { known } = this
    const at = i << SHIFT
    const share = known[at | ERRORS] as number
    known[at | ERRORS] = share + ERROR_GAIN * ((ok ? 0 : 1) - share)
    if (ok) {
      const keep = 1 - 1 / MEMORY
      const load = left + 1
      known[at | LOADS] = (known[at | LOADS] as number) * keep + load
      known[at | TIMES] = (known[at | TIMES] as number) * keep + (Math.max(latency, 0) + OWN_TIME * load)
    }
    this.learn(i)
  }

  /** Makes a member's cost of what is known of it. */
  learn(i: number): void {
    const { known } = this
    const at = i << SHIFT
    const learned =
      ((known[at | TIMES] as number) + PRIOR * this.mean) / ((known[at | LOADS] as number) + PRIOR)
    known[at | COST] = learned * (1 + this.#errorCost * (known[at | ERRORS] as number))
  }
}
