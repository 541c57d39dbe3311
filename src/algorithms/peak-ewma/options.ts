import * as v from 'valibot'
import { checkOptions, milliseconds, options } from '../../options.js'

/** `peakEwma()`: the lower cost of two, by the peaks of their latency. Times are ms. */
export interface PeakEwmaAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'peakEwma'
  /** Time constant with which a peak fades. */
  readonly decay: number
  /** What a node counts as that has not answered yet. */
  readonly initialLatency: number
  /** What a failed request counts as at least. */
  readonly errorLatency: number
}

/** Options of `peakEwma`. */
export interface PeakEwmaOptions {
  /** Time constant with which a peak fades, ms, at least 1. Default 10,000, as in Finagle. */
  decay?: number | undefined
  /** Latency that a node counts as before its first response, ms, above 0. Default 30, as in linkerd. */
  initialLatency?: number | undefined
  /** A failed request counts as having taken at least so long, ms, so that a node that fails fast does not look fast. Default 1,000. */
  errorLatency?: number | undefined
}

const peakEwmaOptions = options({
  decay: v.optional(milliseconds(1), 10_000),
  initialLatency: v.optional(milliseconds(0.001), 30),
  errorLatency: v.optional(milliseconds(), 1_000),
})

/**
 * Picks the node with the lower cost of two drawn at random: its latency times its requests in flight plus one. The latency is
 * a peak: it rises at once to that of a slower response, and fades with a time constant (Finagle's and linkerd's Peak
 * EWMA).
 *
 * Use it with leases (`acquire` or `run`) where you know it from Finagle or linkerd. It reads no report. In the guide's
 * simulations its p99 is 71 ms with equal servers, 80 ms where one has half its CPU gone and 112 ms with 8 balancers then;
 * `leastConnections()` has 71, 91 and 165 ms, `adaptive()` 55, 59 and 77 ms. Picks by `select` alone say nothing of
 * responses: then two choices by requests in flight remain, as with `leastConnections()`, which `select(nodes)` uses.
 *
 * @example
 * ```ts
 * const balancer = createBalancer({ nodes, algorithm: peakEwma() })
 * await balancer.run((node) => fetch(`http://${node}/`))
 * ```
 * @throws OptionError
 */
export function peakEwma(given: PeakEwmaOptions = {}): PeakEwmaAlgorithm {
  const { decay, initialLatency, errorLatency } = checkOptions('peakEwma', given, peakEwmaOptions)
  return Object.freeze({ kind: 'peakEwma', decay, initialLatency, errorLatency })
}
