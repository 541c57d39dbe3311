import test from 'ava'
import fc from 'fast-check'
import { createBalancer, createTable, type Report, random, TableError } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { METRICS, type MetricName, TIME_BIAS, TIME_MAX } from '../../dist/table/layout.js'
import { claimMetric, findMetric } from '../../dist/table/metric-names.js'
import { type MutableMetric, readMetric, readReport, reportTime } from '../../dist/table/report.js'
import { type Entry, Table } from '../../dist/table/table.js'

const HOUR = 3_600_000

function metric(table: Table, entry: Entry, name: string): MutableMetric | undefined {
  const reported = reportTime(table.memory, entry.slot, entry.generation)
  if (reported < 0) return undefined
  const sample = { time: 0, value: 0 }
  readMetric(table.memory, entry.slot, entry.generation, findMetric(table.memory, name), reported, sample)
  return Number.isNaN(sample.value) ? undefined : sample
}

const amount = fc.double({ min: 0, max: 1e12, noNaN: true })
const someFields = fc.dictionary(fc.constantFrom(...METRICS), amount) as fc.Arbitrary<Report>

test('each field of a report is kept with the time of its sample, the last sample of each', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ step: fc.integer({ min: -200_000, max: 400_000 }), report: someFields }), {
        minLength: 1,
        maxLength: 30,
      }),
      (reports) => {
        const table = new Table(new VirtualClock())
        const entry = table.claim('a')
        const expected = new Map<string, MutableMetric>()
        let time = TIME_BIAS
        let latest = 0
        for (const { step, report } of reports) {
          time += step
          const result = table.write(entry, time, report)
          let stored = false
          for (const [name, value] of Object.entries(report)) {
            // Samples that are a sixth of an hour older than the last report are not looked at.
            if (time < (expected.get(name)?.time ?? latest - 2 ** 20 + 1)) continue
            expected.set(name, { time, value: Math.fround(value as number) })
            stored = true
          }
          latest = Math.max(latest, time)
          t.is(result, stored ? 'stored' : Object.keys(report).length === 0 ? 'empty' : 'older')
        }
        const last = reportTime(table.memory, entry.slot, entry.generation)
        for (const name of METRICS) {
          const known = expected.get(name)
          const found = metric(table, entry, name)
          // What later reports have lacked for long may have been cleared, and is never shown as another time.
          if (found === undefined) t.true(known === undefined || last - known.time >= HOUR / 4)
          else t.deepEqual(found, known)
        }
      },
    ),
    { numRuns: 1_000 },
  )
})

test('a metric that reports no longer have never looks newer than it is, for days', (t) => {
  const table = new Table(new VirtualClock())
  const entry = table.claim('a')
  table.write(entry, TIME_BIAS, { latency: 5, qps: 1 })
  for (let time = TIME_BIAS + 5_000; time < TIME_BIAS + 40 * HOUR; time += 5_000) {
    table.write(entry, time, { qps: 1 })
    const found = metric(table, entry, 'latency')
    t.true(found === undefined || found.time === TIME_BIAS)
  }
  t.is(metric(table, entry, 'latency'), undefined)
})

test('a node that comes back after any silence shows none of its old metrics as new', (t) => {
  for (const silence of [HOUR, 2 ** 23, 2 ** 23 + 1, 2 ** 22, 3 * 2 ** 23 - 7, 1_000 * HOUR]) {
    const table = new Table(new VirtualClock())
    const entry = table.claim('a')
    table.write(entry, TIME_BIAS, { latency: 5, qps: 1 })
    table.write(entry, TIME_BIAS + silence, { qps: 2 })
    t.is(metric(table, entry, 'latency'), undefined)
    t.deepEqual(metric(table, entry, 'qps'), { time: TIME_BIAS + silence, value: 2 })
    t.is(table.write(entry, TIME_BIAS + 1, { latency: 9 }), 'older')
    t.is(metric(table, entry, 'latency'), undefined)
  }
})

test('times at the ends of the range are kept', (t) => {
  for (const time of [0, 1, TIME_MAX]) {
    const table = new Table(new VirtualClock())
    const entry = table.claim('a')
    t.is(table.write(entry, time, { inFlight: 3 }), 'stored')
    t.deepEqual(metric(table, entry, 'inFlight'), { time, value: 3 })
  }
})

test('a report for a node that left changes nothing, and its successor begins with nothing', (t) => {
  const table = new Table(new VirtualClock(), 1)
  const report: Report = { ...Object.fromEntries(METRICS.map((name) => [name, 7])) }
  const old = table.claim('old')
  table.write(old, table.now(), report)
  table.unclaim(old)
  t.is(table.write(old, table.now(), report), 'left')
  const next = table.claim('next')
  t.is(next.slot, old.slot)
  t.is(table.write(old, table.now(), report), 'left')
  t.deepEqual(readReport(table.memory, next.slot, next.generation), {})
  t.is(table.write(next, table.now(), { eps: 1 }), 'stored')
  t.deepEqual(readReport(table.memory, next.slot, next.generation), { eps: 1 })
  t.deepEqual(readReport(table.memory, old.slot, old.generation), {})
})

test('a table keeps four named metrics that were asked for, and no others', (t) => {
  const table = new Table(new VirtualClock())
  const entry = table.claim('a')
  t.is(table.write(entry, table.now(), { named: { askers: 1 } }), 'empty')
  const names = ['askers', 'answerers', '__proto__', '\ud800']
  const places = names.map((name) => claimMetric(table.memory, name))
  t.is(new Set(places).size, 4)
  t.deepEqual(
    names.map((name) => claimMetric(table.memory, name)),
    places,
  )
  const named = Object.fromEntries([...names, 'another'].map((name, i) => [name, i - 2]))
  t.is(table.write(entry, table.now(), { named }), 'stored')
  names.forEach((name, i) => {
    t.is(metric(table, entry, name)?.value, i - 2)
  })
  t.is(findMetric(table.memory, 'another'), -1)
  const error = t.throws(() => claimMetric(table.memory, 'a fifth'), { instanceOf: TableError })
  t.is(error?.value, 'a fifth')
  t.is(claimMetric(table.memory, 'latency'), METRICS.indexOf('latency'))
})

test('named metrics of any size are kept, at most as large as single precision goes', (t) => {
  const table = new Table(new VirtualClock())
  const entry = table.claim('a')
  claimMetric(table.memory, 'x')
  for (const [given, kept] of [
    [-5, -5],
    [1e300, 3.4028234663852886e38],
    [-1e300, -3.4028234663852886e38],
    [1e-300, 0],
    [0.1, Math.fround(0.1)],
  ] as const) {
    table.write(entry, table.now(), { named: { x: given } })
    t.is(metric(table, entry, 'x')?.value, kept)
  }
})

test('a snapshot shows what nodes reported', (t) => {
  const table = createTable({ clock: new VirtualClock() })
  const balancer = createBalancer({ nodes: ['a', 'b'], poll: false, algorithm: random(), table })
  const report: Record<MetricName, number> = {
    cpu: 120.5,
    application: 0.1,
    memory: 33.3,
    qps: 1_234.5,
    eps: 0,
    inFlight: 7,
    latency: 12.25,
    queueDelay: 0.001,
  }
  t.true(balancer.report('a', report))
  t.deepEqual(
    balancer.snapshot().map((node) => node.report),
    [report, {}],
  )
})
