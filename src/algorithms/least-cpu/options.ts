import * as v from 'valibot'
import { checkOptions, milliseconds, number, options } from '../../options.js'
import { MILLI, toMilli } from '../../table/layout.js'
import { ttlOption } from '../ttl.js'

/** `leastCpu()`, with its options in the table's units. */
export interface LeastCpuAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'leastCpu'
  /** Width of the band, inclusive, in 1/1000 percentage points. */
  readonly threshold: number
  /** Oldest age of a fresh reading, whole ms, inclusive. */
  readonly ttl: number
  /** What a missing reading counts as: 1/1000 percentage points, or a policy. */
  readonly missing: number | 'mean' | 'exclude'
  /** Time constant of the smoothing, ms; 0: none. */
  readonly smoothing: number
}

/** Options of `leastCpu`. */
export interface LeastCpuOptions {
  /** Width of the band in percentage points, inclusive, 0-100. Default 5. */
  threshold?: number | undefined
  /** Oldest age of a reading that still counts, ms, inclusive. Default 10,000. */
  ttl?: number | undefined
  /**
   * What a member without a fresh reading counts as: percent, 0-100; or `'mean'` of the members that have one; or
   * `'exclude'`, not picked unless no member has one. Default 50.
   */
  missing?: number | 'mean' | 'exclude' | undefined
  /** Time constant over which readings are smoothed, ms; 0: the last one as it is, as published. Default 0. */
  smoothing?: number | undefined
}

const missingExpected = 'a number from 0 to 100 (percent), "mean" or "exclude"'

const leastCpuOptions = options({
  threshold: v.optional(number(0, 100, 'a number of percentage points'), 5),
  ttl: ttlOption,
  missing: v.optional(
    v.union(
      [
        v.pipe(v.number(), v.minValue(0, missingExpected), v.maxValue(100, missingExpected)),
        v.picklist(['mean', 'exclude']),
      ],
      missingExpected,
    ),
    50,
  ),
  smoothing: v.optional(milliseconds(), 0),
})

/**
 * Picks uniformly among the members whose CPU is within `threshold` percentage points of the least busy one: LeastCpu
 * as published, with its published defaults.
 *
 * It herds where reports are old compared with how long a request takes: every balancer sends everything to the same
 * few nodes until the next report. Use it where work is long (seconds) or reports are fast (several a request).
 *
 * @example
 * ```ts
 * const balancer = createBalancer({ nodes, algorithm: leastCpu({ threshold: 10 }), poll: { transport: httpTransport() } })
 * ```
 * @throws OptionError
 */
export function leastCpu(given: LeastCpuOptions = {}): LeastCpuAlgorithm {
  const { threshold, ttl, missing, smoothing } = checkOptions('leastCpu', given, leastCpuOptions)
  return Object.freeze({
    kind: 'leastCpu',
    threshold: Math.round(threshold * MILLI),
    ttl,
    missing: typeof missing === 'number' ? toMilli(missing) : missing,
    smoothing,
  })
}
