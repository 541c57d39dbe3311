import { LONGEST_WAIT } from '../../clock.js'
import { planUniform } from '../../engine/portable/plan.js'
import { fillUpValues, StateReadings } from '../../engine/portable/state-readings.js'
import type { AlgorithmDefinition } from '../definition.js'
import { byCost } from '../explain.js'
import { leastConnections } from '../least-connections/options.js'
import { isNumberFrom } from '../valid.js'
import { KeptPeaks } from './kept-peaks.js'
import { type PeakEwmaAlgorithm, peakEwma } from './options.js'

/*
 * The exact meaning of its draws, which both engines follow; `EngineCore` in `src/engine/engine.ts` has the words.
 *
 * Live. The band is every member that is up. Each member has a `peak`, `initialLatency` at first, kept for as long as
 * estimates are. A draw is that of `leastConnections` with 2 choices and without weights, by the load
 * `peak * (flights + 1)`; `pickExcluding` is a draw from the band without the excluded.
 *
 * `ended`: with `sample = latency` where it is ok, else `max(latency, errorLatency)`, `peak = sample` where
 * `sample > peak`. `sent` changes nothing.
 *
 * Refresh: with `dt` the time since the last, at least 0 (0 at the first), `peak = peak * (decay / (decay + dt))`. The view's
 * values are the peaks; it is out of date 1,000 ms later. `fillShares` gives 1 / n.
 *
 * Finagle and linkerd let a peak fade by `e^(-dt / decay)`, which no two languages compute alike to the last bit, and a lower
 * sample draw it down by the same. Here it fades by the implicit Euler step, as smoothed readings do, and lower samples
 * leave it to that: one that has faded below what a node takes is raised by the next response.
 */
export const peakEwmaDefinition: AlgorithmDefinition<PeakEwmaAlgorithm> = {
  kind: 'peakEwma',
  fields: ['decay', 'initialLatency', 'errorLatency'],
  isValid: ({ decay, initialLatency, errorLatency }) =>
    isNumberFrom(decay, 1, LONGEST_WAIT) &&
    isNumberFrom(initialLatency, 0.001, LONGEST_WAIT) &&
    isNumberFrom(errorLatency, 0, LONGEST_WAIT),
  make: peakEwma,
  explain: { grounds: byCost },
  thinning: () => 'inFlight',
  portable: {
    readings: () => new StateReadings(),
    plan: (_algorithm, { raw, count }) => planUniform(raw, count),
    fillValues: (_algorithm, raw, values) => fillUpValues(raw, values),
    keep: (_memory, algorithm) => new KeptPeaks(algorithm),
  },
  native: ({ decay, initialLatency, errorLatency }) => ({ decay, initialLatency, errorLatency }),
  learns: true,
  // Nobody tells how picks from arrays end.
  forArrays: () => leastConnections(),
  isLive: () => true,
  variants: [
    {
      name: 'peak-ewma',
      about: 'peakEwma(): the lower of two by peak latency times what is in flight',
      make: () => peakEwma(),
    },
  ],
  shows: 'cost',
  column: { label: 'Peak, ms', about: 'Peak of the latency, which fades' },
}
