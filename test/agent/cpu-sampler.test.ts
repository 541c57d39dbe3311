import type { CpuInfo } from 'node:os'
import test from 'ava'
import { cpuSampler } from '../../dist/agent/samplers/cpu.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

const V2_MOUNT = '31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate'
const V1_MOUNTS = [
  '30 23 0:27 / /proc rw - proc proc rw',
  '32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct',
  '34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset',
].join('\n')
const V1_GROUPS = '4:cpu,cpuacct:/docker/a\n3:cpuset:/docker/a\n1:name=systemd:/docker/a\n'
const QUOTA = '/sys/fs/cgroup/cpu,cpuacct/docker/a/cpu.cfs_quota_us'
const PERIOD = '/sys/fs/cgroup/cpu,cpuacct/docker/a/cpu.cfs_period_us'
const USAGE = '/sys/fs/cgroup/cpu,cpuacct/docker/a/cpuacct.usage'

type Fixture = Record<string, string | undefined>

/** A container with a group of its own on a machine of 8 cores. */
function v2(more: Fixture = {}): Fixture {
  return {
    '/proc/self/cgroup': '0::/\n',
    '/proc/self/mountinfo': V2_MOUNT,
    '/sys/fs/cgroup/cpu.max': '200000 100000\n',
    '/sys/fs/cgroup/cpu.stat': cpuStat(5_000_000),
    ...more,
  }
}

function v1(more: Fixture = {}): Fixture {
  return {
    '/proc/self/cgroup': V1_GROUPS,
    '/proc/self/mountinfo': V1_MOUNTS,
    [QUOTA]: '50000\n',
    [PERIOD]: '100000\n',
    [USAGE]: '7000000000\n',
    ...more,
  }
}

function cpuStat(usage: number): string {
  return `usage_usec ${usage}\nuser_usec 1\nsystem_usec 1\nnr_periods 0\n`
}

function cores(count: number, busy: number, idle: number): CpuInfo[] {
  const times = { user: busy / 4, nice: busy / 4, sys: busy / 4, irq: busy / 4, idle }
  return Array.from({ length: count }, () => ({ model: '', speed: 0, times }))
}

/** A sampler over files that the test can change, on 8 cores that os.cpus() says have been idle for ever. */
function over(files: Fixture, machine = { cpus: cores(8, 0, 0) }, platform: NodeJS.Platform = 'linux') {
  const clock = new VirtualClock(500)
  const reads: string[] = []
  const sampler = cpuSampler({
    clock,
    platform,
    cpus: () => machine.cpus,
    files: {
      read(path) {
        reads.push(path)
        const text = files[path]
        if (text === undefined) throw new Error(`ENOENT ${path}`)
        return text
      },
    },
  })
  return { clock, files, machine, reads, sample: () => sampler.sample() }
}

test('v2: use against the quota; the first sample has no value', (t) => {
  const { clock, files, sample } = over(v2())
  t.is(sample(), undefined)
  clock.jump(1_000)
  // 0.5 s of CPU time in 1 s, of the 2 s that may be used.
  files['/sys/fs/cgroup/cpu.stat'] = cpuStat(5_500_000)
  t.is(sample(), 25)
  clock.jump(500)
  files['/sys/fs/cgroup/cpu.stat'] = cpuStat(6_500_000)
  t.is(sample(), 100)
  clock.jump(500)
  t.is(sample(), 0)
})

test('v2: a burst above the quota is 100', (t) => {
  const { clock, files, sample } = over(v2())
  sample()
  clock.jump(1_000)
  files['/sys/fs/cgroup/cpu.stat'] = cpuStat(8_000_000)
  t.is(sample(), 100)
})

test('v2: of nested quotas the smallest limits, with the use of the group that has it', (t) => {
  const { clock, files, sample } = over({
    '/proc/self/cgroup': '0::/kubepods/pod1/app\n',
    '/proc/self/mountinfo': V2_MOUNT,
    '/sys/fs/cgroup/kubepods/pod1/app/cpu.max': '300000 100000\n',
    '/sys/fs/cgroup/kubepods/pod1/app/cpu.stat': cpuStat(1_000_000),
    '/sys/fs/cgroup/kubepods/pod1/cpu.max': '100000 100000\n',
    '/sys/fs/cgroup/kubepods/pod1/cpu.stat': cpuStat(4_000_000),
    '/sys/fs/cgroup/kubepods/cpu.max': 'max 100000\n',
    '/sys/fs/cgroup/kubepods/cpu.stat': cpuStat(90_000_000),
  })
  t.is(sample(), undefined)
  clock.jump(1_000)
  files['/sys/fs/cgroup/kubepods/pod1/app/cpu.stat'] = cpuStat(1_200_000)
  files['/sys/fs/cgroup/kubepods/pod1/cpu.stat'] = cpuStat(4_700_000)
  t.is(sample(), 70)
})

test("v2: where the limiting group's use can't be read, the process's own is taken", (t) => {
  const { clock, files, sample } = over({
    '/proc/self/cgroup': '0::/pod/app\n',
    '/proc/self/mountinfo': V2_MOUNT,
    '/sys/fs/cgroup/pod/cpu.max': '100000 100000\n',
    '/sys/fs/cgroup/pod/app/cpu.stat': cpuStat(0),
  })
  t.is(sample(), undefined)
  clock.jump(1_000)
  files['/sys/fs/cgroup/pod/app/cpu.stat'] = cpuStat(300_000)
  t.is(sample(), 30)
})

test('v2: without a cgroup namespace the group is found below the root of the mount', (t) => {
  const { clock, files, sample } = over(
    v2({
      '/proc/self/cgroup': '0::/system.slice/docker-a.scope/sub\n',
      '/proc/self/mountinfo': V2_MOUNT.replace(' / /sys', ' /system.slice/docker-a.scope /sys'),
      '/sys/fs/cgroup/sub/cpu.max': '100000 100000\n',
      '/sys/fs/cgroup/sub/cpu.stat': cpuStat(100_000),
    }),
  )
  t.is(sample(), undefined)
  clock.jump(1_000)
  files['/sys/fs/cgroup/sub/cpu.stat'] = cpuStat(600_000)
  t.is(sample(), 50)
})

test('v2: mount points with spaces are read', (t) => {
  const { clock, files, sample } = over({
    '/proc/self/cgroup': '0::/a:b\n',
    '/proc/self/mountinfo': V2_MOUNT.replace('/sys/fs/cgroup', '/mnt/c\\040g'),
    '/mnt/c g/a:b/cpu.max': '100000 100000',
    '/mnt/c g/a:b/cpu.stat': cpuStat(0),
  })
  t.is(sample(), undefined)
  clock.jump(1_000)
  files['/mnt/c g/a:b/cpu.stat'] = cpuStat(400_000)
  t.is(sample(), 40)
})

test('v2: a group outside of what the namespace shows is measured at the mount', (t) => {
  const { clock, files, sample } = over(
    v2({ '/proc/self/cgroup': '0::/../other\n', '/sys/fs/cgroup/../other/cpu.max': '1000 100000\n' }),
  )
  t.is(sample(), undefined)
  clock.jump(1_000)
  files['/sys/fs/cgroup/cpu.stat'] = cpuStat(6_000_000)
  t.is(sample(), 50)
})

test('v2: without a quota, use against the cores of the cpuset', (t) => {
  const { clock, files, sample } = over(
    v2({ '/sys/fs/cgroup/cpu.max': 'max 100000\n', '/sys/fs/cgroup/cpuset.cpus.effective': '0-2,5\n' }),
  )
  t.is(sample(), undefined)
  clock.jump(1_000)
  files['/sys/fs/cgroup/cpu.stat'] = cpuStat(6_000_000)
  t.is(sample(), 25)
})

test('v2: a cpuset smaller than the quota limits, also when the group above has it', (t) => {
  const { clock, files, sample } = over(
    v2({
      '/proc/self/cgroup': '0::/app\n',
      '/sys/fs/cgroup/app/cpu.max': '400000 100000\n',
      '/sys/fs/cgroup/app/cpu.stat': cpuStat(0),
      '/sys/fs/cgroup/cpu.max': 'max 100000\n',
      '/sys/fs/cgroup/cpuset.cpus.effective': '3\n',
    }),
  )
  t.is(sample(), undefined)
  clock.jump(1_000)
  files['/sys/fs/cgroup/app/cpu.stat'] = cpuStat(900_000)
  t.is(sample(), 90)
})

test('v2: a quota that changes while the process runs counts from then on', (t) => {
  const { clock, files, sample } = over(v2())
  sample()
  clock.jump(1_000)
  files['/sys/fs/cgroup/cpu.stat'] = cpuStat(6_000_000)
  t.is(sample(), 50)
  files['/sys/fs/cgroup/cpu.max'] = '400000 100000\n'
  clock.jump(1_000)
  files['/sys/fs/cgroup/cpu.stat'] = cpuStat(7_000_000)
  t.is(sample(), 25)
})

test('v2: after a counter went back one sample has no value, and the next counts from there', (t) => {
  const { clock, files, sample } = over(v2())
  sample()
  clock.jump(1_000)
  files['/sys/fs/cgroup/cpu.stat'] = cpuStat(100_000)
  t.is(sample(), undefined)
  clock.jump(1_000)
  files['/sys/fs/cgroup/cpu.stat'] = cpuStat(1_100_000)
  t.is(sample(), 50)
})

test('v2: two samples at one moment: the second has no value, and the next loses nothing', (t) => {
  const { clock, files, sample } = over(v2())
  sample()
  files['/sys/fs/cgroup/cpu.stat'] = cpuStat(5_500_000)
  t.is(sample(), undefined)
  clock.jump(1_000)
  files['/sys/fs/cgroup/cpu.stat'] = cpuStat(6_000_000)
  t.is(sample(), 50)
})

test('v1: use in ns against quota over period', (t) => {
  const { clock, files, sample } = over(v1())
  t.is(sample(), undefined)
  clock.jump(1_000)
  files[USAGE] = '7100000000\n'
  t.is(sample(), 20)
})

test('v1: of nested quotas the smallest limits', (t) => {
  const up = '/sys/fs/cgroup/cpu,cpuacct/docker'
  const { clock, files, sample } = over(
    v1({
      [QUOTA]: '-1\n',
      [`${up}/cpu.cfs_quota_us`]: '400000\n',
      [`${up}/cpu.cfs_period_us`]: '100000\n',
      [`${up}/cpuacct.usage`]: '0\n',
    }),
  )
  t.is(sample(), undefined)
  clock.jump(1_000)
  files[`${up}/cpuacct.usage`] = '1000000000\n'
  t.is(sample(), 25)
})

test('v1: a quota of -1 is none: use against the cores of the cpuset', (t) => {
  const { clock, files, sample } = over(
    v1({ [QUOTA]: '-1\n', '/sys/fs/cgroup/cpuset/docker/a/cpuset.cpus': '0,2\n' }),
  )
  t.is(sample(), undefined)
  clock.jump(1_000)
  files[USAGE] = '7500000000\n'
  t.is(sample(), 25)
})

test('v1: after a counter went back one sample has no value', (t) => {
  const { clock, files, sample } = over(v1())
  sample()
  clock.jump(1_000)
  files[USAGE] = '0\n'
  t.is(sample(), undefined)
  clock.jump(1_000)
  files[USAGE] = '400000000\n'
  t.is(sample(), 80)
})

test('v1: cpu and cpuacct mounted apart, with groups of different names', (t) => {
  const usage = '/sys/fs/cgroup/cpuacct/other/cpuacct.usage'
  const { clock, files, sample } = over({
    '/proc/self/cgroup': '2:cpuacct:/other\n1:cpu:/mine\n',
    '/proc/self/mountinfo': [
      '32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu',
      '33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct',
    ].join('\n'),
    '/sys/fs/cgroup/cpu/mine/cpu.cfs_quota_us': '100000\n',
    '/sys/fs/cgroup/cpu/mine/cpu.cfs_period_us': '100000\n',
    [usage]: '0\n',
    // Somebody else's.
    '/sys/fs/cgroup/cpuacct/mine/cpuacct.usage': '0\n',
  })
  t.is(sample(), undefined)
  clock.jump(1_000)
  files[usage] = '150000000\n'
  t.is(sample(), 15)
})

test('hybrid: where v1 has the cpu controller it is asked, with v2 mounted beside it', (t) => {
  const { clock, files, sample } = over(
    v1({
      '/proc/self/cgroup': `${V1_GROUPS}0::/docker/a\n`,
      '/proc/self/mountinfo': `${V2_MOUNT.replace('/sys/fs/cgroup', '/sys/fs/cgroup/unified')}\n${V1_MOUNTS}`,
      '/sys/fs/cgroup/unified/docker/a/cpu.stat': cpuStat(0),
      '/sys/fs/cgroup/unified/docker/a/cpu.max': '100000 100000\n',
    }),
  )
  t.is(sample(), undefined)
  clock.jump(1_000)
  files[USAGE] = '7250000000\n'
  t.is(sample(), 50)
})

test('hybrid: where v1 has other controllers only, v2 is asked', (t) => {
  const { clock, files, sample } = over(
    v2({
      '/proc/self/cgroup': '1:name=systemd:/a\n2:memory:/a\n0::/a\n',
      '/proc/self/mountinfo': `35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n${V2_MOUNT}`,
    }),
  )
  t.is(sample(), undefined)
  clock.jump(1_000)
  files['/sys/fs/cgroup/cpu.stat'] = cpuStat(6_000_000)
  t.is(sample(), 50)
})

const STAT = (busy: number, idle: number) =>
  // user nice system idle iowait irq softirq steal guest guest_nice; guest times are in user already.
  `cpu  ${busy} 0 ${busy} ${idle} ${idle} ${busy} 0 ${busy} ${busy} 0\ncpu0 1 1 1 1 1 1 1 1 0 0\nintr 5\n`

for (const [name, limits] of Object.entries<Fixture>({
  'v2 with max everywhere': v2({ '/sys/fs/cgroup/cpu.max': 'max 100000\n' }),
  'v2 with a quota of all cores': v2({ '/sys/fs/cgroup/cpu.max': '800000 100000\n' }),
  'v2 at the root, which has no cpu.max': v2({ '/sys/fs/cgroup/cpu.max': undefined }),
  'v2 with a cpuset of all cores': v2({
    '/sys/fs/cgroup/cpu.max': 'max 100000',
    '/sys/fs/cgroup/cpuset.cpus.effective': '0-7\n',
  }),
  'v2 with an unreadable cpu.stat': v2({ '/sys/fs/cgroup/cpu.stat': undefined }),
  'v2 with garbage in its files': v2({ '/sys/fs/cgroup/cpu.max': '', '/sys/fs/cgroup/cpuset.cpus': '3-1' }),
  'v1 with -1': v1({ [QUOTA]: '-1\n' }),
  'v1 with an unreadable usage': v1({ [USAGE]: undefined }),
  'v1 with an empty usage': v1({ [USAGE]: '\n' }),
  'no mountinfo': v2({ '/proc/self/mountinfo': undefined }),
  'no cgroup file': v2({ '/proc/self/cgroup': undefined }),
  'no control group mounted': v2({ '/proc/self/mountinfo': '30 23 0:27 / /proc rw - proc proc rw\n' }),
})) {
  test(`${name}: the share of the machine's CPU time that is not idle`, (t) => {
    const { files, sample } = over({ ...limits, '/proc/stat': STAT(100, 100) })
    t.is(sample(), undefined)
    // 4 x 10 busy, 2 x 80 idle.
    files['/proc/stat'] = STAT(110, 180)
    t.is(sample(), 20)
    files['/proc/stat'] = STAT(150, 180)
    t.is(sample(), 100)
  })
}

test('/proc/stat: within one tick of its counters there is no value, and the next loses nothing', (t) => {
  const { files, sample } = over({ '/proc/stat': STAT(100, 100) })
  sample()
  t.is(sample(), undefined)
  files['/proc/stat'] = STAT(110, 120)
  t.is(sample(), 50)
})

test('/proc/stat: after a counter went back one sample has no value', (t) => {
  const { files, sample } = over({ '/proc/stat': STAT(100, 100) })
  sample()
  files['/proc/stat'] = STAT(10, 100)
  t.is(sample(), undefined)
  files['/proc/stat'] = STAT(20, 120)
  t.is(sample(), 50)
})

for (const [name, text] of [
  ['unreadable', undefined],
  ['empty', ''],
  ['garbage', 'cpu  1 2 x 4 5\n'],
  ['cut short', 'cpu  1 2\n'],
] as const) {
  test(`/proc/stat ${name}: the busy share by os.cpus()`, (t) => {
    const { machine, sample } = over({ '/proc/stat': text }, { cpus: cores(8, 100, 100) })
    t.is(sample(), undefined)
    machine.cpus = cores(8, 130, 170)
    t.is(sample(), 30)
  })
}

test('os.cpus(): when the number of cores changed, one sample has no value', (t) => {
  const { machine, sample } = over({}, { cpus: cores(2, 100, 100) })
  sample()
  machine.cpus = cores(4, 130, 170)
  t.is(sample(), undefined)
  machine.cpus = cores(4, 140, 180)
  t.is(sample(), 50)
})

test('a source that fails later is left for the next one, for good', (t) => {
  const { clock, files, machine, reads, sample } = over(v2({ '/proc/stat': STAT(100, 100) }))
  sample()
  clock.jump(1_000)
  files['/sys/fs/cgroup/cpu.stat'] = undefined
  t.is(sample(), undefined)
  files['/sys/fs/cgroup/cpu.stat'] = cpuStat(5_500_000)
  files['/proc/stat'] = STAT(110, 180)
  clock.jump(1_000)
  reads.length = 0
  t.is(sample(), 20)
  t.deepEqual(reads, ['/proc/stat'])

  files['/proc/stat'] = undefined
  t.is(sample(), undefined)
  files['/proc/stat'] = STAT(120, 260)
  machine.cpus = cores(8, 50, 50)
  reads.length = 0
  t.is(sample(), 50)
  t.deepEqual(reads, [])
})

test('with no source left the sampler throws, and works again once os.cpus() does', (t) => {
  const { machine, sample } = over({}, { cpus: [] })
  t.throws(sample, { message: /os\.cpus\(\) names no core/ })
  machine.cpus = cores(1, 0, 0)
  t.is(sample(), undefined)
  machine.cpus = cores(1, 30, 10)
  t.is(sample(), 75)
})

for (const platform of ['darwin', 'win32'] as const) {
  test(`on ${platform} no file is read: the busy share by os.cpus()`, (t) => {
    const { machine, reads, sample } = over(
      v2({ '/proc/stat': STAT(1, 1) }),
      { cpus: cores(2, 0, 0) },
      platform,
    )
    t.is(sample(), undefined)
    machine.cpus = cores(2, 10, 30)
    t.is(sample(), 25)
    t.deepEqual(reads, [])
  })
}

test('load averages are never read', (t) => {
  for (const fixture of [v1(), v2(), {}]) {
    const { reads, sample } = over(fixture)
    sample()
    t.false(reads.some((path) => path.includes('loadavg')))
    t.true(reads.length > 0)
  }
})

test('on this machine: no value at first, then 0 to 100', async (t) => {
  const sampler = cpuSampler()
  t.is(sampler.sample(), undefined)
  let value: number | undefined
  // Its counters go in ticks of 10 ms or more.
  while (value === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    value = sampler.sample()
  }
  t.true(value >= 0 && value <= 100, String(value))
})
