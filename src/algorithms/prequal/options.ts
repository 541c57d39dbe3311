import * as v from 'valibot'
import { checkOptions, milliseconds, number, options, whole } from '../../options.js'

/** Largest pool: a pick looks at all of it. */
export const MOST_POOL = 1_024
/** Most probes, and removals, a pick. */
export const MOST_RATE = 64

/** `prequal()`: by requests in flight and latency, from a pool of probes. */
export interface PrequalAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'prequal'
  /** Members with more in flight than this quantile of recent probes are hot, 0-1. */
  readonly quantile: number
  /** Most entries in the pool. */
  readonly pool: number
  /** Oldest age of an entry that may be used, whole ms, inclusive. */
  readonly maxAge: number
  /** Probes a pick. */
  readonly probes: number
  /** Entries removed per pick, alternately the oldest and the worst. */
  readonly removals: number
}

/** Options of `prequal`. */
export interface PrequalOptions {
  /**
   * A member is hot where it has more requests in flight than this quantile of what the last 128 probes found, 0-1. 0:
   * nearly by requests in flight alone; 1: by latency alone. Default 0.84.
   */
  quantile?: number | undefined
  /** Most entries in the pool, one a member, 2 to 1,024. A pick looks at all of them. Default 16. */
  pool?: number | undefined
  /** Oldest age of an entry that may be used, ms. Default 1,000. */
  maxAge?: number | undefined
  /**
   * Probes sent a pick, 0 to 64, fractions allowed; how often an entry is used follows from it. 0: no probes, the pool
   * is filled by polls and `report()` alone. Default 3.
   */
  probes?: number | undefined
  /** Entries removed per pick, alternately the oldest and the worst, 0 to 64, fractions allowed. Default 1. */
  removals?: number | undefined
}

const prequalOptions = options({
  quantile: v.optional(number(0, 1), 0.84),
  pool: v.optional(whole(2, MOST_POOL), 16),
  maxAge: v.optional(milliseconds(), 1_000),
  probes: v.optional(number(0, MOST_RATE), 3),
  removals: v.optional(number(0, MOST_RATE), 1),
})

/**
 * Picks by what members have in flight and how long they take, as a few of them said when they were asked just now:
 * Prequal (Wydrowski et al., "Load is not what you should balance", NSDI 2024). Each pick has some members asked by the
 * balancer's transport, without waiting; the answers make up a pool. A member that has more in flight than most is hot.
 * The pick is the cold one of the lowest latency, or, where all are hot, the one with the fewest in flight; its entry
 * counts one more in flight from then on. Where the pool has less than two entries, it is any member.
 *
 * Use it where many clients share many nodes, so that what one of them sent tells nothing of a node, and where what
 * nodes can do changes by the second. Reports must have `inFlight`, and should have `latency`: that of requests that
 * found about as many in flight as there are now. Does not herd, since entries are few, differ from client to client and
 * are used up. Costs `probes` messages a pick, at most `pool` under way at once.
 *
 * A balancer that picks by it needs `poll.transport` or `poll.port`, unless `probes` is 0. With `poll: false`, and in
 * balancers that are attached from other threads, nothing is asked: there, as everywhere, what
 * polls, `report()` and others' probes put into the table makes entries too.
 *
 * @throws OptionError
 */
export function prequal(given: PrequalOptions = {}): PrequalAlgorithm {
  const { quantile, pool, maxAge, probes, removals } = checkOptions('prequal', given, prequalOptions)
  return Object.freeze({ kind: 'prequal', quantile, pool, maxAge: Math.floor(maxAge), probes, removals })
}
