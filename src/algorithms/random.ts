import { checkOptions, options } from '../options.js'
import type { RandomAlgorithm, Weights } from './algorithm.js'
import { weightsOption } from './weights.js'

/** Options of `random`. */
export interface RandomOptions {
  /**
   * Chances by node id, 0 to 1e12: a node of twice the weight is picked twice as often. 0: never. Not named: 1.
   * Default none: all have equal chances.
   */
  weights?: Weights | undefined
}

const randomOptions = options({ weights: weightsOption })

/**
 * Picks uniformly among the members that are up, or in proportion to fixed `weights`. Listens to no report; never herds.
 *
 * @throws OptionError
 */
export function random(given: RandomOptions = {}): RandomAlgorithm {
  const { weights } = checkOptions('random', given, randomOptions)
  return Object.freeze({ kind: 'random', ...(weights && { weights }) })
}
