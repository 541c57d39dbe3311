import type { Flights } from '../../engine/portable/flights.js'
import { LowestPlan } from '../../engine/portable/lowest.js'
import type { LeastConnectionsAlgorithm } from './options.js'

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

  protected override lowerOf(one: number, other: number, tie: number): number {
    // The sign of a difference of whole numbers: no processor can foresee it, so there is no branch on it.
    const isOne = (this.loads.at(one) - this.loads.at(other) - tie) >>> 31
    return other + (one - other) * isOne
  }
}
