import type { LeastConnectionsAlgorithm } from '../../algorithms/algorithm.js'
import type { Flights } from './flights.js'
import type { Generator } from './generator.js'
import { LowestPlan } from './lowest.js'

/** Draws the one with the fewest requests in flight among some that are drawn at random, ties by chance. */
export class LeastInFlightPlan extends LowestPlan {
  constructor(
    band: Uint32Array,
    length: number,
    flights: Flights,
    { choices, exact }: LeastConnectionsAlgorithm,
  ) {
    super(band, length, flights, exact ? length : choices)
  }

  protected override lowerOf(one: number, other: number, generator: Generator): number {
    const more = this.loads.at(one) - this.loads.at(other)
    // The sign of the difference of whole numbers, or a coin: no processor can foresee it, so there is no branch on it.
    const isOne = (more === 0 ? generator.next() : more) >>> 31
    return other + (one - other) * isOne
  }
}
