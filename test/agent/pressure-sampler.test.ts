import test from 'ava'
import { type PressureKind, pressureSampler } from '../../dist/agent/index.js'
import { type Fixture, filesOf, v1, v2 } from './sampled-machine.js'

function pressure(average: string): string {
  return `some avg10=${average} avg60=1.00 avg300=2.00 total=7\nfull avg10=99.00 avg60=0.00 avg300=0.00 total=0\n`
}

function sampleOf(of: PressureKind, files: Fixture): number | undefined {
  return pressureSampler(of, { files: filesOf(files) }).sample()
}

test("in a group with a quota it is the group's, each kind from its own file", (t) => {
  const files = v2({
    '/sys/fs/cgroup/cpu.pressure': pressure('12.50'),
    '/sys/fs/cgroup/memory.pressure': pressure('0.00'),
    '/sys/fs/cgroup/io.pressure': pressure('100.00'),
    '/proc/pressure/cpu': pressure('77.00'),
  })
  t.is(sampleOf('cpu', files), 12.5)
  t.is(sampleOf('memory', files), 0)
  t.is(sampleOf('io', files), 100)
})

for (const [name, files] of [
  [
    'without a quota',
    v2({ '/sys/fs/cgroup/cpu.max': 'max 100000\n', '/sys/fs/cgroup/cpu.pressure': pressure('1.00') }),
  ],
  ['without a pressure of the group', v2()],
  ['with version 1', v1()],
  ['without groups', {}],
] as const) {
  test(`${name} it is the machine's`, (t) => {
    t.is(sampleOf('cpu', { ...files, '/proc/pressure/cpu': pressure('33.10') }), 33.1)
  })
}

test('where the kernel has none, or writes something else, it throws', (t) => {
  t.throws(() => sampleOf('io', v2()), { message: /ENOENT/ })
  t.throws(() => sampleOf('io', { '/proc/pressure/io': 'full avg10=1.00 avg60=0.00\n' }), {
    message: /no average/,
  })
})
