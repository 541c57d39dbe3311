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
 * The exact meaning of its draws, which both engines follow; `EngineCore` in `src/engine/engine.ts` has the words.
 *
 * Live. The band is every member that is up; a draw compares some of them by the response time to expect,
 * `score = (flights + ahead + 1) * cost`, flights as for `leastConnections`. Each member has `loads`, `times`, `errors`,
 * `ahead` (0 at first) and `cost`, kept for as long as estimates are; the core has `mean` (1 at first), `own` and `all`
 * (0) and `scatter` (0.2 * 0.25). *Learning* a member is
 * `cost = ((times + 5 * mean) / (loads + 5)) * (1 + errorCost * errors)`; each new member is learned.
 *
 * Candidates: of a band of at most 16, all of it in order; else the `cheapest`, the `emptied`, and 4 drawn from the band
 * by `floor(u * length / 2^32)`, repeats and all. With the least score, `most = least * (1 + scatter)`; of the
 * candidates whose score is at most that, the only one, or the one at `floor(u * alike / 2^32)` in order, of one more
 * number. `pickExcluding` draws from the band without the excluded, and passes over them among `cheapest` and `emptied`.
 * `sent`, and each draw by `fill`, adds 1 to `ahead`.
 *
 * `ended`: where `left` is 0, the band is longer than 16 and the member is up, it becomes entry `place` of `emptied`
 * (8 places, a ring: `place` goes on by one). Then `errors = errors + 0.125 * ((ok ? 0 : 1) - errors)`; if ok,
 * `loads = loads * (1 - 1 / 128) + (left + 1)` and `times = times * (1 - 1 / 128) + (max(latency, 0) + 0.5 * (left + 1))`; learn it.
 *
 * Refresh, with `dt` the time since the last, at least 0 (0 at the first): for each member in order
 * `loads = loads * (fading / (fading + dt))`, `times` too, `errors = errors * (5,000 / (5,000 + dt))`; `L` and `T` are the
 * sums of loads and times, `least` the least `ahead * cost` of those that are up. `mean = T / L` if both are above 0.
 * Then for each in order `a = max(0, ahead * cost - least)`; if both are, `times = min(times, 10 * mean * loads)` and
 * learn it; else `cost = 1 / spare`; `ahead = a / cost`. `spare` is `max(0.01, 1 - value / 100,000)` with the value of
 * `spareCapacity` (`smoothing` 10,000) where there is a fresh reading, else the mean of those that have one, `sum / fresh`,
 * and 1 where there is none. Then, over members that are up
 * with a fresh report of requests in flight, `o` and `r` are the sums of flights and of what is reported, and with
 * `g = dt / (10,000 + dt)`, `own = own + g * (o - own)`, `all = all + g * (r - all)`,
 * `scatter = 0.2 * (all > 0 ? min(1, own / all) : 0.25)`. Last, of a band longer than 16, `cheapest` are the 4 of the least
 * cost, the first of equals first. `cheapest` and `emptied` are cleared, and `place` is 0, when members are set. The
 * view's values are the costs; it is out of date 1,000 ms later. `fillShares` gives 1 / n.
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
