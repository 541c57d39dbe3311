import * as v from 'valibot'
import { checkOptions, milliseconds, number, options } from '../../options.js'
import { ttlOption } from '../ttl.js'

/** `adaptive()`: the least response time to expect. */
export interface AdaptiveAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'adaptive'
  /** Oldest age of a fresh reading, whole ms, inclusive. */
  readonly ttl: number
  /** Time constant over which CPU is smoothed, ms. */
  readonly smoothing: number
  /** Time constant with which what is known of a node fades, ms. */
  readonly fading: number
  /** A node that returns only errors, while the others return none, counts as (1 + errorCost) times as slow. */
  readonly errorCost: number
}

/** Options of `adaptive`. */
export interface AdaptiveOptions {
  /** Oldest age of a report that still counts, ms, inclusive. Default 10,000. */
  ttl?: number | undefined
  /** What is known of a node fades with this time constant, ms. Default 10,000. */
  fading?: number | undefined
  /**
   * A node that returns only errors, while the others return none, counts as (1 + errorCost) times as slow, 0 to 1e6; 0: errors
   * do not count. Default 10.
   */
  errorCost?: number | undefined
}

const adaptiveOptions = options({
  ttl: ttlOption,
  fading: v.optional(milliseconds(1), 10_000),
  errorCost: v.optional(number(0, 1e6), 10),
})

// What `spareCapacity` has: settles at loads up to 83 % with reports every 5 s.
const SMOOTHING = 10_000

/**
 * The recommended algorithm: picks the node with the least response time to expect, of all where there are at most 16,
 * else of 16.
 *
 * **What it does.** A balancer learns for each node what one request costs there: the sum of response times over the sum of
 * loads. The load of a response is what it leaves in flight there, of this process, plus one. The score of a node is
 * `(in flight + 1) x cost`, the response time to expect of this very request, and the least wins. Half a millisecond is added
 * for what a request takes of the process itself, so that nodes that answer sooner than that are picked by requests in flight.
 *
 * **Many balancers do not herd.** Each learns its own costs. It prefers the nodes that it already uses most, goes on to others
 * when its own requests wait, and moves away from a node that another balancer has settled on.
 *
 * **What does not mislead it.**
 * - One long response (a report, a timeout) counts as at most 6 times what was expected. A request that stays open for more
 *   than a second while 8 later ones end (a long poll) does not count as in flight, and nothing is learned from it.
 * - Nothing is learned from requests that were open while this process stood still: a blocked event loop, SIGSTOP, a suspended
 *   machine.
 * - A long way is not work. Three quarters of a node's extra distance, by its least response time, are left out of its cost
 *   and of its requests in flight.
 * - An error counts only where other nodes do not return the same.
 * - A node that gets no requests is tried again after 32 picks for each node.
 * - At low load, equal nodes get equal shares. Low load is known from reported CPU (below 35 %), or without reports from
 *   responses that do not resemble the one before, which takes some 300 of them.
 *
 * **Use leases.** It learns from `acquire` and `release`, or `run`. Errors, told by the outcome, make a node dearer, so that
 * one that fails fast does not look idle. `select` alone says nothing of responses: then it goes by spare CPU, as
 * `spareCapacity()` does but without chance, and is as unstable as that at high load. In `select(nodes)` it is
 * `spareCapacity()`.
 *
 * **Reports** decide until responses do. A node that reports 90 % CPU or more, and 30 points more than the median, counts as
 * twice as slow.
 *
 * **To know.** A node whose every response takes longer, never now and then only as long as others', looks like one that is far
 * away: a part of that is left out at first, and learned from its queue. With several balancers at 30 to 50 % load the largest
 * share of a node within 5 s can be half again an equal one. For the first few responses it is `leastConnections`.
 *
 * How it was found, and what failed, with figures, is in the guide "adaptive(): how it was found".
 *
 * @example
 * ```ts
 * const balancer = createBalancer({ nodes, algorithm: adaptive() })
 * await balancer.run((node) => fetch(`http://${node}/`))
 * ```
 * @throws OptionError
 */
export function adaptive(given: AdaptiveOptions = {}): AdaptiveAlgorithm {
  const { ttl, fading, errorCost } = checkOptions('adaptive', given, adaptiveOptions)
  return Object.freeze({ kind: 'adaptive', ttl, smoothing: SMOOTHING, fading, errorCost })
}
