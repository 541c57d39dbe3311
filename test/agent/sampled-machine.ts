import type { CpuInfo } from 'node:os'
import type { Files } from '../../dist/agent/index.js'
import { cpuSampler } from '../../dist/agent/samplers/cpu.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

export const V2_MOUNT = '31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate'
export const V1_MOUNTS = [
  '30 23 0:27 / /proc rw - proc proc rw',
  '32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct',
  '34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset',
].join('\n')
export const V1_GROUPS = '4:cpu,cpuacct:/docker/a\n3:cpuset:/docker/a\n1:name=systemd:/docker/a\n'
export const QUOTA = '/sys/fs/cgroup/cpu,cpuacct/docker/a/cpu.cfs_quota_us'
const PERIOD = '/sys/fs/cgroup/cpu,cpuacct/docker/a/cpu.cfs_period_us'
export const USAGE = '/sys/fs/cgroup/cpu,cpuacct/docker/a/cpuacct.usage'

/** Texts by path; undefined: there is no such file; an error: reading fails with it. */
export type Fixture = Record<string, string | Error | undefined>

/** A container with a group of its own on a machine of 8 cores. */
export function v2(more: Fixture = {}): Fixture {
  return {
    '/proc/self/cgroup': '0::/\n',
    '/proc/self/mountinfo': V2_MOUNT,
    '/sys/fs/cgroup/cpu.max': '200000 100000\n',
    '/sys/fs/cgroup/cpu.stat': cpuStat(5_000_000),
    ...more,
  }
}

/** The same with cgroup v1. */
export function v1(more: Fixture = {}): Fixture {
  return {
    '/proc/self/cgroup': V1_GROUPS,
    '/proc/self/mountinfo': V1_MOUNTS,
    [QUOTA]: '50000\n',
    [PERIOD]: '100000\n',
    [USAGE]: '7000000000\n',
    ...more,
  }
}

/** The file `cpu.stat` of a group; usage in µs, and in how many periods it was throttled. */
export function cpuStat(usage: number, throttled = 0): string {
  return `usage_usec ${usage}\nuser_usec 1\nsystem_usec 1\nnr_periods 0\nnr_throttled ${throttled}\nthrottled_usec 7\n`
}

/** What os.cpus() says; times in ms, of each core. */
export function cores(count: number, busy: number, idle: number): CpuInfo[] {
  const times = { user: busy / 4, nice: busy / 4, sys: busy / 4, irq: busy / 4, idle }
  return Array.from({ length: count }, () => ({ model: '', speed: 0, times }))
}

/** Reads texts in place of files. */
export function filesOf(texts: Fixture, reads: string[] = []): Files {
  return {
    read(path) {
      reads.push(path)
      const text = texts[path]
      if (text === undefined) throw new Error(`ENOENT ${path}`)
      if (text instanceof Error) throw text
      return text
    },
  }
}

/** A sampler over files that the test can change, on 8 cores that os.cpus() says have been idle for ever. */
export function over(
  files: Fixture,
  machine = { cpus: cores(8, 0, 0) },
  platform: NodeJS.Platform = 'linux',
) {
  const clock = new VirtualClock(500)
  const reads: string[] = []
  const sampler = cpuSampler({
    clock,
    platform,
    cpus: () => machine.cpus,
    files: filesOf(files, reads),
  })
  return { clock, files, machine, reads, sample: () => sampler.sample() }
}

/** `/proc/stat` of a machine whose cores have these busy and idle times. */
export function procStatOf(...each: readonly (readonly [busy: number, idle: number])[]): string {
  const sum = each.reduce(([busy, idle], [b, i]) => [busy + b, idle + i] as const, [0, 0] as const)
  const line = ([busy, idle]: readonly [number, number]) => `${busy} 0 0 ${idle} 0 0 0 0 0 0`
  return [`cpu  ${line(sum)}`, ...each.map((times, core) => `cpu${core} ${line(times)}`), 'intr 5\n'].join(
    '\n',
  )
}

/** `/proc/stat` of a machine: ticks that four kinds of work had each, and two kinds of rest. */
export function procStat(busy: number, idle: number): string {
  // user nice system idle iowait irq softirq steal guest guest_nice; guest times are in user already.
  return `cpu  ${busy} 0 ${busy} ${idle} ${idle} ${busy} 0 ${busy} ${busy} 0\ncpu0 1 1 1 1 1 1 1 1 0 0\nintr 5\n`
}
