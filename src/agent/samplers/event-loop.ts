import { performance } from 'node:perf_hooks'
import type { SyncSampler } from './sampler.js'

/** Time that an event loop has spent so far, ms. */
export interface LoopTimes {
  /** Waiting for events. */
  readonly idle: number
  readonly active: number
}

export interface EventLoopSamplerOptions {
  /** `performance.eventLoopUtilization` of the thread that makes the sampler by default. */
  readonly eventLoopUtilization?: () => LoopTimes
}

/**
 * Utilization of this thread's event loop since the last sample, in percent: the share of time it was not waiting for
 * events. Each sampler has a baseline of its own, so several don't disturb each other. The first sample has no value.
 */
export function eventLoopSampler(options: EventLoopSamplerOptions = {}): SyncSampler {
  const { eventLoopUtilization = () => performance.eventLoopUtilization() } = options
  let last: LoopTimes | undefined
  return {
    sample() {
      const now = eventLoopUtilization()
      const before = last
      const active = before === undefined ? 0 : now.active - before.active
      const total = before === undefined ? 0 : active + now.idle - before.idle
      if (before !== undefined && total === 0) return undefined
      last = now
      if (total <= 0 || active < 0) return undefined
      return Math.min(100, (active / total) * 100)
    },
  }
}
