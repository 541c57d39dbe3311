import test from 'ava'
import { throttledSampler } from '../../dist/agent/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { cpuStat, type Fixture, filesOf, V2_MOUNT, v1, v2 } from './sampled-machine.js'

const STAT = '/sys/fs/cgroup/cpu.stat'
const STAT_V1 = '/sys/fs/cgroup/cpu,cpuacct/docker/a/cpu.stat'

function over(files: Fixture) {
  const clock = new VirtualClock(50)
  const sampler = throttledSampler({ files: filesOf(files), clock })
  return { clock, files, sample: () => sampler.sample() }
}

test('the share of time in which the quota was used up; the first sample has no value', (t) => {
  const { clock, files, sample } = over(v2())
  t.is(sample(), undefined)
  clock.jump(1_000)
  // 3 periods of 100 ms in 1 s.
  files[STAT] = cpuStat(0, 3)
  t.is(sample(), 30)
  clock.jump(2_000)
  t.is(sample(), 0)
  clock.jump(500)
  files[STAT] = cpuStat(0, 9)
  t.is(sample(), 100, 'a period that began before counts whole, but it is no more than all the time')
})

test('version 1, with a period of its own', (t) => {
  const texts = { [STAT_V1]: 'nr_periods 9\nnr_throttled 4\nthrottled_time 5\n' }
  const { clock, files, sample } = over(v1({ ...texts }))
  files['/sys/fs/cgroup/cpu,cpuacct/docker/a/cpu.cfs_period_us'] = '20000\n'
  t.is(sample(), undefined)
  clock.jump(1_000)
  files[STAT_V1] = 'nr_periods 9\nnr_throttled 24\nthrottled_time 5\n'
  t.is(sample(), 40)
})

test('of nested quotas the group with the smallest one is looked at', (t) => {
  const { clock, files, sample } = over({
    '/proc/self/cgroup': '0::/pod/app\n',
    '/proc/self/mountinfo': V2_MOUNT,
    '/sys/fs/cgroup/pod/app/cpu.max': '400000 100000\n',
    '/sys/fs/cgroup/pod/app/cpu.stat': cpuStat(0, 1_000),
    '/sys/fs/cgroup/pod/cpu.max': '50000 100000\n',
    '/sys/fs/cgroup/pod/cpu.stat': cpuStat(0, 5),
  })
  sample()
  clock.jump(1_000)
  files['/sys/fs/cgroup/pod/cpu.stat'] = cpuStat(0, 6)
  t.is(sample(), 10)
  files['/sys/fs/cgroup/pod/cpu.max'] = 'max 100000\n'
  clock.jump(1_000)
  t.is(sample(), undefined, "another group's counter starts anew")
})

test('two samples at one moment lose nothing; a counter that went back has no value', (t) => {
  const { clock, files, sample } = over(v2())
  sample()
  files[STAT] = cpuStat(0, 2)
  t.is(sample(), undefined)
  clock.jump(1_000)
  t.is(sample(), 20)
  clock.jump(1_000)
  files[STAT] = cpuStat(0, 0)
  t.is(sample(), undefined)
  clock.jump(1_000)
  t.is(sample(), 0)
})

test('without a quota, or a count of throttled periods, it throws', (t) => {
  t.throws(over(v2({ '/sys/fs/cgroup/cpu.max': 'max 100000\n' })).sample, { message: /no quota/ })
  t.throws(over(v2({ [STAT]: 'usage_usec 5\n' })).sample, { message: /no nr_throttled/ })
  t.throws(over({}).sample, { message: /ENOENT/ })
})
