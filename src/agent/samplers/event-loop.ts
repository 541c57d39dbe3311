import { performance } from 'node:perf_hooks'
import * as v from 'valibot'
import { checkOptions, method, options } from '../../options.js'
import type { SyncSampler } from './sampler.js'

/** Time that an event loop has spent so far, ms. */
export interface LoopTimes {
  /** Waiting for events. */
  readonly idle: number
  /** Time that it worked, ms. */
  readonly active: number
}

/** What is needed of a `Worker` of node:worker_threads. */
export interface WatchedWorker {
  /** What tells of the thread's event loop. */
  readonly performance: { eventLoopUtilization(): LoopTimes }
}

/** Worker threads, or what tells which there are now, such as `() => pool.threads`. */
export type WatchedWorkers = Iterable<WatchedWorker> | (() => Iterable<WatchedWorker>)

/** Options of `eventLoopSampler`. */
export interface EventLoopSamplerOptions {
  /** `performance.eventLoopUtilization` of the thread that makes the sampler by default. */
  readonly eventLoopUtilization?: (() => LoopTimes) | undefined
  /**
   * Worker threads whose loops count too. Not those that wait by `Atomics.wait`, as idle threads of some pools do: to
   * Node.js they are busy all the time. Default none.
   */
  readonly workers?: WatchedWorkers | undefined
}

/** The share of time between two looks that a loop was active, percent; undefined where none passed, or times went back. */
function share(before: LoopTimes, now: LoopTimes): number | undefined {
  const active = now.active - before.active
  const total = active + now.idle - before.idle
  return total <= 0 || active < 0 ? undefined : Math.min(100, (active / total) * 100)
}

const eventLoopSamplerOptions = options({
  eventLoopUtilization: v.optional(method<() => LoopTimes>()),
  workers: v.optional(
    v.custom<WatchedWorkers>(
      (value) =>
        typeof value === 'function' ||
        (typeof value === 'object' && value !== null && Symbol.iterator in value),
      'worker threads, or a function that gives them',
    ),
  ),
})

/**
 * Utilization of this thread's event loop since the last sample, in percent: the share of time it was not waiting for
 * events. With `workers` the largest of this loop and theirs: the busiest is what work has to wait for. Each sampler has a
 * baseline of its own, so several don't disturb each other. The first sample has no value, nor has a thread at its first.
 * @throws OptionError
 */
export function eventLoopSampler(given: EventLoopSamplerOptions = {}): SyncSampler {
  const { eventLoopUtilization = () => performance.eventLoopUtilization(), workers = [] } = checkOptions(
    'eventLoopSampler',
    given,
    eventLoopSamplerOptions,
  )
  let last: LoopTimes | undefined
  const lastOf = new WeakMap<WatchedWorker, LoopTimes>()

  function busiestWorker(): number {
    let busiest = 0
    for (const worker of typeof workers === 'function' ? workers() : workers) {
      // All 0 before the thread's loop runs, and after it has ended.
      const now = worker.performance.eventLoopUtilization()
      busiest = Math.max(busiest, share(lastOf.get(worker) ?? now, now) ?? 0)
      lastOf.set(worker, now)
    }
    return busiest
  }

  return {
    sample() {
      const now = eventLoopUtilization()
      const before = last
      if (before !== undefined && now.active === before.active && now.idle === before.idle) return undefined
      last = now
      const busiest = busiestWorker()
      const own = before === undefined ? undefined : share(before, now)
      return own === undefined ? undefined : Math.max(own, busiest)
    },
  }
}
