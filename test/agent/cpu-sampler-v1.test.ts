import test from 'ava'
import {
  cpuStat,
  over,
  procStatOf,
  QUOTA,
  USAGE,
  V1_GROUPS,
  V1_MOUNTS,
  V2_MOUNT,
  v1,
  v2,
} from './sampled-machine.js'

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

test('v1: a quota of -1 is none: the busy share of the cores of the cpuset', (t) => {
  const { files, sample } = over(
    v1({
      [QUOTA]: '-1\n',
      '/sys/fs/cgroup/cpuset/docker/a/cpuset.cpus': '0,2\n',
      '/proc/stat': procStatOf([0, 0], [0, 0], [0, 0]),
    }),
  )
  t.is(sample(), undefined)
  files['/proc/stat'] = procStatOf([20, 80], [100, 0], [30, 70])
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
