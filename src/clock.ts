/** What a timer of a clock is known by: whatever its `setTimeout` returned. */
export type TimerHandle = unknown

/**
 * Where time comes from. Everything that waits, samples or expires takes one, so that tests and simulations
 * run in virtual time. `now` must never go back; its zero is anywhere.
 */
export interface Clock {
  /** Milliseconds since any fixed moment; fractions allowed. */
  now(): number
  /** Calls `run` once after `ms` milliseconds; must not keep the process alive. */
  setTimeout(run: () => void, ms: number): TimerHandle
  clearTimeout(timer: TimerHandle): void
}

// Timers differ between Node.js (objects with unref) and browsers (numbers).
function unref(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function') {
    timer.unref()
  }
}

/**
 * Makes a monotonic clock over `performance.now()` and unreferenced timers.
 * @param offset milliseconds added to `performance.now()`, so that threads with other time origins agree
 */
export function performanceClock(offset = 0): Clock {
  return {
    now: () => performance.now() + offset,
    setTimeout(run, ms) {
      const timer = setTimeout(run, ms)
      unref(timer)
      return timer
    },
    clearTimeout(timer) {
      clearTimeout(timer as ReturnType<typeof setTimeout>)
    },
  }
}
