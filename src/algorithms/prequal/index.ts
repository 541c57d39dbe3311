import { planUniform } from '../../engine/portable/plan.js'
import { fillUpValues, StateReadings } from '../../engine/portable/state-readings.js'
import type { AlgorithmDefinition } from '../definition.js'
import { byInFlight } from '../explain.js'
import { random } from '../random/options.js'
import { isFinitePositive, isNumberFrom, isWhole } from '../valid.js'
import { MOST_POOL, MOST_RATE, type PrequalAlgorithm, prequal } from './options.js'
import { KeptProbes } from './plan.js'

/*
 * The exact meaning of its draws, which both engines follow; `EngineCore` in `src/engine/engine.ts` has the words.
 *
 * As `random`, but by a pool of what members said, one entry a member: its requests in flight, latency (NaN:
 * unknown), `time` and uses. Entries are in order of their times, one that came later after those of equal time; those
 * of members that left or are not up go at `setMembers`. Such a core is live.
 *
 * To *add* what was said: nothing, where the member's entry has a later time; else that entry goes. The requests in
 * flight are put to the last 128 that were added, and `threshold` is, of these in ascending order, the one at
 * `floor(quantile * count)`; infinite where there is none. With `n` members that are up and
 * `net = (1 - pool / n) * probes - removals` an entry has `budget = max(1, 2 / net)` uses, infinitely many where `net`
 * is not above 0. Where the budget has a fraction, `floor(budget)`, and one more where `u / 2^32` of a number is below
 * the fraction. With more than `pool` entries then, the first goes.
 *
 * Each member has a time `seen`, kept as estimates are. At a refresh a member that is up, whose last report is later than
 * that and has requests in flight that were sampled later, at most `maxAge` ago, has said these, and its latency where
 * that was sampled at most `maxAge` ago; `seen` is that time then. Of those that did, found in member order, the first
 * `pool` are kept; number k (from 0) takes the place `floor(u * (k + 1) / 2^32)` of another number, where there is such a
 * place. Those kept are added in order. Then entries older than `maxAge` go. The view is out of date from the first
 * entry's `time + maxAge + 1`.
 *
 * A member is hot where it has more in flight than `threshold`. A cold entry goes before a hot one, of two cold ones that
 * of the lower latency (then of fewer in flight), of two hot ones that of fewer in flight (then of the lower latency); an
 * unknown latency is the mean of the known ones in the pool, 0 where there is none. A draw is the best of the entries,
 * of equal ones the last; its requests in flight become one more, its uses one less, and with no use left it goes. Then,
 * where `n > pool`, `removals` is added to a sum; while that is 1 or more, it becomes 1 less, and an entry goes,
 * alternately the first and the worst (of equal ones the first). With less than two entries a draw is that of `random`,
 * and counted. `pickExcluding` draws from the entries and the band without the excluded. `fillShares` gives 1 / n.
 */
export const prequalDefinition: AlgorithmDefinition<PrequalAlgorithm> = {
  kind: 'prequal',
  fields: ['quantile', 'pool', 'maxAge', 'probes', 'removals'],
  isValid: ({ quantile, pool, maxAge, probes, removals }) =>
    isNumberFrom(quantile, 0, 1) &&
    isWhole(pool, 2, MOST_POOL) &&
    isFinitePositive(maxAge) &&
    isNumberFrom(probes, 0, MOST_RATE) &&
    isNumberFrom(removals, 0, MOST_RATE),
  make: prequal,
  explain: { grounds: byInFlight },
  thinning: () => 'inFlight',
  portable: {
    readings: () => new StateReadings(),
    plan: (_algorithm, { raw, count }) => planUniform(raw, count),
    fillValues: (_algorithm, raw, values) => fillUpValues(raw, values),
    keep: (memory, algorithm, generator) => new KeptProbes(memory, algorithm, generator),
  },
  native: ({ quantile, pool, maxAge, probes, removals }) => ({ quantile, pool, maxAge, probes, removals }),
  // Members alone are probed, so that for arrays there is no pool.
  forArrays: () => random(),
  isLive: () => true,
  probing: ({ probes, pool }) => (probes === 0 ? undefined : { probes, pool }),
  variants: [
    {
      name: 'prequal',
      about: 'prequal(): by in flight and latency of those that were probed, three a request',
      make: () => prequal(),
    },
  ],
}
