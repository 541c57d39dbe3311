import { type CpuInfo, cpus as osCpus } from 'node:os'
import * as v from 'valibot'
import type { Clock } from '../../clock.js'
import { checkOptions, clockSchema, method, options, text } from '../../options.js'
import { processClock } from '../../process-clock.js'
import { allowedCores } from './allowed-cores.js'
import { type GroupLimit, readUsage, smallestQuota } from './cgroup.js'
import { findGroups, type GroupPaths } from './cgroup-paths.js'
import { type CpuTimes, readOsCpus, readProcStat } from './cpu-times.js'
import { type Files, filesSchema, ifThere, systemFiles } from './files.js'
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

/** Percent busy since the last call. Undefined at the first call and if the counters are of something else or went back. */
function changeOf(read: () => CpuTimes): () => Sampled {
  let last: CpuTimes | undefined
  return () => {
    const now = read()
    const before = last
    // Two samples within one tick of the counters: the next one counts from the same start.
    if (before !== undefined && before.of === now.of && now.total === before.total) return undefined
    last = now
    if (before === undefined || before.of !== now.of) return undefined
    const busy = now.busy - before.busy
    const total = now.total - before.total
    if (busy < 0 || total < 0) return undefined
    return Math.min(100, (busy / total) * 100)
  }
}

/** Reads the CPU time that a group with a quota has used, and the time that its quota has allowed so far. */
class QuotaTimes {
  readonly #files: Files
  readonly #clock: Clock
  // The limit can change while the process runs, so the time that it allows is summed up.
  #allowed = 0
  #at: number

  constructor(files: Files, clock: Clock) {
    this.#files = files
    this.#clock = clock
    this.#at = clock.now()
  }

  /** @throws if the use can't be read */
  read(paths: GroupPaths, limit: GroupLimit): CpuTimes {
    const { microseconds: busy, directory } = readUsage(this.#files, paths, limit.group)
    const now = this.#clock.now()
    this.#allowed += (now - this.#at) * 1000 * limit.cores
    this.#at = now
    return { busy, total: this.#allowed, of: directory }
  }
}

const cpuSamplerOptions = options({
  files: v.optional(filesSchema),
  clock: v.optional(clockSchema),
  cpus: v.optional(method<() => readonly CpuInfo[]>()),
  platform: v.optional(text()),
})

/**
 * CPU in percent of what this process may use.
 *
 * On Linux, the first of these that applies:
 * 1. If a quota (`cpu.max`, or `cpu.cfs_quota_us` over `cpu.cfs_period_us`; the smallest on the way up) is less than the
 *    cores on which the process may run: the CPU time used (`cpu.stat`, `cpuacct.usage`) over the time passed times the
 *    quota. The use is that of the group with the quota: what its siblings use is gone for this process too.
 * 2. Else the share of CPU time that is not idle in /proc/stat, on the cores on which the process may run: by its affinity
 *    or cpuset, or all cores of the machine. This includes the work of others, because a new request would have to
 *    share these cores with it.
 * 3. Else the same for all cores by `os.cpus()`.
 *
 * Each sample decides anew, so it follows a quota or a cpuset that is set, changed or removed, and a process that is
 * moved to another control group. The first sample after such a change has no value (undefined), and neither does the
 * very first sample or one after counters that went back. On other systems the third applies. Load averages are never
 * used: they average waiting tasks over a minute or more.
 *
 * `sample()` throws if nothing can be read, or during a passing shortage, such as of file descriptors: the next sample
 * then covers the time since the last one.
 * @throws OptionError
 */
export function cpuSampler(given: CpuSamplerOptions = {}): SyncSampler {
  const {
    files = systemFiles,
    clock = processClock,
    cpus = osCpus,
    platform = process.platform,
  } = checkOptions('cpuSampler', given, cpuSamplerOptions)
  const quotaTimes = new QuotaTimes(files, clock)

  function quotaBelow(paths: GroupPaths | undefined, allowed: ReadonlySet<number> | undefined) {
    const limit = paths && smallestQuota(files, paths)
    const cores = limit === undefined ? 0 : (allowed?.size ?? (cpus().length || Number.POSITIVE_INFINITY))
    return limit !== undefined && limit.cores < cores ? limit : undefined
  }

  function linuxTimes(): CpuTimes | undefined {
    const paths = ifThere(() => findGroups(files))
    const allowed = allowedCores(files, paths)
    const limit = quotaBelow(paths, allowed)
    const ofQuota = paths && limit && ifThere(() => quotaTimes.read(paths, limit))
    return ofQuota ?? ifThere(() => readProcStat(files, allowed))
  }

  return { sample: changeOf(() => (platform === 'linux' ? linuxTimes() : undefined) ?? readOsCpus(cpus())) }
}
