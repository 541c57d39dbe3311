import * as v from 'valibot'
import { milliseconds, number, options, whole } from '../options.js'

/** When members are taken out for a share of failures. */
export interface FailureRateOptions {
  /** Share of a member's leases that failed from which on it is taken out, above 0 to 1. Default 0.85. */
  threshold?: number | undefined
  /** Leases of a member in an `interval` below which it is not judged, at least 1. Default 50. */
  minimum?: number | undefined
  /** Members with so many below which nobody is judged, at least 1. Default 5. */
  members?: number | undefined
}

/**
 * When members are taken out (*ejected*) for what becomes of their leases, and for how long. The defaults are those of
 * Envoy's outlier detection, which gRFC A50 shares, but for `maxEjected`: 0.1 there.
 */
export interface HealthOptions {
  /** Failures in a row for which a member is ejected, at least 0; 0: it is not. Default 5. */
  consecutiveFailures?: number | undefined
  /**
   * Polls in a row that a member refuses, or does not answer, until it is *unreachable*, at least 0; 0: never. It gets at most a
   * tenth of an equal share then, until it answers a poll or a lease on it succeeds; but nobody is unreachable where fewer than half of
   * the members can be reached. Default 3; with `leastCpu()` 0, since it keeps its published rule for members without readings.
   */
  polls?: number | undefined
  /** Whether a share of failures is a reason too; `{}`: with its defaults. Default false. */
  failureRate?: FailureRateOptions | false | undefined
  /**
   * Over which that share is taken, from the first failure on; and for which a member must be back to be forgiven once,
   * ms. Default 10,000.
   */
  interval?: number | undefined
  /** How long a member is out the first time, ms; the second time twice as long, and so on. Default 30,000. */
  ejection?: number | undefined
  /** How long it is out at most, ms; at least `ejection`. Default 300,000. */
  maxEjection?: number | undefined
  /**
   * Share of the members that may be out at once, rounded down, 0-1; one of two or more may, unless this is 0. Default
   * 0.5.
   */
  maxEjected?: number | undefined
}

/**
 * When a member is suspect: one that claims to be idle all the time, by reports no higher than those of half of the
 * members, while its requests fail or slow down. It gets half of its share until a window passes without that.
 */
export interface SuspicionOptions {
  /** Share of its leases that fail, while of the others' less than half as many do, above 0 to 1. Default 0.5. */
  failureRate?: number | undefined
  /** How many times as long as the median of the others' mean latencies its own is, at least 1. Default 3. */
  slowdown?: number | undefined
  /** Leases in a window below which a member is not judged, at least 1. Default 10. */
  minimum?: number | undefined
  /** Time over which leases are counted, at least, ms. Default 10,000. */
  window?: number | undefined
}

/** Whether a balancer believes its members. */
export interface TrustOptions {
  /**
   * When members are taken out for what becomes of their leases; false: never. Default: with the defaults of its
   * options.
   */
  health?: HealthOptions | false | undefined
  /** When a member's word is doubted; false: never. Default: with the defaults of its options. */
  suspicion?: SuspicionOptions | false | undefined
  /**
   * The share of the last 128 picks that one member may have, above 0 to 1: what a report can do at most. Never less than
   * an equal share. Not of picks by key or from arrays. Default 1: no limit.
   */
  maxShare?: number | undefined
  /**
   * Retries to requests, at most, beyond the first 100, 0 to 1: one budget for `run` and for all dispatchers over the
   * balancer. Each thread that attaches has one of its own. 0: nothing is retried. Default 0.2.
   */
  retryBudget?: number | undefined
}

const share = number(0, 1, 'a share')

const failureRate = options({
  threshold: v.optional(number(Number.MIN_VALUE, 1, 'a share'), 0.85),
  minimum: v.optional(whole(1), 50),
  members: v.optional(whole(1), 5),
})

const health = options({
  consecutiveFailures: v.optional(whole(0), 5),
  polls: v.optional(whole(0)),
  failureRate: v.optional(v.union([v.literal(false), failureRate], 'an object of options, or false'), false),
  interval: v.optional(milliseconds(1), 10_000),
  ejection: v.optional(milliseconds(1), 30_000),
  maxEjection: v.optional(milliseconds(1), 300_000),
  maxEjected: v.optional(share, 0.5),
})

const suspicion = options({
  failureRate: v.optional(number(Number.MIN_VALUE, 1, 'a share'), 0.5),
  slowdown: v.optional(number(1), 3),
  minimum: v.optional(whole(1), 10),
  window: v.optional(milliseconds(1), 10_000),
})

/** Suspicion options with their defaults. */
export type SuspicionSettings = v.InferOutput<typeof suspicion>

/** Health options with their defaults. */
export type HealthSettings = v.InferOutput<typeof health>

/** Schemas of `TrustOptions`. */
export const trustEntries = {
  health: v.optional(v.union([v.literal(false), health], 'an object of options, or false'), () =>
    v.parse(health, {}),
  ),
  suspicion: v.optional(v.union([v.literal(false), suspicion], 'an object of options, or false'), () =>
    v.parse(suspicion, {}),
  ),
  maxShare: v.optional(number(Number.MIN_VALUE, 1, 'a share'), 1),
  retryBudget: v.optional(share, 0.2),
} as const

export const trustOptions = options(trustEntries)

/** Trust options with their defaults; plain data. */
export type TrustSettings = v.InferOutput<typeof trustOptions>
