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
  /** Takes back what `setTimeout` started; nothing where it ran already. */
  clearTimeout(timer: TimerHandle): void
}

/** Whether a value is a clock that tells a time; asks it for one. */
export function isClock(value: unknown): value is Clock {
  if (typeof value !== 'object' || value === null) return false
  const { now, setTimeout, clearTimeout } = value as Partial<Record<keyof Clock, unknown>>
  if ([now, setTimeout, clearTimeout].some((method) => typeof method !== 'function')) return false
  // With a time that is no number every reading would be fresh for ever.
  return Number.isFinite((value as Clock).now())
}

/** Longest wait that timers take, ms: 24.8 days. They cut anything longer down to 1 ms. */
export const LONGEST_WAIT = 2 ** 31 - 1

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
      const timer = setTimeout(run, Math.min(ms, LONGEST_WAIT))
      unref(timer)
      return timer
    },
    clearTimeout(timer) {
      clearTimeout(timer as ReturnType<typeof setTimeout>)
    },
  }
}
