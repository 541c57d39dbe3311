import { existsSync, readFileSync } from 'node:fs'
import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os'

export interface Machine {
  readonly platform: string
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  /** How the clock of a core is chosen, such as `performance`; undefined where the system does not tell. */
  readonly governor?: string
  /** Whether it is a virtual one, whose host may do other things; undefined where the system does not tell. */
  readonly virtual?: boolean
}

export function thisMachine(): Machine {
  const governor = textOf('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor')
  const cpuinfo = textOf('/proc/cpuinfo')
  return {
    platform: `${platform()} ${release()} ${arch()}`,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    ...(governor !== undefined && { governor }),
    ...(cpuinfo !== undefined && { virtual: /^flags\s*:.*\bhypervisor\b/m.test(cpuinfo) }),
  }
}

/** A machine in one line. */
export function machineLine({ cpu, cores, memoryGiB, governor, virtual, platform }: Machine): string {
  const kind = virtual === true ? ' (virtual)' : ''
  return `${cores} x ${cpu}${kind}, ${memoryGiB} GiB, governor ${governor ?? 'unknown'}, ${platform}`
}

/** Processes that ran or wanted to, on average over the last minute. */
export function loadNow(): number {
  return Math.round((loadavg()[0] ?? 0) * 100) / 100
}

/** What a file says, trimmed; undefined where there is none. */
function textOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}
