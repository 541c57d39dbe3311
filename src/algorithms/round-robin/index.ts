import { fillBand } from '../../engine/portable/band.js'
import { TurnPlan } from '../../engine/portable/plan.js'
import { fillUpValues, StateReadings } from '../../engine/portable/state-readings.js'
import type { AlgorithmDefinition } from '../definition.js'
import { turn } from '../explain.js'
import { type RoundRobinAlgorithm, roundRobin } from './options.js'

/*
 * The exact meaning of its draws, which both engines follow; `EngineCore` in `src/engine/engine.ts` has the words.
 *
 * As `random`, but one member after the other. `turn` is a whole number: at creation the generator's next number.
 * A draw is `band[turn % length]`, and then `turn = turn % length + 1`. `pickExcluding` takes the first of
 * `band[(turn + i) % length]`, i = 0, 1, ..., that is not excluded, and then `turn = (turn + i) % length + 1`.
 */
export const roundRobinDefinition: AlgorithmDefinition<RoundRobinAlgorithm> = {
  kind: 'roundRobin',
  fields: ['shared'],
  isValid: ({ shared }) => shared === undefined || typeof shared === 'boolean',
  make: roundRobin,
  explain: { grounds: turn },
  portable: {
    readings: () => new StateReadings(),
    plan(_algorithm, { raw, count }) {
      const band = new Uint32Array(count)
      return new TurnPlan(band, fillBand(raw, count, 0, 0, band))
    },
    fillValues: (_algorithm, raw, values) => fillUpValues(raw, values),
    takesTurns: true,
  },
  native: () => ({}),
  needs: ({ shared = false }) => ({ turns: shared }),
  variants: [{ name: 'round-robin', about: 'roundRobin()', make: () => roundRobin() }],
}
