import * as v from 'valibot'
import { checkOptions, flag, options } from '../../options.js'

/** `roundRobin()`: the members that are up, one after the other. */
export interface RoundRobinAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'roundRobin'
  /** Whether all threads of a balancer take turns together. */
  readonly shared?: boolean
}

/** Options of `roundRobin`. */
export interface RoundRobinOptions {
  /**
   * Whether the balancer and those attached to it on other threads take turns together: then the order is exact over
   * all of them, by one atomic step a pick. Else each has turns of its own. Default false.
   */
  shared?: boolean | undefined
}

const roundRobinOptions = options({ shared: v.optional(flag(), false) })

/**
 * Picks the members that are up one after the other, from a random start. The order is exact for one balancer, and with
 * `shared` across all of its threads. It uses no reports, so a busy node gets as much as an idle one. It never herds.
 *
 * @throws OptionError
 */
export function roundRobin(given: RoundRobinOptions = {}): RoundRobinAlgorithm {
  const { shared } = checkOptions('roundRobin', given, roundRobinOptions)
  return Object.freeze({ kind: 'roundRobin', ...(shared && { shared }) })
}
