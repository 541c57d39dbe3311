import { fillBand } from '../../engine/portable/band.js'
import { UniformPlan } from '../../engine/portable/plan.js'
import { fillUpValues, StateReadings } from '../../engine/portable/state-readings.js'
import type { AlgorithmDefinition } from '../definition.js'
import { byFixedWeight } from '../explain.js'
import { planByFixedWeight } from '../spare-capacity/plan.js'
import { isWeightsOption } from '../valid.js'
import { type RandomAlgorithm, random } from './options.js'

/*
 * The exact meaning of its draws, which both engines follow; `EngineCore` in `src/engine/engine.ts` has the words.
 *
 * Every member that is up is eligible, with the value 0, and in the band. With `weights`, the share of an
 * eligible member is `weight / total`, total the sum over the eligible, and draws are those of `spareCapacity`.
 */
export const randomDefinition: AlgorithmDefinition<RandomAlgorithm> = {
  kind: 'random',
  fields: ['weights'],
  isValid: ({ weights }) => isWeightsOption(weights),
  make: random,
  explain: { grounds: byFixedWeight },
  portable: {
    readings: () => new StateReadings(),
    plan({ weights: isWeighted }, { raw, count, weights }) {
      if (isWeighted !== undefined) return planByFixedWeight(raw, count, weights)
      const band = new Uint32Array(count)
      return new UniformPlan(band, fillBand(raw, count, 0, 0, band))
    },
    fillValues: (_algorithm, raw, values) => fillUpValues(raw, values),
    fillBand: ({ weights }, raw, count, band) =>
      weights === undefined ? fillBand(raw, count, 0, 0, band) : undefined,
  },
  native: ({ weights }) => ({ weighted: Number(weights !== undefined) }),
  variants: [{ name: 'random', about: 'random()', make: () => random() }],
}
