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
  /** A node that gives errors alone counts as so many times as slow, less one. */
  readonly errorCost: number
}

/** Options of `adaptive`. */
export interface AdaptiveOptions {
  /** Oldest age of a report that still counts, ms, inclusive. Default 10,000. */
  ttl?: number | undefined
  /** What is known of a node fades with this time constant, ms, so that it is tried again some time. Default 10,000. */
  fading?: number | undefined
  /**
   * A node that gives errors alone counts as so many times as slow, less one, 0 to 1e6; 0: errors do not count. Default
   * 10.
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
 * **What it does.** A balancer learns for each node what one request there costs: the sum of response times over the sum
 * of loads, where a response's load is what it leaves in flight there, of this process, plus one. A queue that goes up
 * and down by ones is found by arrivals as it is left by departures, so that this is the response time to expect for
 * each request there, whatever makes the node slow: other work, fewer or slower cores, a long way, requests of other
 * clients. Half a millisecond is added for what a request takes of the process itself: of nodes that answer sooner than it
 * asks, whoever has the fewest in flight is picked. The score is `(in flight + 1) x cost`, the response time to expect of
 * this very request, and the least wins.
 *
 * **Why many balancers do not herd.** The costs are each balancer's own. Where it sends a large part of what a node gets,
 * its own requests in flight say much of the queue there, and the cost of one is low; where others' requests are in the
 * way it is high. So each prefers the nodes that it uses most already, goes on to others when its own requests wait, and
 * moves away where another has settled too. Nobody tells them to, but balancers share out the nodes among themselves,
 * and each then knows by itself most of what it needs to know. Weights that all share break ties alike for all, and herd.
 *
 * **Use leases.** It learns by `acquire` and `release`, or `run`; errors, told by the outcome, make a node dearer, so that
 * one that fails fast does not look idle. Picks by `select` alone say nothing of responses: then it goes by spare CPU,
 * in turn, which is `spareCapacity()` without its chance, and as unstable as that at high load. In `select(nodes)` it is
 * `spareCapacity()`.
 *
 * **Reports** set how much is left to chance (the part of all requests in flight that is this process's), and what
 * `select` goes by.
 *
 * **To know.** At little load one balancer packs: the largest share of a node within 5 s is 2.4 of an equal one at 20 %
 * load, 1.5 at 50 %; each request still finds an idle node. A node that hung is back 25 s after it is well, one that
 * timed out after 5 to 10 s. For the first few responses it is `leastConnections`.
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
