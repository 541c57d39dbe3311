import type { CpuInfo } from 'node:os'
import type { Files } from './files.js'

/** Time that all cores together have spent since the start of the machine, in any unit. */
export interface CpuTimes {
  readonly busy: number
  readonly total: number
  /** Changes where times before and after can't be compared. */
  readonly of?: string
}

/**
 * The `cpu` line of /proc/stat, as proc(5) has it: user nice system idle iowait irq softirq steal, then guest times,
 * which are in user and nice already. Busy is all but idle and iowait; stolen time counts, since the node could not
 * have it.
 * @throws where the line can't be read
 */
export function readProcStat(files: Files): CpuTimes {
  const line = /^cpu +(.*)$/m.exec(files.read('/proc/stat'))?.[1] ?? ''
  const times = line.split(/ +/).slice(0, 8).map(Number)
  const [, , , idle, iowait = 0] = times
  if (idle === undefined || !times.every(Number.isFinite)) throw new Error('no CPU times in /proc/stat')
  const total = times.reduce((sum, time) => sum + time, 0)
  return { busy: total - idle - iowait, total }
}

/**
 * The times of `os.cpus()`, summed over the cores.
 * @throws where it gives none, as in some sandboxes
 */
export function readOsCpus(cpus: readonly CpuInfo[]): CpuTimes {
  if (cpus.length === 0) throw new Error('os.cpus() names no core')
  let busy = 0
  let total = 0
  for (const { times } of cpus) {
    const used = times.user + times.nice + times.sys + times.irq
    busy += used
    total += used + times.idle
  }
  return { busy, total, of: `${cpus.length} cores` }
}
