import type { LeastConnectionsAlgorithm } from '../../algorithms/algorithm.js'
import { drawDistinct } from './distinct.js'
import type { Flights } from './flights.js'
import type { Generator } from './generator.js'
import type { Dice, Plan } from './plan.js'

/** Draws the one with the fewest requests in flight among some that are drawn at random, ties by chance. */
export class LeastInFlightPlan implements Plan {
  readonly band: Uint32Array
  readonly length: number
  readonly #flights: Flights
  readonly #choices: number
  readonly #candidates: Uint32Array

  constructor(
    band: Uint32Array,
    length: number,
    flights: Flights,
    { choices, exact }: LeastConnectionsAlgorithm,
  ) {
    this.band = band
    this.length = length
    this.#flights = flights
    this.#choices = exact ? length : Math.min(choices, length)
    this.#candidates = new Uint32Array(this.#choices === length ? 0 : this.#choices)
  }

  draw({ generator }: Dice): number {
    const { band, length } = this
    const choices = this.#choices
    const all = choices === length
    if (choices === 2 && !all) return this.#drawOfTwo(generator)
    if (!all) drawDistinct(this.#candidates, length, generator)
    let best = 0
    let least = Number.POSITIVE_INFINITY
    let equals = 0
    for (let i = 0; i < choices; i++) {
      const index = band[all ? i : (this.#candidates[i] as number)] as number
      const flights = this.#flights.at(index)
      if (flights > least) continue
      equals = flights < least ? 1 : equals + 1
      if (equals > 1 && generator.below(equals) !== 0) continue
      least = flights
      best = index
    }
    return best
  }

  fill(into: Uint32Array, dice: Dice): void {
    for (let i = 0; i < into.length; i++) into[i] = this.draw(dice)
  }

  share(): number {
    return 1 / this.length
  }

  // What `draw` does, for the usual number: the two are not kept.
  #drawOfTwo(generator: Generator): number {
    const { band, length } = this
    const first = generator.below(length - 1)
    const drawn = generator.below(length)
    const one = band[first] as number
    const other = band[drawn === first ? length - 1 : drawn] as number
    const more = this.#flights.at(one) - this.#flights.at(other)
    // The sign of the difference, or a coin: no processor can foresee it, so there is no branch on it.
    const isOne = (more === 0 ? generator.next() : more) >>> 31
    return other + (one - other) * isOne
  }
}
