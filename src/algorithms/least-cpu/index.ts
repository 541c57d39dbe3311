import { effective, fillBand, substitute } from '../../engine/portable/band.js'
import { CpuReadings } from '../../engine/portable/cpu-readings.js'
import { UniformPlan } from '../../engine/portable/plan.js'
import { MILLI } from '../../table/layout.js'
import type { AlgorithmDefinition } from '../definition.js'
import { even, percent, shareless } from '../explain.js'
import { isFinitePositive, isMilli, isNumberFrom } from '../valid.js'
import { EXCLUDE, MEAN } from './constants.js'
import { type LeastCpuAlgorithm, leastCpu } from './options.js'

/*
 * The exact meaning of its draws, which both engines follow; `EngineCore` in `src/engine/engine.ts` has the words.
 *
 * The value of a fresh reading is its CPU, smoothed as for `spareCapacity` and then made whole by
 * `floor(estimate + 0.5)`. What a missing one counts as depends on `missing`: a number,
 * in 1/1000 points; `mean`: `floor(sum / fresh + 0.5)` over the fresh (50,000 where none is); `exclude`: not
 * eligible, unless no member is fresh, then 50,000 for all. The band is every eligible member with
 * `value <= least + threshold`.
 */
export const leastCpuDefinition: AlgorithmDefinition<LeastCpuAlgorithm> = {
  kind: 'leastCpu',
  fields: ['threshold', 'ttl', 'missing', 'smoothing'],
  isValid: ({ threshold, ttl, missing, smoothing }) =>
    isMilli(threshold) &&
    isFinitePositive(smoothing) &&
    isNumberFrom(ttl, 0) &&
    (missing === 'mean' || missing === 'exclude' || isMilli(missing)),
  make: leastCpu,
  explain: {
    grounds({ effective: load, fresh }, { hasFresh, least }, { threshold }) {
      if (!hasFresh || load === undefined || threshold === undefined) return even()
      const assumed = fresh ? '' : 'without a fresh report taken to be '
      return {
        grounds: { code: 'band', load, least, threshold, isAssumed: !fresh },
        words: `${assumed}in the band, ${percent(load)} % against ${percent(least)} % + ${percent(threshold)}`,
      }
    },
    // Where the least busy ones take no more, the band is drawn anew without them.
    reason({ effective: load }, { least }, { threshold }) {
      if (load === undefined || threshold === undefined) return shareless()
      if (load <= least + threshold) return undefined
      return {
        reason: { code: 'band', load, least, threshold },
        words: `outside the band: ${percent(load)} % against ${percent(least)} % + ${percent(threshold)}`,
      }
    },
  },
  thinning: () => 'band',
  bandWidth: ({ threshold }) => threshold / MILLI,
  excludesMissing: ({ missing }) => missing === 'exclude',
  excludingMissing: (algorithm) => ({ ...algorithm, missing: 'exclude' }),
  // As in the library that it comes from.
  startupJitter: 60_000,
  unreachableAfter: 0,
  portable: {
    readings: (memory, { ttl, smoothing }) => new CpuReadings(memory, { ttl, smoothing, isWhole: true }),
    plan({ missing, threshold }, { raw, count }) {
      const band = new Uint32Array(count)
      return new UniformPlan(band, fillBand(raw, count, substitute(missing, raw, count), threshold, band))
    },
    fillValues({ missing }, raw, values) {
      const value = substitute(missing, raw, raw.length)
      for (let i = 0; i < raw.length; i++) values[i] = effective(raw[i] as number, value)
    },
    fillBand: ({ missing, threshold }, raw, count, band) =>
      fillBand(raw, count, substitute(missing, raw, count), threshold, band),
  },
  native: ({ threshold, ttl, missing, smoothing }) => ({
    threshold,
    ttl,
    missing: typeof missing === 'number' ? missing : missing === 'mean' ? MEAN : EXCLUDE,
    smoothing,
  }),
  column: { label: 'Counts as', about: 'What the algorithm takes its CPU for, percent' },
  variants: [
    {
      name: 'least-cpu',
      about: 'leastCpu(): at random in a band of 5 points',
      make: (ttl) => leastCpu({ ttl }),
    },
    {
      name: 'lowest-cpu',
      about: 'leastCpu({ threshold: 0 })',
      make: (ttl) => leastCpu({ threshold: 0, ttl }),
    },
  ],
}
