import type { CpuInfo } from 'node:os'
import type { Files } from './files.js'

/** Time that some cores together have spent since the start of the machine, in any unit. */
export interface CpuTimes {
  readonly busy: number
  readonly total: number
  /** Changes where times before and after can't be compared. */
  readonly of?: string
}

/**
 * A `cpu` line of /proc/stat, described in proc(5): user nice system idle iowait irq softirq steal, then guest times,
 * which user and nice include. Busy is everything but idle and iowait. Stolen time is busy time: the node could not use it.
 */
function readLine(line: string): CpuTimes {
  const times = line.split(/ +/).slice(0, 8).map(Number)
  const [, , , idle, iowait = 0] = times
  if (idle === undefined || !times.every(Number.isFinite)) throw new Error('no CPU times in /proc/stat')
  const total = times.reduce((sum, time) => sum + time, 0)
  return { busy: total - idle - iowait, total }
}

/**
 * The times in /proc/stat of some cores, summed. If the file lists no more cores than are allowed (a container with lxcfs
 * sees only its own cores, numbered from 0), its total is theirs.
 * @param allowed the numbers of the cores; undefined: all cores
 * @throws if the file can't be read or has no such lines
 */
export function readProcStat(files: Files, allowed?: ReadonlySet<number>): CpuTimes {
  const text = files.read('/proc/stat')
  const lines = [...text.matchAll(/^cpu(\d+) +(.*)$/gm)]
  const chosen = lines.filter(([, core]) => allowed?.has(Number(core)))
  if (allowed === undefined || lines.length <= allowed.size || chosen.length === 0) {
    return readLine(/^cpu +(.*)$/m.exec(text)?.[1] ?? '')
  }
  let busy = 0
  let total = 0
  for (const [, , line = ''] of chosen) {
    const times = readLine(line)
    busy += times.busy
    total += times.total
  }
  return { busy, total, of: `cores ${chosen.map(([, core]) => core).join()}` }
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
