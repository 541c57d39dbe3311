import * as v from 'valibot'
import { checkOptions, milliseconds, number, oneOf, options } from '../../options.js'
import { ttlOption } from '../ttl.js'

/** `spareCapacity()`, with its options in the table's units. */
export interface SpareCapacityAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'spareCapacity'
  /** Oldest age of a fresh reading, whole ms, inclusive. */
  readonly ttl: number
  /** Time constant of the smoothing, ms; 0: none. */
  readonly smoothing: number
  /** What a full node keeps of an equal share, 0-1. */
  readonly minShare: number
  /** What a missing reading counts as. */
  readonly missing: 'mean' | 'exclude'
}

/** Options of `spareCapacity`. */
export interface SpareCapacityOptions {
  /**
   * Time constant over which reports are smoothed, ms; 0: the last report as it is. Default 10,000.
   *
   * The weights follow the load that they make. With a gain a = T / (smoothing + T) for reports every T ms they settle
   * where a < 2 (1 - load), and swing for ever where it is larger: 10,000 ms and reports every 5,000 ms are good for
   * loads up to 83 %.
   */
  smoothing?: number | undefined
  /** What a full node keeps of an equal share (1/n), so that it is still heard, 0-1. Default 0.01. */
  minShare?: number | undefined
  /** Oldest age of a reading that still counts, ms, inclusive. Default 10,000. */
  ttl?: number | undefined
  /** What a member without a fresh reading counts as: the mean of the others, or not picked unless none has one. Default `'mean'`. */
  missing?: 'mean' | 'exclude' | undefined
}

const spareCapacityOptions = options({
  smoothing: v.optional(milliseconds(), 10_000),
  minShare: v.optional(number(0, 1), 0.01),
  ttl: ttlOption,
  missing: v.optional(oneOf(['mean', 'exclude']), 'mean'),
})

/**
 * Picks at random with weights of 100 - CPU, smoothed: a node with twice the idle CPU gets twice the requests.
 *
 * Use it where nodes differ in what else they do, and reports come often compared with how fast that changes. It
 * follows the load that it makes itself, so without smoothing it swings (see `smoothing`); it does not know that a node
 * has a queue.
 *
 * @throws OptionError
 */
export function spareCapacity(given: SpareCapacityOptions = {}): SpareCapacityAlgorithm {
  const { smoothing, minShare, ttl, missing } = checkOptions('spareCapacity', given, spareCapacityOptions)
  return Object.freeze({
    kind: 'spareCapacity',
    ttl,
    smoothing,
    minShare,
    missing,
  })
}
