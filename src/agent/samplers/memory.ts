import { freemem as osFree, totalmem as osTotal } from 'node:os'
import * as v from 'valibot'
import { checkOptions, method, options } from '../../options.js'
import { counter } from './cgroup.js'
import { findMemoryGroup, type MemoryGroup, upwards } from './cgroup-paths.js'
import { type Files, filesSchema, ifThere, readIfThere, systemFiles } from './files.js'
import type { SyncSampler } from './sampler.js'

/** Options of `memorySampler`: what it reads, for tests. */
export interface MemorySamplerOptions {
  /** Reads /proc and /sys; the real ones by default. */
  readonly files?: Files | undefined
  /** Bytes that the machine has free, where there is no /proc/meminfo; `os.freemem` by default. */
  readonly freemem?: (() => number) | undefined
  /** Bytes that the machine has; `os.totalmem` by default. */
  readonly totalmem?: (() => number) | undefined
}

const NAMES = {
  1: { limit: 'memory.limit_in_bytes', usage: 'memory.usage_in_bytes', cache: 'total_inactive_file' },
  2: { limit: 'memory.max', usage: 'memory.current', cache: 'inactive_file' },
} as const

/** A group's share of its limit in use, 0-1; undefined where it has none below `total` bytes. */
function shareOf(files: Files, version: 1 | 2, directory: string, total: number): number | undefined {
  const names = NAMES[version]
  // No limit is `max`, or in version 1 a number beyond all memory.
  const limit = counter(readIfThere(files, `${directory}/${names.limit}`))
  if (!(limit > 0 && limit < total)) return undefined
  const usage = counter(readIfThere(files, `${directory}/${names.usage}`))
  const stat = readIfThere(files, `${directory}/memory.stat`) ?? ''
  const cache = counter(new RegExp(`^${names.cache} (\\d+)$`, 'm').exec(stat)?.[1] ?? '0')
  const share = Math.max(0, usage - cache) / limit
  return Number.isFinite(share) ? share : undefined
}

function fullest(files: Files, { version, memory }: MemoryGroup, total: number): number | undefined {
  const shares = [...upwards(memory)]
    .map(({ directory }) => shareOf(files, version, directory, total))
    .filter((share) => share !== undefined)
  return shares.length === 0 ? undefined : Math.max(...shares)
}

function kibibytes(meminfo: string, name: string): number {
  return Number(new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(meminfo)?.[1] ?? Number.NaN)
}

const memorySamplerOptions = options({
  files: v.optional(filesSchema),
  freemem: v.optional(method<() => number>()),
  totalmem: v.optional(method<() => number>()),
})

/**
 * Memory in use, in percent of what this process may use.
 *
 * In a control group with a limit below the machine's memory: what the group uses over that limit (`memory.current` and
 * `memory.max`, in version 1 `memory.usage_in_bytes` and `memory.limit_in_bytes`), without the cache of files that were not
 * used lately (`inactive_file`): the kernel takes that back before anything is short. Of nested limits the one that is
 * nearest. Else the machine's: what is not `MemAvailable` in /proc/meminfo, or elsewhere than on Linux not free. Each
 * sample finds the group and its limit anew.
 * @throws OptionError
 */
export function memorySampler(given: MemorySamplerOptions = {}): SyncSampler {
  const {
    files = systemFiles,
    freemem = osFree,
    totalmem = osTotal,
  } = checkOptions('memorySampler', given, memorySamplerOptions)
  return {
    sample() {
      const group = ifThere(() => findMemoryGroup(files))
      const total = totalmem()
      const share = group === undefined ? undefined : fullest(files, group, total)
      if (share !== undefined) return Math.min(100, share * 100)
      const meminfo = readIfThere(files, '/proc/meminfo') ?? ''
      const used = 1 - kibibytes(meminfo, 'MemAvailable') / kibibytes(meminfo, 'MemTotal')
      return 100 * (Number.isFinite(used) ? used : 1 - freemem() / total)
    },
  }
}
