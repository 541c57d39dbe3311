import { type GroupPaths, upwards } from './cgroup-paths.js'
import { type Files, readIfThere } from './files.js'

/** A group that limits this process: how many cores it may use, and where its use is counted. */
export interface GroupLimit {
  /** Cores' worth of CPU time: the quota over its period. */
  readonly cores: number
  /** The quota is for each period of so many µs. */
  readonly period: number
  /** The group that has the quota, below the mount. */
  readonly group: string
}

interface Quota {
  readonly quota: number
  readonly period: number
}

/** The number in a file of one; NaN for anything else. */
export function counter(text: string | undefined): number {
  return text === undefined || text.trim() === '' ? Number.NaN : Number(text)
}

// cpu.max: `QUOTA PERIOD` in µs, QUOTA `max` for none.
function quotaV2(files: Files, directory: string): Quota {
  const [quota, period] = (readIfThere(files, `${directory}/cpu.max`) ?? '').trim().split(/\s+/)
  return { quota: counter(quota), period: counter(period) }
}

// cpu.cfs_quota_us and cpu.cfs_period_us; quota -1 for none.
function quotaV1(files: Files, directory: string): Quota {
  const quota = counter(readIfThere(files, `${directory}/cpu.cfs_quota_us`))
  return { quota, period: counter(readIfThere(files, `${directory}/cpu.cfs_period_us`)) }
}

/**
 * The smallest quota on the way from the process's group up: each group on it limits all that is below. The topmost
 * group has no quota, so what can't be read or is no number counts as none.
 */
export function smallestQuota(files: Files, { version, cpu }: GroupPaths): GroupLimit | undefined {
  let smallest: GroupLimit | undefined
  for (const { group, directory } of upwards(cpu)) {
    const { quota, period } = version === 2 ? quotaV2(files, directory) : quotaV1(files, directory)
    const cores = quota / period
    if (cores > 0 && cores < (smallest?.cores ?? Number.POSITIVE_INFINITY))
      smallest = { cores, period, group }
  }
  return smallest
}

/** CPU time that a group has used so far. */
export interface GroupUsage {
  readonly microseconds: number
  /** The directory it was read from. */
  readonly directory: string
}

/**
 * What a group has used: `usage_usec` of cpu.stat, or cpuacct.usage, which is in ns. Where it can't be read for that
 * group, the process's own.
 * @throws where neither can be read
 */
export function readUsage(files: Files, { version, cpu, usage }: GroupPaths, group: string): GroupUsage {
  // Version 1's two hierarchies are nearly always mounted as one. Where they differ, so may the groups in them.
  const groups = cpu.group === usage.group ? [group, usage.group] : [usage.group]
  for (const candidate of groups) {
    const directory = usage.mount + candidate
    const microseconds =
      version === 2
        ? counter(/^usage_usec (\d+)$/m.exec(readIfThere(files, `${directory}/cpu.stat`) ?? '')?.[1])
        : counter(readIfThere(files, `${directory}/cpuacct.usage`)) / 1000
    if (Number.isFinite(microseconds)) return { microseconds, directory }
  }
  throw new Error(`no CPU usage in ${usage.mount}${usage.group}`)
}

/**
 * In how many periods a group has run into its quota so far: `nr_throttled` of cpu.stat, in both versions.
 * @throws where that can't be read
 */
export function readThrottled(files: Files, directory: string): number {
  const periods = counter(/^nr_throttled (\d+)$/m.exec(files.read(`${directory}/cpu.stat`))?.[1])
  if (!Number.isFinite(periods)) throw new Error(`no nr_throttled in ${directory}/cpu.stat`)
  return periods
}
