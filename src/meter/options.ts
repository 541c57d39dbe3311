import * as v from 'valibot'
import type { Clock } from '../clock.js'
import { OptionError } from '../errors.js'
import { checkOptions, clockSchema, milliseconds, options } from '../options.js'
import { MAX_VALUE } from '../reports/values.js'
import { METRICS } from '../table/layout.js'
import { LONGEST_METRIC } from '../table/metric-names.js'

/** Options of `meter`. */
export interface MeterOptions {
  /**
   * What is measured, and the name that it is reported by. Default `queueDelay`.
   * - `queueDelay`: ms from a request's arrival to the start of its work
   * - `latency`: ms from its arrival to its end; without requests it fades, a tenth each `update`
   * - `inFlight`: how many have arrived and not ended
   * - any other: as `queueDelay`, reported as a metric of your own; so a process with two queues has a meter for each
   */
  readonly metric?: string | undefined
  /** The most that it says, above 0 and up to 1e12, and what it says before it has measured anything. Default 5,000. */
  readonly upper?: number | undefined
  /** Longest time between two updates, ms; at least 1. Default 100. */
  readonly update?: number | undefined
  /** What it measures by; the process's monotonic clock by default. */
  readonly clock?: Clock | undefined
}

/** Options of a balancer's `meter(node)`; it measures by the balancer's clock. */
export interface NodeMeterOptions extends Omit<MeterOptions, 'clock'> {
  /**
   * Least time between two publications, ms: each makes every thread look at all readings anew at its next pick. 0: one
   * for each request. Default 1.
   */
  readonly publish?: number | undefined
}

export type CheckedMeterOptions = Required<Omit<MeterOptions, 'clock'>>

// These are reported by other means, and mean something else.
const OTHERS: ReadonlySet<string> = new Set(
  METRICS.filter((name) => name !== 'queueDelay' && name !== 'latency' && name !== 'inFlight'),
)

const METRIC = `a metric's name: queueDelay, latency, inFlight, or one of your own, but not ${[...OTHERS].join(', ')}`

const UPPER = `a number above 0, up to ${MAX_VALUE}`

const entries = {
  metric: v.optional(
    v.pipe(
      v.string(METRIC),
      v.check((name) => name !== '' && name.length <= LONGEST_METRIC && !OTHERS.has(name), METRIC),
    ),
    'queueDelay',
  ),
  upper: v.optional(
    v.pipe(
      v.number(UPPER),
      v.check((most) => most > 0 && most <= MAX_VALUE, UPPER),
    ),
    5_000,
  ),
  update: v.optional(milliseconds(1), 100),
}

const meterOptions = options({ ...entries, clock: v.optional(clockSchema) })
const nodeMeterOptions = options({ ...entries, publish: v.optional(milliseconds(0), 1) })

/**
 * Checks what was passed to `meter` and fills in the defaults.
 * @throws OptionError
 */
export function checkMeterOptions(given: unknown): CheckedMeterOptions & { readonly clock?: Clock } {
  return checkOptions('', given, meterOptions)
}

/**
 * Checks what was passed to a balancer's `meter`.
 * @param ttl how long the balancer takes a reading for fresh, ms: an update must come well before
 * @throws OptionError
 */
export function checkNodeMeterOptions(given: unknown, ttl: number): Required<NodeMeterOptions> {
  const checked = checkOptions('', given, nodeMeterOptions)
  const most = ttl / 2
  if (checked.update <= most) return checked
  throw new OptionError(
    'update',
    checked.update,
    `at most ${most} ms: half of the algorithm's ttl, so that one late update does not make the node unknown`,
  )
}
