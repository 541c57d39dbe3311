import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os'

export interface Machine {
  readonly node: string
  readonly v8: string
  readonly platform: string
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  /** Of the last minute, before the bench: how busy the machine was with other things. */
  readonly load: number
}

export function thisMachine(): Machine {
  return {
    node: process.versions.node,
    v8: process.versions.v8,
    platform: `${platform()} ${release()} ${arch()}`,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  }
}
