import { effective } from '../../engine/portable/band.js'
import { WeightReadings } from '../../engine/portable/state-readings.js'
import type { TableMemory } from '../../table/memory.js'
import { claimMetric } from '../../table/metric-names.js'
import type { AlgorithmDefinition } from '../definition.js'
import { byWeight } from '../explain.js'
import { isFinitePositive, isNumberFrom, isWeightsOption, isWhole } from '../valid.js'
import {
  haveRoom,
  isUtilization,
  SHORTEST_UPDATE,
  type WeightClamp,
  type WeightedRoundRobinAlgorithm,
  weightedRoundRobin,
} from './options.js'
import { ReportWeights } from './report-weights.js'
import { planInStride } from './stride.js'

function isClamp(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { max, min, roundUp } = value as Partial<WeightClamp>
  return isNumberFrom(max, 1, Number.MAX_VALUE) && isNumberFrom(min, 0, 1) && typeof roundUp === 'boolean'
}

// Where a table keeps the metrics that stand for the utilization; from now on it keeps them.
function placesOf(memory: TableMemory, { metricNames }: WeightedRoundRobinAlgorithm): number[] {
  return metricNames.map((name) => claimMetric(memory, name))
}

/*
 * The exact meaning of its draws, which both engines follow; `EngineCore` in `src/engine/engine.ts` has the words.
 *
 * Every member that is up is in the band, with a weight, or none that is known.
 *
 * With fixed `weights` these are the members', all known. Else they come from reports (gRFC A58). Of each member is kept,
 * for as long as a member of the same slot and slot generation is among the members: `weight`, `since`, `updated` (none at
 * first), and `from`, the time of the last refresh before it was among them. A refresh reads the reports of members that
 * are up. A report gives a weight where its qps is above 0, its utilization too, its eps not below 0 and the weight
 * finite and above 0: `qps / (utilization + (eps / qps) * errorUtilizationPenalty)`. `time` is that of the qps' sample;
 * parts of samples of other times count as 0. The utilization is `application / 100` where that is above 0, else the
 * largest of the metrics of `metricNames` (the report's own / 100) where that is above 0, else `cpu / 100`. Such a report
 * is taken where its time is later than `updated`, or the same while `since` is known and the weight is another: `weight`
 * and `updated = time` become its, and `since = max(time, from)` where that is none. What gives no weight is *ignored*,
 * and counted where the time of the slot's last report is later than `updated` and than that of the last one ignored.
 *
 * Weights change at *updates* alone: at the first refresh after `setMembers`, as of its time `now`; then every
 * `weightUpdatePeriod` from there on, as of these times. A refresh for which some are due makes the last of them, with the
 * reports of samples up to its time `at`; later ones are taken after it. At an update, a member with `at - updated >=
 * weightExpirationPeriod` loses its `since`; it has a weight where `since` is known and `at - since >= blackoutPeriod`. The
 * view is out of date from the first update that changes something: the next one where a report was taken since the last,
 * else the first at which a blackout ends or a weight expires.
 *
 * Scaled weights are whole. Fewer than two known, or 65,535 times their sum not finite: 65,535 for
 * all. Else, with `mean` of the known, `cap = min(largest, max *
 * mean)` and `half(x) = floor(x + 0.5)`: `m = half(mean * 65,535 / cap)`, at least 1, and for a known one `half(min(weight, cap) *
 * 65,535 / cap)`, at least `floor`, which is `half(min * m)` (rounded up instead with `roundUp`) and at least 1; `m` for one
 * that is not known. The share is the scaled weight by their sum. The value in the view is the weight, 0 where it is
 * not known. `FACT_FRESH` is the number of those known by reports.
 *
 * The *sequence* is one unsigned 32-bit number. A draw takes numbers `s` of it, each time the one before it is stepped
 * on, until one is a pick: with `n` the band's length, `i = s % n` and `g = floor(s / n)`, it is the band's entry i where
 * `(w[i] * g + i * 32,767) % 65,535 >= 65,535 - w[i]`. `pickExcluding` goes on in the same sequence, with the same scaled
 * weights, and passes over the picks that are excluded: so the turns of the others stay as they are. The sequence starts
 * anew at a refresh whose scaled weights are not those of the refresh before, in number or value: with `total` their sum,
 * `i` is the first entry at which the sum of the weights up to it is above `floor((u1 / 2^32) * total)`, and `g` the first
 * round from `floor(u2 * min(65,535, floor(2^32 / n)) / 2^32)` on in which `i` is picked; the next number is `g * n + i`,
 * or `i` where that is not below 2^32. So the first pick is each entry with the chance of its share.
 */
export const weightedRoundRobinDefinition: AlgorithmDefinition<WeightedRoundRobinAlgorithm> = {
  kind: 'weightedRoundRobin',
  fields: [
    'blackoutPeriod',
    'weightExpirationPeriod',
    'weightUpdatePeriod',
    'errorUtilizationPenalty',
    'clamp',
    'metricNames',
    'weights',
  ],
  isValid: (given) =>
    isWhole(given.blackoutPeriod, 0) &&
    isWhole(given.weightExpirationPeriod, 0) &&
    isWhole(given.weightUpdatePeriod, SHORTEST_UPDATE) &&
    isFinitePositive(given.errorUtilizationPenalty) &&
    isClamp(given.clamp) &&
    Array.isArray(given.metricNames) &&
    given.metricNames.every(isUtilization) &&
    haveRoom(given.metricNames) &&
    isWeightsOption(given.weights),
  make: weightedRoundRobin,
  explain: { grounds: ({ fixedWeight, weight }) => byWeight(fixedWeight ?? weight) },
  portable: {
    readings: (memory, algorithm) =>
      algorithm.weights === undefined
        ? new ReportWeights(memory, algorithm, placesOf(memory, algorithm))
        : new WeightReadings(),
    plan: ({ clamp, weights: fixed }, { raw, count, weights }) =>
      planInStride(raw, count, fixed === undefined ? raw : weights, clamp),
    fillValues(_algorithm, raw, values) {
      for (let i = 0; i < raw.length; i++) values[i] = effective(raw[i] as number, 0)
    },
  },
  native(algorithm, memory) {
    const { blackoutPeriod, weightExpirationPeriod, weightUpdatePeriod, errorUtilizationPenalty, clamp } =
      algorithm
    const isFixed = algorithm.weights !== undefined
    const places = isFixed ? [] : placesOf(memory, algorithm)
    return {
      blackoutPeriod,
      weightExpirationPeriod,
      weightUpdatePeriod,
      errorUtilizationPenalty,
      clampMax: clamp.max,
      clampMin: clamp.min,
      roundsUp: Number(clamp.roundUp),
      weighted: Number(isFixed),
      // A bit for each place.
      utilizations: places.reduce((bits, place) => bits | (1 << place), 0),
    }
  },
  shows: 'weight',
  variants: [
    {
      name: 'weighted-round-robin',
      about: 'weightedRoundRobin(): weights of qps / CPU',
      make: () => weightedRoundRobin(),
    },
  ],
}
