import type { Algorithm } from '../../algorithms/algorithm.js'
import { effective, fillBand, substitute } from './band.js'
import type { Flights } from './flights.js'
import { LeastLoadedPlan } from './least-loaded.js'
import { type Plan, TurnPlan, UniformPlan } from './plan.js'
import { fillLoads, planOfTwo } from './power-of-two.js'
import { fillSpareValues, fillWeights, planByWeight } from './spare.js'

/**
 * What to draw from, given these readings.
 * @param raw CPU, `MISSING` or `OUT`
 * @param count how many there are
 * @param flights what they have in flight, for algorithms that look at it
 * @param thread the id of the thread that picks
 */
export function planOf(
  algorithm: Algorithm,
  raw: Float64Array,
  count: number,
  flights: Flights,
  thread: number,
): Plan {
  if (algorithm.kind === 'powerOfTwo') return planOfTwo(algorithm, raw, count, flights, thread)
  if (algorithm.kind === 'spareCapacity') {
    const weights = new Float64Array(count)
    const total = fillWeights(raw, count, algorithm.missing, weights)
    return planByWeight(weights, count, total, algorithm.minShare)
  }
  const band = new Uint32Array(count)
  const length = fillBandOf(algorithm, raw, count, band)
  if (algorithm.kind === 'roundRobin') return new TurnPlan(band, length)
  if (algorithm.kind === 'leastConnections') {
    return new LeastLoadedPlan(band, length, flights, algorithm.exact ? length : algorithm.choices)
  }
  return new UniformPlan(band, length)
}

/** The band alone, for algorithms that have one. Returns its length. */
export function fillBandOf(
  algorithm: Algorithm,
  raw: Float64Array,
  count: number,
  band: Uint32Array,
): number {
  if (algorithm.kind !== 'leastCpu') return fillBand(raw, count, 0, 0, band)
  return fillBand(raw, count, substitute(algorithm.missing, raw, count), algorithm.threshold, band)
}

/** What the readings count as, as in `View.values`. */
export function fillValues(algorithm: Algorithm, raw: Float64Array, values: Float64Array): void {
  if (algorithm.kind === 'powerOfTwo') {
    fillLoads(algorithm, raw, values)
    return
  }
  if (algorithm.kind === 'spareCapacity') {
    fillSpareValues(raw, algorithm.missing, values)
    return
  }
  const missing = algorithm.kind === 'leastCpu' ? substitute(algorithm.missing, raw, raw.length) : 0
  for (let i = 0; i < raw.length; i++) values[i] = effective(raw[i] as number, missing)
}
