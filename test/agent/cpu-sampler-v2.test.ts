import test from 'ava'
import { cpuStat, over, V2_MOUNT, v2 } from './sampled-machine.js'

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
