import {
  CALM_CPU,
  CALM_LEAST,
  CALM_MOST,
  CALM_OWN_SHARE,
  CALM_PAIRS,
  PAIRS,
  PRODUCTS,
  SQUARES,
} from './constants.js'

/** What says how much the nodes have to do. */
export interface LoadSigns {
  /** Mean CPU, 0-1, where at least half of the nodes have a fresh report. */
  readonly cpu: number | undefined
  /** This process's part of all requests in flight, 0-1; 0 where no report says. */
  readonly ownShare: number
  /** Whether all members are compared at each draw. */
  readonly isFew: boolean
  /** Numbers of all members. */
  readonly known: Float64Array
}

/**
 * How sure it is that load is low, 0-1: then ties are shared out evenly. At high load that would cost time, since balancers do
 * better that prefer different nodes.
 *
 * Reports of CPU say it. Without them, or where nearly all requests are this process's, it is taken from responses that found
 * none of this balancer's requests at their node: where others' requests queue there, a slow one is followed by a slow one.
 */
export function calmOf({ cpu, ownShare, isFew, known }: LoadSigns): number {
  if (cpu !== undefined && cpu < CALM_CPU) return 1
  if (cpu !== undefined && ownShare < CALM_OWN_SHARE) return 0
  const pairs = known[PAIRS] as number
  if (!isFew || pairs < CALM_PAIRS) return 0
  // Responses that are nearly the same each time correlate by trifles.
  const squares = Math.max(known[SQUARES] as number, CALM_LEAST * pairs)
  const highest = (known[PRODUCTS] as number) / squares + 1 / Math.sqrt(pairs + 1)
  return Math.max(0, Math.min(1, 1 - highest / CALM_MOST))
}
