import { drawDistinct } from '../../engine/portable/distinct.js'
import type { Flights } from '../../engine/portable/flights.js'
import type { Dice, Plan } from '../../engine/portable/plan.js'
import type { LeastConnectionsAlgorithm } from './options.js'

/** Draws the one with the least (in flight + 1) / weight among some that are drawn at random, ties by chance. */
export class LeastLoadedPlan implements Plan {
  readonly band: Uint32Array
  readonly length: number
  readonly #flights: Flights
  readonly #weights: Float64Array
  readonly #total: number
  readonly #choices: number
  readonly #candidates: Uint32Array

  /** @param weights of all that the band's indices mean, above 0 */
  constructor(
    band: Uint32Array,
    length: number,
    flights: Flights,
    { choices, exact }: LeastConnectionsAlgorithm,
    weights: Float64Array,
  ) {
    this.band = band
    this.length = length
    this.#flights = flights
    // By the band's entries, and its own: the caller may reuse what it has.
    this.#weights = Float64Array.from(band.subarray(0, length), (index) => weights[index] as number)
    this.#total = this.#weights.reduce((sum, weight) => sum + weight, 0)
    this.#choices = exact ? length : Math.min(choices, length)
    this.#candidates = new Uint32Array(this.#choices === length ? 0 : this.#choices)
  }

  draw({ generator }: Dice): number {
    const { band, length } = this
    const choices = this.#choices
    const all = choices === length
    if (!all) drawDistinct(this.#candidates, length, generator)
    const tie = choices === 2 && !all ? generator.next() >>> 31 : undefined
    let best = -1
    let bestLoad = 0
    let bestWeight = 0
    let equals = 0
    for (let i = 0; i < choices; i++) {
      const entry = all ? i : (this.#candidates[i] as number)
      const index = band[entry] as number
      const load = this.#flights.at(index) + 1
      const weight = this.#weights[entry] as number
      if (best >= 0) {
        // The fractions are compared without a division.
        const mine = load * bestWeight
        const theirs = bestLoad * weight
        if (mine > theirs) continue
        equals = mine < theirs ? 1 : equals + 1
        if (equals > 1 && (tie ?? generator.below(equals)) !== 0) continue
      } else equals = 1
      best = index
      bestLoad = load
      bestWeight = weight
    }
    return best
  }

  fill(into: Uint32Array, dice: Dice): void {
    for (let i = 0; i < into.length; i++) into[i] = this.draw(dice)
  }

  share(i: number): number {
    return (this.#weights[i] as number) / this.#total
  }
}
