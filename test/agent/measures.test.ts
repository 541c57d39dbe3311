import test from 'ava'
import { Measures, type MeasuresOptions } from '../../dist/agent/measures.js'
import { OptionError } from '../../dist/errors.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { cores, cpuStat, type Fixture, filesOf, v2 } from './sampled-machine.js'

const STAT = '/sys/fs/cgroup/cpu.stat'

function pressure(average: number): string {
  return `some avg10=${average}.00 avg60=1.00 avg300=2.00 total=7\n`
}

/** A container with 2 cores, 1 GB of memory half of which is used, and pressure of each kind. */
function container(): Fixture {
  return v2({
    '/sys/fs/cgroup/memory.max': '1000000000\n',
    '/sys/fs/cgroup/memory.current': '500000000\n',
    '/sys/fs/cgroup/cpu.pressure': pressure(11),
    '/sys/fs/cgroup/memory.pressure': pressure(12),
    '/sys/fs/cgroup/io.pressure': pressure(13),
  })
}

function measuring(options: Partial<MeasuresOptions> = {}, files = container()) {
  const clock = new VirtualClock(1_000)
  const loop = { idle: 0, active: 0 }
  const warnings: string[] = []
  const measures = new Measures({
    clock,
    timeout: 500,
    source: 'agent',
    files: filesOf(files),
    cpus: () => cores(8, 0, 0),
    eventLoopUtilization: () => ({ ...loop }),
    warn: (message) => warnings.push(message),
    ...options,
  })
  let used = 0
  let throttled = 0
  /** Lets a second pass with so much use, percent each, and measures. */
  async function second(cpu: number, eventLoop: number, throttledShare = 0) {
    clock.jump(1_000)
    used += cpu * 20_000
    throttled += throttledShare / 10
    files[STAT] = cpuStat(used, throttled)
    loop.active += eventLoop * 10
    loop.idle += 1_000 - eventLoop * 10
    return measures.sample()
  }
  return { clock, measures, files, warnings, second }
}

test('nothing is reported before two samples: shares of time need both', async (t) => {
  const { measures, second } = measuring()
  t.is(measures.report(), undefined)
  t.deepEqual(await second(0, 0), { kind: 'none' })
  t.is(measures.report(), undefined)
  t.deepEqual(await second(25, 10), { kind: 'value', percent: 25 })
})

test('all parts are reported, each with its own name', async (t) => {
  const { measures, second } = measuring()
  await second(0, 0)
  await second(25, 10, 30)
  t.deepEqual(measures.report(), {
    cpu: 30,
    application: 10,
    memory: 50,
    named: {
      cpu_alone: 0.25,
      throttled: 0.3,
      cpu_pressure: 0.11,
      memory_pressure: 0.12,
      io_pressure: 0.13,
    },
    age: 0,
  })
})

test('cpu is the largest of CPU, event loop and throttled time', async (t) => {
  const { measures, second } = measuring()
  await second(0, 0)
  for (const [cpu, loop, throttled, right] of [
    [60, 10, 20, 60],
    [10, 80, 20, 80],
    [10, 20, 90, 90],
    [0, 0, 0, 0],
  ] as const) {
    await second(cpu, loop, throttled)
    t.is(measures.report()?.cpu, right)
  }
})

test("the report's age grows from when the sample was asked for", async (t) => {
  const { clock, measures, second } = measuring()
  await second(0, 0)
  await second(25, 10)
  clock.jump(750)
  t.is(measures.report()?.age, 750)
})

test('what can not be measured here is left out, and the rest is reported', async (t) => {
  const machine = {
    '/proc/stat': 'cpu  0 0 0 0 0 0 0 0 0 0\n',
    '/proc/meminfo': 'MemTotal: 8 kB\nMemAvailable: 2 kB\n',
  }
  const { measures, files, second } = measuring({}, machine)
  await second(0, 0)
  files['/proc/stat'] = 'cpu  40 0 0 60 0 0 0 0 0 0\n'
  await second(0, 5)
  t.deepEqual(measures.report(), { cpu: 40, application: 5, memory: 75, named: { cpu_alone: 0.4 }, age: 0 })
  t.is(measures.counters.threw, 0)
})

test('without the event loop, as for an agent that is a process of its own', async (t) => {
  const { measures, second } = measuring({ eventLoop: false })
  await second(0, 100)
  await second(25, 100)
  const report = measures.report()
  t.is(report?.cpu, 25)
  t.false('application' in (report ?? {}))
})

test("the event loop is the busiest of this thread's and the workers'", async (t) => {
  const times = { idle: 0, active: 0 }
  const workers = [{ performance: { eventLoopUtilization: () => ({ ...times }) } }]
  const { measures, second } = measuring({ workers })
  await second(0, 0)
  times.active = 70
  times.idle = 30
  await second(0, 5)
  t.is(measures.report()?.application, 70)
  t.is(measures.report()?.cpu, 70)
})

test("with a sampler of the user's alone, what it says is reported and nothing else is measured", async (t) => {
  const files = {}
  const { measures, clock } = measuring({ sampler: () => 37.123456 }, files)
  t.deepEqual(await measures.sample(), { kind: 'value', percent: 37.123456 })
  clock.jump(5)
  t.deepEqual(measures.report(), { cpu: 37.123456, age: 5 })
})

for (const [name, sampler] of [
  ['a sampler', () => 15],
  ['a sampler that takes its time', { sample: async () => 15 }],
] as const) {
  test(`with ${name} and a utilization, it is the CPU among the parts`, async (t) => {
    const { measures, second } = measuring({ sampler, utilization: 'max' })
    await second(99, 0)
    await second(99, 10)
    t.is(measures.report()?.cpu, 15)
    t.is(measures.report()?.named?.cpu_alone, 0.15)
    await second(99, 20)
    t.is(measures.report()?.cpu, 20)
  })
}

test('utilization by the name of one part', async (t) => {
  const expected = {
    cpu: 25,
    eventLoop: 10,
    throttled: 30,
    memory: 50,
    cpuPressure: 11,
    memoryPressure: 12,
    ioPressure: 13,
  } as const
  for (const part of Object.keys(expected) as (keyof typeof expected)[]) {
    const { measures, second } = measuring({ utilization: part })
    await second(0, 0)
    await second(25, 10, 30)
    t.is(measures.report()?.cpu, expected[part], part)
  }
})

test("utilization by the user's own function of the parts", async (t) => {
  const { measures, second } = measuring({
    utilization: ({ cpu, memory = 0, ioPressure = 0 }) => cpu / 2 + memory / 10 + ioPressure,
  })
  await second(0, 0)
  await second(40, 100)
  t.is(measures.report()?.cpu, 20 + 5 + 13)
})

test('a function that has no value yet, throws or gives no percentage: as a sampler that does', async (t) => {
  const gives: (() => unknown)[] = [
    () => undefined,
    () => {
      throw new Error('no idea')
    },
    () => Number.NaN,
    () => 'a lot',
    () => -1,
    () => 250,
  ]
  const { measures, second, warnings } = measuring({ utilization: () => gives.shift()?.() as number })
  await second(0, 0)
  const kinds = []
  for (let i = 0; i < 6; i++) kinds.push((await second(10, 10)).kind)
  t.deepEqual(kinds, ['none', 'failed', 'failed', 'failed', 'failed', 'value'])
  t.is(measures.report()?.cpu, 100)
  const { threw, invalid, none } = measures.counters
  t.deepEqual({ threw, invalid, none }, { threw: 1, invalid: 3, none: 2 })
  t.regex(warnings[0] ?? '', /the sampler of agent threw: no idea/)
})

test('one part that can not be measured, asked for by name, is a failure that says why', async (t) => {
  const machine = { '/proc/stat': 'cpu  0 0 0 0 0 0 0 0 0 0\n' }
  const { measures, files, second, warnings } = measuring({ utilization: 'throttled' }, machine)
  await second(0, 0)
  files['/proc/stat'] = 'cpu  40 0 0 60 0 0 0 0 0 0\n'
  await second(0, 0)
  t.is(measures.counters.threw, 1)
  t.is(measures.report(), undefined)
  t.regex(warnings[0] ?? '', /the sampler of agent threw: ENOENT/)
})

test('a sample that fails leaves the one before, to age, and is counted', async (t) => {
  const values = [10, 30, Number.NaN]
  const { measures, second } = measuring({ sampler: () => values.shift(), utilization: 'cpu' })
  await second(0, 0)
  await second(0, 0)
  t.is(measures.report()?.cpu, 30)
  t.is((await second(0, 0)).kind, 'failed')
  t.is(measures.report()?.cpu, 30)
  t.is(measures.report()?.age, 1_000)
  t.is(measures.counters.invalid, 1)
})

test('a sampler that hangs is counted, and what it gives in the end is dropped', async (t) => {
  let settle = (_: number): void => {}
  const sampler = () =>
    new Promise<number>((resolve) => {
      settle = resolve
    })
  const { clock, measures } = measuring({ sampler })
  const taken = measures.sample()
  await clock.advance(500)
  t.is((await taken).kind, 'failed')
  settle(90)
  await clock.advance(0)
  t.is(measures.report(), undefined)
  t.is(measures.counters.hung, 1)
  t.is(measures.counters.late, 1)
})

test('a list of workers that throws fails the sample: the event loop is not silently left out', async (t) => {
  const workers = () => {
    throw new Error('the pool is gone')
  }
  const { measures, second } = measuring({ workers })
  t.is((await second(0, 0)).kind, 'failed')
  t.is((await second(0, 0)).kind, 'failed')
  t.is(measures.counters.threw, 2)
})

test('options that contradict each other are refused', (t) => {
  const loop = t.throws(() => measuring({ eventLoop: false, utilization: 'eventLoop' }), {
    instanceOf: OptionError,
  })
  t.is(loop?.option, 'utilization')
  const workers = t.throws(() => measuring({ eventLoop: false, workers: [] }), { instanceOf: OptionError })
  t.is(workers?.option, 'workers')
})

test('on this machine two looks give a report within its ranges', async (t) => {
  const { processClock: clock } = await import('../../dist/process-clock.js')
  const measures = new Measures({ clock, timeout: 1_000, source: 'agent' })
  while (measures.report() === undefined) {
    await measures.sample()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { cpu = -1, application = -1, memory = -1, named = {} } = measures.report() ?? {}
  for (const [name, percent] of Object.entries({ cpu, application, memory })) {
    t.true(percent >= 0 && percent <= 100, `${name} ${percent}`)
  }
  for (const [name, share] of Object.entries(named)) t.true(share >= 0 && share <= 1, `${name} ${share}`)
  t.true(cpu >= application)
})
