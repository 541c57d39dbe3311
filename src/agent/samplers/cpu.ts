import { type CpuInfo, cpus as osCpus } from 'node:os'
import type { Clock } from '../../clock.js'
import { processClock } from '../../process-clock.js'
import { cpusetCores, readUsage, smallestQuota } from './cgroup.js'
import { findGroups, type GroupPaths } from './cgroup-paths.js'
import { type CpuTimes, readOsCpus, readProcStat } from './cpu-times.js'
import { type Files, systemFiles } from './files.js'
import type { Sampled, SyncSampler } from './sampler.js'

/** Options of `cpuSampler`: what it reads, for tests. */
export interface CpuSamplerOptions {
  /** Reads /proc and /sys; the real ones by default. */
  readonly files?: Files | undefined
  /** What control-group usage is divided by; the process's monotonic clock by default. */
  readonly clock?: Clock | undefined
  /** The machine's cores; `os.cpus` by default. */
  readonly cpus?: (() => readonly CpuInfo[]) | undefined
  /** Files are read on `linux` alone; this process's platform by default. */
  readonly platform?: string | undefined
}

/** One way to measure; throws where it doesn't work here. */
type Source = () => Sampled

/** Percent of `read`'s counters since its last call. No value the first time, and after counters went back. */
function delta(read: () => CpuTimes): Source {
  let last: CpuTimes | undefined
  return () => {
    const now = read()
    const before = last
    // Between two samples within one tick of the counters: wait for the next, from the same start.
    if (before !== undefined && before.of === now.of && now.total === before.total) return undefined
    last = now
    if (before === undefined || before.of !== now.of) return undefined
    const busy = now.busy - before.busy
    const total = now.total - before.total
    if (busy < 0 || total < 0) return undefined
    return Math.min(100, (busy / total) * 100)
  }
}

/** Use of the control group against what it may use; throws where nothing limits it below the machine's cores. */
function groupSource(files: Files, clock: Clock, cores: number): Source {
  const paths = findGroups(files)
  if (limitOf(files, paths, cores).cores >= cores) throw new Error('no control group limits this process')
  // CPU time that may be used grows with the limit, which can change while the process runs.
  let may = 0
  let at = clock.now()
  return delta(() => {
    const limit = limitOf(files, paths, cores)
    const { microseconds: busy, directory } = readUsage(files, paths, limit.group)
    const now = clock.now()
    may += (now - at) * 1000 * limit.cores
    at = now
    return { busy, total: may, of: directory }
  })
}

function limitOf(files: Files, paths: GroupPaths, cores: number): { cores: number; group: string } {
  const own = { cores: Math.min(cores, cpusetCores(files, paths) ?? cores), group: paths.cpu.group }
  const quota = smallestQuota(files, paths)
  return quota !== undefined && quota.cores < own.cores ? quota : own
}

/**
 * CPU in percent of what this process may use.
 *
 * On Linux, the first of these that works here, decided at the first sample:
 * 1. In a control group with less than the machine's cores, by a quota (`cpu.max`, or `cpu.cfs_quota_us` over
 *    `cpu.cfs_period_us`; the smallest on the way up) or by a cpuset: CPU time used (`cpu.stat`, `cpuacct.usage`) over
 *    time passed x cores' worth of limit. The use is that of the group which has the quota: its siblings' use is
 *    gone for this process too. Limits are read again at each sample.
 * 2. Else the share of the machine's CPU time that is not idle, by /proc/stat: with nothing to hold the others off, their
 *    load is what a new request would meet.
 * 3. Else the same by `os.cpus()`.
 *
 * Elsewhere than on Linux, the third. A source that fails is left for the next one, for good. Load averages are never
 * used: they count waiting tasks over a minute and more. The first sample has no value (undefined), nor has one after
 * counters that went back. Throws, when sampled, where no source works.
 */
export function cpuSampler(options: CpuSamplerOptions = {}): SyncSampler {
  const { files = systemFiles, clock = processClock, cpus = osCpus, platform = process.platform } = options
  const rest: (() => Source)[] = [() => delta(() => readOsCpus(cpus()))]
  if (platform === 'linux') {
    rest.unshift(
      () => groupSource(files, clock, cpus().length || Number.POSITIVE_INFINITY),
      () => delta(() => readProcStat(files)),
    )
  }
  let source: Source | undefined

  return {
    sample() {
      for (;;) {
        try {
          source ??= (rest[0] as () => Source)()
          return source()
        } catch (error) {
          if (rest.length === 1) throw error
          rest.shift()
          source = undefined
        }
      }
    },
  }
}
