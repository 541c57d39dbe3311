import * as v from 'valibot'
import type { Clock } from '../../clock.js'
import { checkOptions, clockSchema, method, options } from '../../options.js'
import { processClock } from '../../process-clock.js'
import type { SyncSampler } from './sampler.js'

/** Options of `processSampler`: what it reads, for tests. */
export interface ProcessSamplerOptions {
  /** The process's monotonic clock by default. */
  readonly clock?: Clock | undefined
  /** CPU time used so far, µs; `process.cpuUsage` by default. */
  readonly cpuUsage?: (() => { readonly user: number; readonly system: number }) | undefined
}

const processSamplerOptions = options({
  clock: v.optional(clockSchema),
  cpuUsage: v.optional(method<() => { user: number; system: number }>()),
})

/**
 * CPU time of this process, all its threads, in percent of one core: 250 where it keeps two and a half busy (stored
 * as 100). Right for a server whose work is on its main thread. The first sample has no value.
 * @throws OptionError
 */
export function processSampler(given: ProcessSamplerOptions = {}): SyncSampler {
  const { clock = processClock, cpuUsage = () => process.cpuUsage() } = checkOptions(
    'processSampler',
    given,
    processSamplerOptions,
  )
  let last: { readonly used: number; readonly at: number } | undefined
  return {
    sample() {
      const { user, system } = cpuUsage()
      const now = { used: user + system, at: clock.now() }
      const before = last
      if (before !== undefined && now.at <= before.at) return undefined
      last = now
      if (before === undefined || now.used < before.used) return undefined
      // µs over ms: a thousandth is the share.
      return (now.used - before.used) / (now.at - before.at) / 10
    },
  }
}
