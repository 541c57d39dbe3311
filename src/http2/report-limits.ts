import { MAX_REPORT } from '../reports/orca-fields.js'
import type { Allowance } from './budget.js'
import type { FrameLimits } from './frame-meter.js'

// What a node may send that was asked for one report each interval. Whoever reads such a stream goes by this, whatever the
// connection is made by.

/** Frames of HTTP/2 for each message: a long one takes five of the usual size, and there are pings and windows. */
const FRAMES = 4

/**
 * Messages: a right node sends one each interval. Where a process or the network hung, many come at once; and the clock of a
 * right node may go a little faster, so that twice as many as it was asked for are allowed, or ten a second.
 * @param interval ms
 */
export function messageAllowance(interval: number): Allowance {
  return { burst: 100, rate: Math.max(10, 2_000 / interval) }
}

/**
 * Bytes: of the longest reports four at once, and two each interval or one a second.
 * @param interval ms
 */
export function byteAllowance(interval: number): Allowance {
  return { burst: 4 * MAX_REPORT, rate: Math.max(MAX_REPORT, (2_000 / interval) * MAX_REPORT) }
}

/**
 * What a node may send on a connection that carries nothing but its reports, whatever it is: frames that belong to no message
 * count too.
 * @param interval ms
 */
export function connectionLimits(interval: number): FrameLimits {
  const messages = messageAllowance(interval)
  return {
    frames: { burst: FRAMES * messages.burst, rate: FRAMES * messages.rate },
    bytes: byteAllowance(interval),
    preface: 0,
  }
}
