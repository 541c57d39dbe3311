import type { RandomAlgorithm } from './algorithm.js'

const algorithm: RandomAlgorithm = Object.freeze({ kind: 'random' })

/** Picks uniformly among the members that are up. Listens to no report; never herds. */
export function random(): RandomAlgorithm {
  return algorithm
}
