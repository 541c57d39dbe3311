import test from 'ava'
import { memorySampler } from '../../dist/agent/index.js'
import { type Fixture, filesOf, V2_MOUNT, v2 } from './sampled-machine.js'

const MIB = 2 ** 20
const MACHINE = { totalmem: () => 8_000 * MIB, freemem: () => 2_000 * MIB }
const MEMINFO = 'MemTotal:        8000000 kB\nMemFree:          100000 kB\nMemAvailable:    6000000 kB\n'
const V1_MOUNT = '33 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory'
const V1 = '/sys/fs/cgroup/memory/docker/a'

function group(directory: string, limit: string, usage: number, inactive: number): Fixture {
  return {
    [`${directory}/memory.max`]: `${limit}\n`,
    [`${directory}/memory.current`]: `${usage * MIB}\n`,
    [`${directory}/memory.stat`]: `anon 5\ninactive_anon 9\ninactive_file ${inactive * MIB}\nactive_file 3\n`,
  }
}

function sampleOf(files: Fixture, machine = MACHINE): number | undefined {
  return memorySampler({ files: filesOf(files), ...machine }).sample()
}

test('use of the group over its limit, without the file cache that is not used', (t) => {
  t.is(sampleOf(v2(group('/sys/fs/cgroup', `${1_000 * MIB}`, 700, 200))), 50)
})

test('of nested limits the one that is nearest', (t) => {
  const files = {
    '/proc/self/cgroup': '0::/pod/app\n',
    '/proc/self/mountinfo': V2_MOUNT,
    ...group('/sys/fs/cgroup/pod/app', `${1_000 * MIB}`, 400, 0),
    ...group('/sys/fs/cgroup/pod', `${1_500 * MIB}`, 1_300, 100),
    ...group('/sys/fs/cgroup', 'max', 7_999, 0),
  }
  t.is(sampleOf(files), 80)
})

test('version 1: its own names, with the use of the groups below', (t) => {
  const files = {
    '/proc/self/cgroup': '4:memory:/docker/a\n0::/\n',
    '/proc/self/mountinfo': `${V2_MOUNT}\n${V1_MOUNT}`,
    [`${V1}/memory.limit_in_bytes`]: `${400 * MIB}\n`,
    [`${V1}/memory.usage_in_bytes`]: `${350 * MIB}\n`,
    [`${V1}/memory.stat`]: `cache 4\ninactive_file 1\ntotal_inactive_file ${50 * MIB}\n`,
  }
  t.is(sampleOf(files), 75)
})

for (const [name, files] of [
  ['no limit', v2(group('/sys/fs/cgroup', 'max', 700, 0))],
  [
    "version 1's number for none",
    {
      '/proc/self/cgroup': '4:memory:/docker/a\n',
      '/proc/self/mountinfo': V1_MOUNT,
      [`${V1}/memory.limit_in_bytes`]: '9223372036854771712\n',
      [`${V1}/memory.usage_in_bytes`]: '5\n',
    },
  ],
  ['a limit beyond what there is', v2(group('/sys/fs/cgroup', `${9_000 * MIB}`, 700, 0))],
  ['a use that can not be read', v2({ '/sys/fs/cgroup/memory.max': `${MIB}\n` })],
  ['no groups', {}],
] as const) {
  test(`with ${name} it is the machine's, by what is available`, (t) => {
    t.is(sampleOf({ ...files, '/proc/meminfo': MEMINFO }), 25)
  })
}

test('without /proc/meminfo it is what is not free', (t) => {
  t.is(sampleOf({}), 75)
})

test('a group whose stat has no such line: all of its use counts', (t) => {
  const files = v2({
    ...group('/sys/fs/cgroup', `${1_000 * MIB}`, 700, 200),
    '/sys/fs/cgroup/memory.stat': 'anon 5\n',
  })
  t.is(sampleOf(files), 70)
})

test('it is between 0 and 100 here', (t) => {
  const value = memorySampler().sample() ?? -1
  t.true(value > 0 && value <= 100, String(value))
})
