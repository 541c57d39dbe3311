import test from 'ava'
import { cpuSampler } from '../../dist/agent/samplers/cpu.js'
import { cores, cpuStat, type Fixture, over, procStat, QUOTA, USAGE, v1, v2 } from './sampled-machine.js'

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
    const { files, sample } = over({ ...limits, '/proc/stat': procStat(100, 100) })
    t.is(sample(), undefined)
    // 4 x 10 busy, 2 x 80 idle.
    files['/proc/stat'] = procStat(110, 180)
    t.is(sample(), 20)
    files['/proc/stat'] = procStat(150, 180)
    t.is(sample(), 100)
  })
}

test('/proc/stat: within one tick of its counters there is no value, and the next loses nothing', (t) => {
  const { files, sample } = over({ '/proc/stat': procStat(100, 100) })
  sample()
  t.is(sample(), undefined)
  files['/proc/stat'] = procStat(110, 120)
  t.is(sample(), 50)
})

test('/proc/stat: after a counter went back one sample has no value', (t) => {
  const { files, sample } = over({ '/proc/stat': procStat(100, 100) })
  sample()
  files['/proc/stat'] = procStat(10, 100)
  t.is(sample(), undefined)
  files['/proc/stat'] = procStat(20, 120)
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

test('a source that fails is replaced by the next one while it fails, and used again afterwards', (t) => {
  const { clock, files, machine, sample } = over(v2({ '/proc/stat': procStat(100, 100) }))
  sample()
  clock.jump(1_000)
  files['/sys/fs/cgroup/cpu.stat'] = undefined
  t.is(sample(), undefined)
  files['/sys/fs/cgroup/cpu.stat'] = cpuStat(5_500_000)
  files['/proc/stat'] = procStat(110, 180)
  clock.jump(1_000)
  t.is(sample(), undefined)
  clock.jump(1_000)
  files['/sys/fs/cgroup/cpu.stat'] = cpuStat(6_500_000)
  t.is(sample(), 50)

  files['/sys/fs/cgroup/cpu.stat'] = undefined
  files['/proc/stat'] = undefined
  t.is(sample(), undefined)
  machine.cpus = cores(8, 50, 50)
  t.is(sample(), 50)
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
      v2({ '/proc/stat': procStat(1, 1) }),
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
