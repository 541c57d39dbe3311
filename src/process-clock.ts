import { type Clock, performanceClock } from './clock.js'

function hrtimeMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1000 + nanoseconds / 1e6
}

/** Looks at both clocks: a thread that is held up between two of them would count from another time than the others. */
const LOOKS = 8

/**
 * How far a clock is behind a shared one: of several looks at both, by the one that took least.
 * @param shared time that all threads share, ms
 * @param own this thread's, ms
 */
export function originOf(shared: () => number, own: () => number): number {
  let origin = 0
  let least = Number.POSITIVE_INFINITY
  for (let look = 0; look < LOOKS; look++) {
    const before = shared()
    const time = own()
    const took = shared() - before
    if (took >= least) continue
    least = took
    origin = before + took / 2 - time
  }
  return origin
}

/**
 * The process's monotonic clock. Every thread has a time origin of its own; counted from hrtime's zero, which all
 * threads share, their clocks agree.
 */
export const processClock: Clock = performanceClock(originOf(hrtimeMs, () => performance.now()))
