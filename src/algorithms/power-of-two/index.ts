import { MetricReadings } from '../../engine/portable/metric-readings.js'
import { claimMetric, LONGEST_METRIC } from '../../table/metric-names.js'
import type { AlgorithmDefinition } from '../definition.js'
import { short } from '../explain.js'
import { isNumberFrom, isWhole } from '../valid.js'
import { NO_WORKER } from './constants.js'
import { isByFlights, type PowerOfTwoAlgorithm, powerOfTwo } from './options.js'
import { fillLoads, planOfTwo } from './plan.js'

/*
 * The exact meaning of its draws, which both engines follow; `EngineCore` in `src/engine/engine.ts` has the words.
 *
 * As `random`, but the best of some by one metric. A value is fresh as a reading is, by the time of the
 * metric's own sample; the value in the view is the metric's, `NOT_ELIGIBLE` where it is not fresh. For `inFlight` that
 * is 0, the load at a draw is the larger of the value and the slot's count, and the core is live; else the load is the
 * value. `n` is the band's length; where it is 1 a draw gives the one, without a number. With `0 < c < 2^32` for
 * `c = floor(choiceRate * 2^32)`, one number u says whether it compares: `u < c`; with `c = 2^32` it always does, with
 * 0 never. Where it does not, `random` takes another number as a draw from the band does, and `worker` none: the
 * band's entry `thread % n`. Where it does, `d = min(choices, n)`, and candidates and best are drawn as for
 * `leastConnections`, by the load. With `unknown: 'fail'` and a best of load `Infinity` the draw gives
 * `unknownDraw(index)`, modulo 2^32 in a `Uint32Array`; it is a draw like any other, and takes the same numbers.
 * `fillShares` gives, where n > 1, `rate * compared + (1 - rate) * rest`, with `rate = c / 2^32` and `rest = 1 / n`, or
 * for `worker` 1 for its entry and 0 for the others. `compared` is `1 / n` for `inFlight`. Else k members of one load,
 * with m whose load is no less (they included), have `(r(m) - r(m - k)) / k` each, `r(m)` the product of
 * `(m - i) / (n - i)` for i = 0, ..., d - 1, in this order, 0 where m < d; 0 where a draw of them fails.
 */
export const powerOfTwoDefinition: AlgorithmDefinition<PowerOfTwoAlgorithm> = {
  kind: 'powerOfTwo',
  fields: ['metric', 'choices', 'choiceRate', 'otherwise', 'unknown', 'ttl'],
  isValid: ({ metric, choices, choiceRate, otherwise, unknown, ttl }) =>
    typeof metric === 'string' &&
    isNumberFrom(metric.length, 1, LONGEST_METRIC) &&
    isWhole(choices, 2, 64) &&
    isNumberFrom(choiceRate, 0, 1) &&
    (otherwise === 'random' || otherwise === 'worker') &&
    (unknown === 'random' || unknown === 'fail') &&
    isNumberFrom(ttl, 0),
  make: powerOfTwo,
  explain: {
    grounds: ({ effective: load }) => ({
      grounds: { code: 'compared', load },
      words:
        load === undefined ? 'its load is not known' : `its load of ${short(load)} is compared with others'`,
    }),
    reason: ({ effective: load }) => ({
      reason: { code: 'outdone', load },
      words: `more loaded than the nodes it is compared with${load === undefined ? '' : `: ${short(load)}`}`,
    }),
    needsReport: true,
  },
  thinning: (algorithm) => (isByFlights(algorithm) ? 'inFlight' : 'compared'),
  portable: {
    readings: (memory, { metric, ttl }) => new MetricReadings(memory, claimMetric(memory, metric), ttl),
    plan: (algorithm, { raw, count, flights, thread }) => planOfTwo(algorithm, raw, count, flights, thread),
    fillValues: fillLoads,
  },
  native: ({ metric, choices, choiceRate, otherwise, unknown, ttl }, memory, thread) => ({
    place: claimMetric(memory, metric),
    choices,
    choiceRate,
    // The thread that keeps to one member.
    worker: otherwise === 'worker' ? thread : NO_WORKER,
    failsUnknown: Number(unknown === 'fail'),
    ttl,
  }),
  isLive: isByFlights,
  metric: ({ metric }) => metric,
  comparesFlights: isByFlights,
  mayFail: ({ unknown }) => unknown === 'fail',
  column: { label: 'Metric', about: 'What nodes are compared by' },
  variants: [
    {
      name: 'two-choices-cpu',
      about: "powerOfTwo({ metric: 'cpu' }): the less busy of two",
      make: (ttl) => powerOfTwo({ metric: 'cpu', ttl }),
    },
    {
      name: 'two-choices-in-flight',
      about: "powerOfTwo({ metric: 'inFlight' }): by what the node says, or what this balancer has there",
      make: (ttl) => powerOfTwo({ metric: 'inFlight', ttl }),
    },
  ],
}
