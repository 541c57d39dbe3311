import { unknownDraw } from '../../engine/engine.js'
import { MISSING, OUT } from '../../engine/portable/band.js'
import type { Flights } from '../../engine/portable/flights.js'
import type { Generator } from '../../engine/portable/generator.js'
import { type Loads, LowestPlan } from '../../engine/portable/lowest.js'
import type { Dice, Plan } from '../../engine/portable/plan.js'
import { COIN_SIDES, coinOf, isByFlights, type PowerOfTwoAlgorithm } from './options.js'
import { sharesByRank } from './rank-shares.js'

const UNKNOWN = Number.POSITIVE_INFINITY

/** Loads that stay as they are until the next refresh. */
class KnownLoads implements Loads {
  readonly values: Float64Array

  constructor(values: Float64Array) {
    this.values = values
  }

  at(index: number): number {
    return this.values[index] as number
  }
}

/** Requests in flight: what was reported or what is counted here, whichever is more. */
class MoreFlights implements Loads {
  readonly #reported: Float64Array
  readonly #flights: Flights

  constructor(reported: Float64Array, flights: Flights) {
    this.#reported = reported
    this.#flights = flights
  }

  at(index: number): number {
    const reported = this.#reported[index] as number
    const counted = this.#flights.at(index)
    return Math.max(counted, reported)
  }
}

/** Draws the better of two, or of more; for a share of the picks, any. */
class PowerOfTwoPlan implements Plan {
  readonly band: Uint32Array
  readonly length: number
  readonly #algorithm: PowerOfTwoAlgorithm
  readonly #coin: number
  readonly #fails: boolean
  readonly #loads: Loads
  readonly #least: LowestPlan
  // The band's entry that is not compared: -1 where it is drawn.
  readonly #own: number
  #shares: Float64Array | undefined

  constructor(
    band: Uint32Array,
    length: number,
    algorithm: PowerOfTwoAlgorithm,
    loads: Loads,
    thread: number,
  ) {
    this.band = band
    this.length = length
    this.#algorithm = algorithm
    this.#coin = coinOf(algorithm)
    this.#fails = algorithm.unknown === 'fail'
    this.#loads = loads
    this.#least = new LowestPlan(band, length, loads, algorithm.choices)
    this.#own = algorithm.otherwise === 'worker' ? thread % length : -1
  }

  draw(dice: Dice): number {
    const { band, length } = this
    if (length === 1) return band[0] as number
    if (!this.#compares(dice.generator)) {
      return band[this.#own >= 0 ? this.#own : dice.generator.below(length)] as number
    }
    const index = this.#least.draw(dice)
    return this.#fails && this.#loads.at(index) === UNKNOWN ? unknownDraw(index) : index
  }

  fill(into: Uint32Array, dice: Dice): void {
    for (let i = 0; i < into.length; i++) into[i] = this.draw(dice)
  }

  share(i: number): number {
    if (this.length === 1) return 1
    const rate = this.#coin / COIN_SIDES
    const rest = this.#own < 0 ? 1 / this.length : i === this.#own ? 1 : 0
    return rate * this.#comparedShare(i) + (1 - rate) * rest
  }

  #compares(generator: Generator): boolean {
    const coin = this.#coin
    if (coin === COIN_SIDES) return true
    return coin > 0 && generator.next() < coin
  }

  #comparedShare(i: number): number {
    if (!(this.#loads instanceof KnownLoads)) return 1 / this.length
    this.#shares ??= sharesByRank(
      Float64Array.from(this.band.subarray(0, this.length), (index) => this.#loads.at(index)),
      this.#algorithm.choices,
      this.#fails,
    )
    return this.#shares[i] as number
  }
}

/**
 * The plan for these readings.
 * @param raw the metric's values, `MISSING` or `OUT`
 * @param count how many there are
 * @param thread the id of the thread that picks
 */
export function planOfTwo(
  algorithm: PowerOfTwoAlgorithm,
  raw: Float64Array,
  count: number,
  flights: Flights,
  thread: number,
): Plan {
  const values = new Float64Array(count)
  const band = new Uint32Array(count)
  const byFlights = isByFlights(algorithm)
  let length = 0
  for (let i = 0; i < count; i++) {
    const value = raw[i] as number
    values[i] = loadOf(value, byFlights)
    if (value !== OUT) band[length++] = i
  }
  const loads = byFlights ? new MoreFlights(values, flights) : new KnownLoads(values)
  return new PowerOfTwoPlan(band, length, algorithm, loads, thread)
}

/** What the readings count as: the metric's values, `NOT_ELIGIBLE` where there is none or the member is out. */
export function fillLoads(algorithm: PowerOfTwoAlgorithm, raw: Float64Array, values: Float64Array): void {
  const byFlights = isByFlights(algorithm)
  for (let i = 0; i < raw.length; i++) values[i] = loadOf(raw[i] as number, byFlights)
}

// Requests in flight are always known: at least those that are counted here.
function loadOf(raw: number, byFlights: boolean): number {
  if (raw > MISSING) return raw
  return byFlights && raw === MISSING ? 0 : UNKNOWN
}
