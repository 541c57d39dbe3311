import { LONGEST_WAIT } from '../../clock.js'
import { CpuReadings } from '../../engine/portable/cpu-readings.js'
import { planUniform } from '../../engine/portable/plan.js'
import { fillUpValues } from '../../engine/portable/state-readings.js'
import type { AlgorithmDefinition } from '../definition.js'
import { byCost } from '../explain.js'
import { spareCapacity } from '../spare-capacity/options.js'
import { isFinitePositive, isNumberFrom } from '../valid.js'
import { FewMembers } from './few-members.js'
import { type AdaptiveAlgorithm, adaptive } from './options.js'
import { KeptCosts } from './plan.js'

/*
 * The exact meaning of its draws, which both engines follow; `EngineCore` in `src/engine/engine.ts` has the words. The names in
 * capitals are in `constants.ts`.
 *
 * Live. The band is every member that is up. A draw compares some of them by the response time to expect,
 * `score = (waiting * thin + ahead + 1) * cost` with `waiting = max(0, flights - aside)`, flights as for `leastConnections`.
 * Each member has `loads`, `times`, `errors`, `ahead`, `aside` and `far` (0 at first), `thin` and `busy` (1), `picked` (`picks`),
 * `least`, `latency` and `difference` (none), and `cost`, kept for as long as estimates are. The core has `mean` (1 at first),
 * `isKnown` (false), `own`, `all`, `calm`, `failing`, `picks`, `pairs`, `products` and `squares` (0), `retried` (none) and
 * `scatter` (BAND * OWN_SHARE).
 *
 * *Learning* a member: `n = loads + PRIOR`, `c = (times + PRIOR * mean) / n`. Where `calm > 0`, with
 * `w = 1 + (CALM_ERRORS * calm) / sqrt(n)`, `c = c > mean ? max(mean, c / w) : min(mean, c * w)`, and then
 * `c = c + calm * min(far, mean)`. `cost = c * (1 + errorCost * max(0, errors - failing)) * busy`. Each new member is learned.
 *
 * Draw: where there is a `retried`, that one, once. Else candidates: of a band of at most 16, all of it in order; else the
 * `cheapest`, the `emptied`, and 4 drawn from the band by `floor(u * length / 2^32)`, repeats and all. With the least score,
 * `most = least * (1 + scatter)`; of the candidates whose score is at most that, the only one; else where `calm > 0` the one
 * of the least `picked`, the first of equals; else the one at `floor(u * alike / 2^32)` in order, of one more number. Each draw
 * adds 1 to `picks`, and `picked` of its member is that. `pickExcluding` draws from the band without the excluded, passes
 * over them among `cheapest` and `emptied`, and does not look at `retried`. `sent`, and each draw by `fill`, adds 1 to `ahead`.
 *
 * `ended`: where the band is longer than 16, the member is up and `max(0, left - aside)` is 0, it becomes entry `place` of
 * `emptied` (8 places, a ring: `place` goes on by one). Then
 * `errors = errors + ERROR_GAIN * ((ok ? 0 : 1 - failing) - errors)`; if ok, with
 * `load = max(0, left - aside) * thin + 1` and `e = (load * (times + PRIOR * mean)) / (loads + PRIOR)`,
 * `took = max(latency, 0)`, where `isKnown` at most `far + FIRST_CLIP * e` where there is no `latency` yet, else `far + CLIP * e`. `latency` becomes
 * `took` if none, and `least` stays none; else it becomes
 * `latency + (took - latency) / LATENCY_MEMORY`, and `least` becomes `took` if none, else
 * `least + (took - least) / (took <= least ? LEAST_FALL : LEAST_RISE)`. `time = max(0, took - far) + OWN_TIME * load`. If it was alone and `isKnown`, `d = time / e - 1` becomes `difference`, and where there was one before,
 * `pairs` goes up by 1, `products` by `d * before`, and `squares` by `(d * d + before * before) / 2`. Then
 * `loads = loads * (1 - 1 / MEMORY) + load`, `times = times * (1 - 1 / MEMORY) + time`. In any case learn it,
 * and last `failing = failing + ((ok ? 0 : 1) - failing) / FAILING_MEMORY`.
 *
 * Refresh, with `dt` the time since the last, at least 0 (0 at the first). `pairs`, `products` and `squares` fade by
 * `CALM_FADING / (CALM_FADING + dt)`; for each member in order `loads` and `times` by `fading / (fading + dt)`, `errors` and
 * `failing` by `FORGIVING / (FORGIVING + dt)`. `L` and `T` are the sums of loads and times; `isKnown` if both are above 0, and then
 * `mean = T / L`.
 * `nearest` is the smallest `least` of the band; `far = FAR_SHARE * max(0, least - nearest - (FAR_LEAST + FAR_FEW / (loads + 1)) *
 * mean)`, 0 without `least`; `thin = max(LEAST_THIN, 1 - far / latency)` where `far > 0`, else 1.
 * Over members that are up with a fresh report of requests in flight, `o` and `r` are the sums of flights and of what is
 * reported, and with `g = dt / (SMOOTHING + dt)`, `own = own + g * (o - own)`, `all = all + g * (r - all)`;
 * `share = all > 0 ? min(1, own / all) : 0`, `scatter = BAND * (all > 0 ? share : OWN_SHARE)`. `calm` is what `calmOf` in
 * `calm.ts` says, with the mean CPU where more than half of the band has a fresh reading.
 * `spare` is `max(LEAST_SPARE, 1 - value / 100,000)` with the value of `spareCapacity` (`smoothing` SMOOTHING) where there is a
 * fresh reading; `busy` is BUSY_COST where `spare <= min(BUSY_SPARE, median - BUSY_GAP)`, else 1; the median of those that have
 * one is the upper of the two in the middle.
 * Then, with `first` the least `ahead * cost` of those that are up, for each in order `a = max(0, ahead * cost - first)`; if
 * `isKnown`, `times = min(times, WITHIN * mean * loads)` and learn it; else `cost = 1 / spare`, without a reading the mean of
 * those that have one, `sum / fresh`, and 1 where there is none; `ahead = a / cost`.
 * Of a band longer than 16, `cheapest` are the 4 of the least cost, the first of equals first. Last, if `isKnown`, `retried` is
 * the member of the least `picked` below `picks - RETRY * length`, the first of equals, of those with
 * `max(0, flights - aside)` 0; else none. `cheapest` and `emptied` are cleared, `place` is 0 and `retried` none when members are
 * set. The view's values are the costs; it is out of date REFRESH later, and FIRST_REFRESH
 * where not `isKnown`. `fillShares` gives 1 / n.
 */
export const adaptiveDefinition: AlgorithmDefinition<AdaptiveAlgorithm> = {
  kind: 'adaptive',
  fields: ['ttl', 'smoothing', 'fading', 'errorCost'],
  isValid: ({ ttl, smoothing, fading, errorCost }) =>
    isNumberFrom(ttl, 0) &&
    isFinitePositive(smoothing) &&
    isNumberFrom(fading, 1, LONGEST_WAIT) &&
    isNumberFrom(errorCost, 0, 1e6),
  make: adaptive,
  explain: { grounds: byCost },
  thinning: () => 'cost',
  portable: {
    readings: (memory, { ttl, smoothing }) => new CpuReadings(memory, { ttl, smoothing, isWhole: false }),
    plan: (_algorithm, { raw, count }) => planUniform(raw, count),
    fillValues: (_algorithm, raw, values) => fillUpValues(raw, values),
    keep: (memory, algorithm) => new KeptCosts(memory, algorithm),
  },
  native: ({ ttl, smoothing, fading, errorCost }) => ({ ttl, smoothing, fading, errorCost }),
  learns: true,
  beside: ({ errorCost }, core, many, memory) => new FewMembers(core, many, memory, errorCost),
  // Nobody tells how picks from arrays end, so there is nothing to learn from.
  forArrays: ({ ttl }) => spareCapacity({ ttl }),
  isLive: () => true,
  shows: 'cost',
  column: { label: 'Cost, ms', about: 'Response time to expect for each request there' },
  variants: [
    {
      name: 'adaptive',
      about: 'adaptive(): the least response time to expect, learned from responses',
      make: (ttl) => adaptive({ ttl }),
    },
  ],
}
