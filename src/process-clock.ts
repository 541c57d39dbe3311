import { type Clock, performanceClock } from './clock.js'

function hrtimeMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1000 + nanoseconds / 1e6
}

/**
 * The process's monotonic clock. Every thread has a time origin of its own; counted from hrtime's zero, which all
 * threads share, their clocks agree.
 */
export const processClock: Clock = performanceClock(hrtimeMs() - performance.now())
