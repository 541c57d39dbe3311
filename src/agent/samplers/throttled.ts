import * as v from 'valibot'
import type { Clock } from '../../clock.js'
import { checkOptions, clockSchema, options } from '../../options.js'
import { processClock } from '../../process-clock.js'
import { readThrottled, smallestQuota } from './cgroup.js'
import { findGroups } from './cgroup-paths.js'
import { type Files, filesSchema, systemFiles } from './files.js'
import type { SyncSampler } from './sampler.js'

/** Options of `throttledSampler`: what it reads, for tests. */
export interface ThrottledSamplerOptions {
  /** Reads /proc and /sys; the real ones by default. */
  readonly files?: Files | undefined
  /** The process's monotonic clock by default. */
  readonly clock?: Clock | undefined
}

const throttledSamplerOptions = options({
  files: v.optional(filesSchema),
  clock: v.optional(clockSchema),
})

/**
 * In how much of the time the control group ran into its CPU quota and was held up, in percent: periods in which it
 * was throttled (`nr_throttled` of cpu.stat) x the length of a period over the time that passed. The group is the one with the
 * smallest quota on the way up, as for `cpuSampler`.
 *
 * Not over `nr_periods`: that counts only periods in which the group did something, so that one burst a second by an
 * otherwise idle group would pass for constant throttling. Not `throttled_usec`: that is summed over the cores.
 *
 * The first sample has no value. Throws, when sampled, where no quota limits this process, as on anything but Linux.
 * @throws OptionError
 */
export function throttledSampler(given: ThrottledSamplerOptions = {}): SyncSampler {
  const { files = systemFiles, clock = processClock } = checkOptions(
    'throttledSampler',
    given,
    throttledSamplerOptions,
  )
  let last: { readonly periods: number; readonly at: number; readonly directory: string } | undefined
  return {
    sample() {
      const paths = findGroups(files)
      const limit = smallestQuota(files, paths)
      if (limit === undefined) {
        last = undefined
        throw new Error('no quota limits the CPU time of this process')
      }
      const directory = paths.cpu.mount + limit.group
      const now = { periods: readThrottled(files, directory), at: clock.now(), directory }
      const before = last
      if (before !== undefined && now.at <= before.at) return undefined
      last = now
      if (before === undefined || before.directory !== directory || now.periods < before.periods)
        return undefined
      // µs over ms, in percent.
      const share = ((now.periods - before.periods) * limit.period) / (now.at - before.at) / 10
      return Math.min(100, share)
    },
  }
}
