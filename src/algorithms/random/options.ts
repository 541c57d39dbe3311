import { checkOptions, options } from '../../options.js'
import { type Weights, weightsOption } from '../weights.js'

/** `random()`: every member that is up, with equal chances or by weight. */
export interface RandomAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'random'
  /** Fixed weights by id. */
  readonly weights?: Weights
}

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
