import test from 'ava'
import { memorySampler, pressureSampler, throttledSampler } from '../../dist/agent/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import {
  cpuStat,
  type Fixture,
  filesOf,
  over,
  procStat,
  procStatOf,
  V2_MOUNT,
  v2,
} from './sampled-machine.js'

const MAX = '/sys/fs/cgroup/cpu.max'
const STAT = '/sys/fs/cgroup/cpu.stat'
const NO_QUOTA = 'max 100000\n'

function shortage(code: string): Error {
  return Object.assign(new Error(`${code}: too many open files`), { code })
}

test('a quota that is set later is followed: use against it from the second sample on', (t) => {
  const { clock, files, sample } = over(v2({ [MAX]: NO_QUOTA, '/proc/stat': procStat(0, 0) }))
  sample()
  files['/proc/stat'] = procStat(230, 40)
  t.is(sample(), 92)
  files[MAX] = '200000 100000\n'
  t.is(sample(), undefined)
  clock.jump(1_000)
  files['/proc/stat'] = procStat(460, 80)
  files[STAT] = cpuStat(6_060_000)
  t.is(sample(), 53)
})

test('a quota that is removed is followed: the share of the machine that is not idle', (t) => {
  const { clock, files, sample } = over(v2({ '/proc/stat': procStat(0, 0) }))
  sample()
  clock.jump(1_000)
  files[STAT] = cpuStat(5_100_000)
  t.is(sample(), 5)
  files[MAX] = NO_QUOTA
  t.is(sample(), undefined)
  files['/proc/stat'] = procStat(495, 10)
  t.is(sample(), 99)
})

test('a quota that is raised to all cores is no limit', (t) => {
  const { files, sample } = over(v2({ '/proc/stat': procStat(0, 0) }))
  sample()
  files[MAX] = '800000 100000\n'
  t.is(sample(), undefined)
  files['/proc/stat'] = procStat(150, 200)
  t.is(sample(), 60)
})

test('a process that is moved is measured in its new control group', (t) => {
  const { clock, files, sample } = over({
    '/proc/self/cgroup': '0::/first\n',
    '/proc/self/mountinfo': V2_MOUNT,
    '/sys/fs/cgroup/first/cpu.max': '100000 100000\n',
    '/sys/fs/cgroup/first/cpu.stat': cpuStat(0),
    '/sys/fs/cgroup/second/cpu.max': '400000 100000\n',
    '/sys/fs/cgroup/second/cpu.stat': cpuStat(900_000),
  })
  sample()
  files['/proc/self/cgroup'] = '0::/second\n'
  t.is(sample(), undefined)
  clock.jump(1_000)
  files['/sys/fs/cgroup/first/cpu.stat'] = cpuStat(1_000_000)
  files['/sys/fs/cgroup/second/cpu.stat'] = cpuStat(1_900_000)
  t.is(sample(), 25)
})

for (const code of ['EMFILE', 'ENFILE', 'ENOMEM']) {
  for (const path of ['/proc/self/cgroup', MAX, STAT]) {
    test(`${code} for ${path}: the sample fails, and the next one covers its time too`, (t) => {
      const { clock, files, sample } = over(v2({ '/proc/stat': procStat(0, 0) }))
      sample()
      clock.jump(500)
      const text = files[path]
      files[path] = shortage(code)
      t.throws(sample, { code })
      files[path] = text
      clock.jump(500)
      files[STAT] = cpuStat(5_500_000)
      t.is(sample(), 25)
    })
  }
}

test('without file descriptors at the first sample, the container is found once there are some', (t) => {
  const { clock, files, sample } = over(v2({ '/proc/stat': procStat(0, 0) }))
  const { ...texts } = files
  for (const path of Object.keys(files)) files[path] = shortage('EMFILE')
  t.throws(sample, { code: 'EMFILE' })
  Object.assign(files, texts)
  t.is(sample(), undefined)
  clock.jump(1_000)
  files[STAT] = cpuStat(6_000_000)
  t.is(sample(), 50)
})

const cpusetFiles: Fixture = v2({ [MAX]: NO_QUOTA, '/sys/fs/cgroup/cpuset.cpus.effective': '1,3\n' })
const affinityFiles: Fixture = {
  '/proc/self/status': 'Name:\tnode\nCpus_allowed:\ta\nCpus_allowed_list:\t1,3\n',
}
for (const [name, limits] of Object.entries<Fixture>({
  'a cpuset': cpusetFiles,
  'a cpuset of the group above': v2({
    ...cpusetFiles,
    '/proc/self/cgroup': '0::/app\n',
    '/sys/fs/cgroup/app/cpu.stat': cpuStat(0),
  }),
  'a cpuset smaller than the quota': { ...cpusetFiles, [MAX]: '300000 100000\n' },
  'an affinity without control groups': affinityFiles,
  'an affinity narrower than the cpuset': {
    ...cpusetFiles,
    ...affinityFiles,
    '/sys/fs/cgroup/cpuset.cpus.effective': '0-3\n',
  },
  'an affinity that names cores which are not there': {
    '/proc/self/status': 'Cpus_allowed_list:\t1,3,8-255\n',
    '/sys/devices/system/cpu/online': '0-3\n',
  },
})) {
  test(`${name}: the busy share of the allowed cores, with the work of neighbours`, (t) => {
    const { clock, files, sample } = over({
      ...limits,
      '/proc/stat': procStatOf([0, 0], [0, 0], [0, 0], [0, 0]),
    })
    t.is(sample(), undefined)
    clock.jump(1_000)
    files['/proc/stat'] = procStatOf([0, 100], [100, 0], [0, 100], [90, 10])
    t.is(sample(), 95)
    files['/proc/stat'] = procStatOf([100, 100], [110, 90], [100, 100], [100, 100])
    t.is(sample(), 10)
  })
}

test('a quota smaller than the cpuset: use against the quota', (t) => {
  const { clock, files, sample } = over({
    ...cpusetFiles,
    [MAX]: '100000 100000\n',
    '/proc/stat': procStatOf([0, 0], [0, 0], [0, 0], [0, 0]),
  })
  sample()
  clock.jump(1_000)
  files[STAT] = cpuStat(5_300_000)
  t.is(sample(), 30)
})

test('a container whose /proc/stat shows its own cores alone, numbered from 0: all that are there', (t) => {
  const { files, sample } = over({ ...cpusetFiles, '/proc/stat': procStatOf([0, 0], [0, 0]) })
  sample()
  files['/proc/stat'] = procStatOf([100, 0], [20, 80])
  t.is(sample(), 60)
})

test('when the cpuset changes one sample has no value, and the next is of the new cores', (t) => {
  const { files, sample } = over({
    ...cpusetFiles,
    '/proc/stat': procStatOf([0, 0], [0, 0], [0, 0], [0, 0]),
  })
  sample()
  files['/sys/fs/cgroup/cpuset.cpus.effective'] = '0\n'
  files['/proc/stat'] = procStatOf([0, 100], [100, 0], [0, 100], [100, 0])
  t.is(sample(), undefined)
  files['/proc/stat'] = procStatOf([40, 160], [200, 0], [0, 200], [200, 0])
  t.is(sample(), 40)
})

test('memory, throttled time and pressure follow a process that is moved, and a moment without file descriptors', (t) => {
  const group = (name: string, percent: number): Fixture => ({
    [`/sys/fs/cgroup/${name}/memory.max`]: '1000\n',
    [`/sys/fs/cgroup/${name}/memory.current`]: `${percent * 10}\n`,
    [`/sys/fs/cgroup/${name}/cpu.max`]: '100000 100000\n',
    [`/sys/fs/cgroup/${name}/cpu.stat`]: cpuStat(0, percent),
    [`/sys/fs/cgroup/${name}/cpu.pressure`]: `some avg10=${percent}.00 avg60=0.00 avg300=0.00 total=0\n`,
  })
  const texts: Fixture = {
    '/proc/self/cgroup': shortage('EMFILE'),
    '/proc/self/mountinfo': V2_MOUNT,
    ...group('first', 20),
    ...group('second', 70),
  }
  const files = filesOf(texts)
  const clock = new VirtualClock()
  const memory = memorySampler({ files, totalmem: () => 8_000, freemem: () => 0 })
  const pressure = pressureSampler('cpu', { files })
  const throttled = throttledSampler({ files, clock })
  for (const sampler of [memory, pressure, throttled]) t.throws(() => sampler.sample(), { code: 'EMFILE' })

  texts['/proc/self/cgroup'] = '0::/first\n'
  t.is(memory.sample(), 20)
  t.is(pressure.sample(), 20)
  t.is(throttled.sample(), undefined)

  texts['/proc/self/cgroup'] = '0::/second\n'
  clock.jump(1_000)
  t.is(memory.sample(), 70)
  t.is(pressure.sample(), 70)
  t.is(throttled.sample(), undefined)
  clock.jump(1_000)
  texts['/sys/fs/cgroup/second/cpu.stat'] = cpuStat(0, 72)
  t.is(throttled.sample(), 20)
})
