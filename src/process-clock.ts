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
 * Where this thread's `performance.now()` counts from, in a time that all threads share. hrtime's zero is the machine's
 * start in Node.js. In Bun and Deno it is the thread's own, and only `timeOrigin` tells threads apart: by the system's
 * time, so that a thread that starts after that was set is as far from the others as it was set.
 */
function threadOrigin(): number {
  const { bun, deno } = process.versions
  if (bun !== undefined || deno !== undefined) return performance.timeOrigin
  return originOf(hrtimeMs, () => performance.now())
}

/** The process's monotonic clock. Every thread has a time origin of its own; their clocks agree all the same. */
export const processClock: Clock = performanceClock(threadOrigin())
