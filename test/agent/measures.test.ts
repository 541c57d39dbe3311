import test from 'ava'
import { Measures, type MeasuresOptions } from '../../dist/agent/measures.js'
import { OptionError } from '../../dist/errors.js'
import { processClock } from '../../dist/process-clock.js'
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
    return measures.take()
  }
  return { clock, measures, files, warnings, second }
}

test('nothing is reported before two samples: shares of time need both', async (t) => {
  const { measures, second } = measuring()
  t.is(await second(0, 0), undefined)
  t.is((await second(25, 10))?.cpu, 25)
  t.deepEqual([measures.counters.none, measures.counters.values], [1, 1])
})

test('all parts are reported, each by its own name', async (t) => {
  const { second } = measuring()
  await second(0, 0)
  t.deepEqual(await second(25, 10, 30), {
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
  })
})

test('cpu is the largest of CPU, event loop and throttled time', async (t) => {
  const { second } = measuring()
  await second(0, 0)
  for (const [cpu, loop, throttled, right] of [
    [60, 10, 20, 60],
    [10, 80, 20, 80],
    [10, 20, 90, 90],
    [0, 0, 0, 0],
  ] as const) {
    t.is((await second(cpu, loop, throttled))?.cpu, right)
  }
})

test('what can not be measured here is left out, and the rest is reported', async (t) => {
  const machine = {
    '/proc/stat': 'cpu  0 0 0 0 0 0 0 0 0 0\n',
    '/proc/meminfo': 'MemTotal: 8 kB\nMemAvailable: 2 kB\n',
  }
  const { measures, files, second } = measuring({}, machine)
  await second(0, 0)
  files['/proc/stat'] = 'cpu  40 0 0 60 0 0 0 0 0 0\n'
  t.deepEqual(await second(0, 5), { cpu: 40, application: 5, memory: 75, named: { cpu_alone: 0.4 } })
  t.is(measures.counters.threw, 0)
})

test('without the event loop, as for an agent that is a process of its own', async (t) => {
  const { second } = measuring({ eventLoop: false })
  await second(0, 100)
  const report = await second(25, 100)
  t.is(report?.cpu, 25)
  t.false('application' in (report ?? {}))
})

test("the event loop is the busiest of this thread's and the workers'", async (t) => {
  const times = { idle: 0, active: 0 }
  const workers = [{ performance: { eventLoopUtilization: () => ({ ...times }) } }]
  const { second } = measuring({ workers })
  await second(0, 0)
  times.active = 70
  times.idle = 30
  const report = await second(0, 5)
  t.is(report?.application, 70)
  t.is(report?.cpu, 70)
})

test("with a sampler of the user's alone, what it says is reported and nothing else is measured", async (t) => {
  const { measures } = measuring({ sampler: () => 37.123456 }, {})
  t.deepEqual(await measures.take(), { cpu: 37.123456 })
})

for (const [name, sampler] of [
  ['a sampler', () => 15],
  ['a sampler that takes its time', { sample: async () => 15 }],
] as const) {
  test(`with ${name} and a utilization, it is the CPU among the parts`, async (t) => {
    const { second } = measuring({ sampler, utilization: 'max' })
    await second(99, 0)
    const report = await second(99, 10)
    t.is(report?.cpu, 15)
    t.is(report?.named?.cpu_alone, 0.15)
    t.is((await second(99, 20))?.cpu, 20)
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
    const { second } = measuring({ utilization: part })
    await second(0, 0)
    t.is((await second(25, 10, 30))?.cpu, expected[part], part)
  }
})

test("utilization by the user's own function of the parts", async (t) => {
  const { second } = measuring({
    utilization: ({ cpu, memory = 0, ioPressure = 0 }) => cpu / 2 + memory / 10 + ioPressure,
  })
  await second(0, 0)
  t.is((await second(40, 100))?.cpu, 20 + 5 + 13)
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
  for (let i = 0; i < 5; i++) t.is(await second(10, 10), undefined)
  t.is((await second(10, 10))?.cpu, 100)
  const { threw, invalid, none } = measures.counters
  t.deepEqual({ threw, invalid, none }, { threw: 1, invalid: 3, none: 2 })
  t.regex(warnings[0] ?? '', /the sampler of agent threw: no idea/)
})

test('one part that can not be measured, asked for by name, is a failure that says why', async (t) => {
  const machine = { '/proc/stat': 'cpu  0 0 0 0 0 0 0 0 0 0\n' }
  const { measures, files, second, warnings } = measuring({ utilization: 'throttled' }, machine)
  await second(0, 0)
  files['/proc/stat'] = 'cpu  40 0 0 60 0 0 0 0 0 0\n'
  t.is(await second(0, 0), undefined)
  t.is(measures.counters.threw, 1)
  t.regex(warnings[0] ?? '', /the sampler of agent threw: ENOENT/)
})

test('a sampler that gives no percentage is counted, also beside a utilization', async (t) => {
  const values = [Number.NaN, -1, Number.POSITIVE_INFINITY, '5', null, 30]
  const { measures, second } = measuring({ sampler: () => values.shift() as number, utilization: 'cpu' })
  for (let i = 0; i < 5; i++) t.is(await second(0, 0), undefined)
  t.is((await second(0, 0))?.cpu, 30)
  t.is(measures.counters.invalid, 5)
})

test('a sampler that hangs is counted, and what it gives in the end is dropped', async (t) => {
  let settle = (_: number): void => {}
  const sampler = () =>
    new Promise<number>((resolve) => {
      settle = resolve
    })
  for (const utilization of [undefined, 'cpu'] as const) {
    const { clock, measures } = measuring({ sampler, utilization, eventLoop: false })
    const taken = measures.take()
    await clock.advance(500)
    t.is(await taken, undefined)
    settle(90)
    await clock.advance(0)
    t.deepEqual([measures.counters.hung, measures.counters.late], [1, 1])
  }
})

test('a list of workers that throws fails the sample: the event loop is not silently left out', async (t) => {
  const workers = () => {
    throw new Error('the pool is gone')
  }
  const { measures, second } = measuring({ workers })
  t.is(await second(0, 0), undefined)
  t.is(await second(0, 0), undefined)
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

test('on this machine a report has all its values within their ranges', async (t) => {
  const measures = new Measures({ clock: processClock, timeout: 1_000, source: 'agent' })
  let report = await measures.take()
  while (report === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    report = await measures.take()
  }
  const { cpu = -1, application = -1, memory = -1, named = {} } = report
  for (const [name, percent] of Object.entries({ cpu, application, memory })) {
    t.true(percent >= 0 && percent <= 100, `${name} ${percent}`)
  }
  for (const [name, share] of Object.entries(named)) t.true(share >= 0 && share <= 1, `${name} ${share}`)
  t.true(cpu >= application)
})
