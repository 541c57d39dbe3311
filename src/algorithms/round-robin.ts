import type { RoundRobinAlgorithm } from './algorithm.js'

const algorithm: RoundRobinAlgorithm = Object.freeze({ kind: 'roundRobin' })

/**
 * Picks the members that are up in turn, from a random start: exact for one balancer. Listens to no report, so it
 * gives a busy node as much as an idle one; never herds.
 */
export function roundRobin(): RoundRobinAlgorithm {
  return algorithm
}
