import { CpuReadings } from '../../engine/portable/cpu-readings.js'
import type { AlgorithmDefinition } from '../definition.js'
import { even, percent } from '../explain.js'
import { isFinitePositive, isNumberFrom } from '../valid.js'
import { type SpareCapacityAlgorithm, spareCapacity } from './options.js'
import { fillSpareValues, fillWeights, planByWeight } from './plan.js'

/*
 * The exact meaning of its draws, which both engines follow; `EngineCore` in `src/engine/engine.ts` has the words.
 *
 * Each member has an estimate (`value`, `time`), kept for as long as a member of the same slot and
 * slot generation is among the members. At a refresh, a fresh reading of a member that is up makes it `value = cpu`
 * where there is none yet, and where its time is later than the estimate's,
 * `value = value + (cpu - value) * (dt / (smoothing + dt))` with `dt` the difference of the times: a first-order lag
 * with the time constant `smoothing`, by the implicit Euler step; with `smoothing` 0 it is always the CPU. The weight of a member with a fresh reading is
 * `100,000 - value`; of a missing one the mean of these, `sum / fresh`; with `missing: 'exclude'` such a member is
 * not eligible. Where no member is fresh, or all weights are 0, every eligible one has the weight 1. The share of an
 * eligible member is `(1 - minShare) * (weight / total) + minShare / n`, n the eligible members. The value in the
 * view is `floor(100,000 - weight + 0.5)`, 50,000 where no member is fresh. The band is every eligible member.
 *
 * A draw takes two numbers from the generator, always: `i = floor(u1 * n / 2^32)` and `u2`; it is the band's entry i
 * where `u2 < accept[i]`, else entry `alias[i]`. The tables are Vose's: `s[i] = share * n`; entries below 1 go on one
 * stack and the others on another, in order; while both have one, pop `l` from the small and `g` from the large:
 * `accept[l] = floor(s[l] * 2^32)`, `alias[l] = g`, `s[g] = s[g] + s[l] - 1`, and `g` goes on the stack that it
 * belongs to now. Those left over accept always (`2^32`). `pickExcluding` makes the tables anew, from the last
 * refresh's estimates and freshness, for those that are left.
 */
export const spareCapacityDefinition: AlgorithmDefinition<SpareCapacityAlgorithm> = {
  kind: 'spareCapacity',
  fields: ['ttl', 'smoothing', 'minShare', 'missing'],
  isValid: ({ ttl, smoothing, minShare, missing }) =>
    isNumberFrom(ttl, 0) &&
    isFinitePositive(smoothing) &&
    isNumberFrom(minShare, 0, 1) &&
    (missing === 'mean' || missing === 'exclude'),
  make: spareCapacity,
  explain: {
    grounds({ effective, fresh }, { hasFresh }) {
      if (!hasFresh) return even()
      const cpu = fresh ? effective : undefined
      return {
        grounds: { code: 'spare', cpu },
        words:
          cpu === undefined ? 'without a fresh report it counts as the mean' : `CPU of ${percent(cpu)} %`,
      }
    },
    reason({ effective, cpu }) {
      const load = effective ?? cpu
      const figure = load === undefined ? '' : `: ${percent(load)} %`
      return { reason: { code: 'busy', cpu: load }, words: `no CPU to spare${figure}` }
    },
  },
  excludesMissing: ({ missing }) => missing === 'exclude',
  excludingMissing: (algorithm) => ({ ...algorithm, missing: 'exclude' }),
  portable: {
    readings: (memory, { ttl, smoothing }) => new CpuReadings(memory, { ttl, smoothing, isWhole: false }),
    plan({ missing, minShare }, { raw, count }) {
      const weights = new Float64Array(count)
      const total = fillWeights(raw, count, missing, weights)
      return planByWeight(weights, count, total, minShare)
    },
    fillValues: ({ missing }, raw, values) => fillSpareValues(raw, missing, values),
  },
  native: ({ ttl, smoothing, minShare, missing }) => ({
    ttl,
    smoothing,
    minShare,
    excludesMissing: Number(missing === 'exclude'),
  }),
  column: { label: 'Counts as', about: 'What the algorithm takes its CPU for, percent' },
  variants: [
    {
      name: 'spare-capacity',
      about: 'spareCapacity(): weights of 100 - CPU, smoothed over 10 s',
      make: (ttl) => spareCapacity({ ttl }),
    },
    {
      name: 'spare-capacity-raw',
      about: 'spareCapacity({ smoothing: 0 })',
      make: (ttl) => spareCapacity({ smoothing: 0, ttl }),
    },
  ],
}
