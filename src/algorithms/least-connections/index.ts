import { fillBand } from '../../engine/portable/band.js'
import { fillUpValues, StateReadings } from '../../engine/portable/state-readings.js'
import type { AlgorithmDefinition } from '../definition.js'
import { byInFlight } from '../explain.js'
import { isWeightsOption, isWhole } from '../valid.js'
import { LeastInFlightPlan } from './least-in-flight.js'
import { LeastLoadedPlan } from './least-loaded.js'
import { type LeastConnectionsAlgorithm, leastConnections } from './options.js'

/*
 * The exact meaning of its draws, which both engines follow; `EngineCore` in `src/engine/engine.ts` has the words.
 *
 * As `random`, but the fewest requests in flight of some. Counts in flight change at any moment, so
 * a draw reads them as it is made: such a core is *live*, draws are made one at a time, and are never taken back. `n`
 * is the band's length, `d = min(choices, n)`, or n with `exact`. The candidates are entries of the band: all of
 * them in order where d = n; else d distinct ones, by Floyd's way: for k = n - d, ..., n - 1, one number gives
 * `t = floor(u * (k + 1) / 2^32)`, and the candidate is t, or k where t is a candidate already. The first candidate is the
 * best so far, with one equal; one with fewer in flight takes its place, with one equal; for one with as many, the
 * equals are counted up, and it takes the place where `floor(u * equals / 2^32)` of another number is 0. Where d = 2 < n the
 * number for that is always drawn, whether or not it is needed: a draw is a *pair*, and takes three. In flight is
 * the slot's count; 0 where the slot belongs to another node or there is none. `pickExcluding` is a draw from the
 * band without the excluded. `fillShares` gives 1 / n: what it is where all are equally busy.
 *
 * With `weights`, what is compared is `(f + 1) / w`, f in flight and w the weight, by cross-multiplication in doubles: a
 * candidate takes the place of the best where `(f + 1) * wBest < (fBest + 1) * w`, and is its equal where these are
 * equal; the next are compared with the candidate that took the place. `fillShares` gives `weight / total`.
 */
export const leastConnectionsDefinition: AlgorithmDefinition<LeastConnectionsAlgorithm> = {
  kind: 'leastConnections',
  fields: ['choices', 'exact', 'weights'],
  isValid: ({ choices, exact, weights }) =>
    isWhole(choices, 1, 64) && typeof exact === 'boolean' && isWeightsOption(weights),
  make: leastConnections,
  explain: { grounds: byInFlight },
  thinning: () => 'inFlight',
  portable: {
    readings: () => new StateReadings(),
    plan(algorithm, { raw, count, flights, weights }) {
      const band = new Uint32Array(count)
      const length = fillBand(raw, count, 0, 0, band)
      return algorithm.weights === undefined
        ? new LeastInFlightPlan(band, length, flights, algorithm)
        : new LeastLoadedPlan(band, length, flights, algorithm, weights)
    },
    fillValues: (_algorithm, raw, values) => fillUpValues(raw, values),
  },
  native: ({ choices, exact, weights }) => ({
    choices,
    exact: Number(exact),
    weighted: Number(weights !== undefined),
  }),
  isLive: () => true,
  variants: [
    {
      name: 'least-connections',
      about: 'leastConnections(): the fewer in flight of two',
      make: () => leastConnections(),
    },
    {
      name: 'least-connections-exact',
      about: 'leastConnections({ exact: true })',
      make: () => leastConnections({ exact: true }),
    },
  ],
}
