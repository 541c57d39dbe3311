import test from 'ava'
import fc from 'fast-check'
import { BadReportError } from '../../dist/errors.js'
import { checkReport } from '../../dist/reports/check.js'
import { MAX_REPORT } from '../../dist/reports/orca-fields.js'
import { readOrcaJson, writeOrcaJson } from '../../dist/reports/orca-json.js'
import { known, readOrRefused, reportsOf } from '../support/reports.js'

const WHOLE = {
  cpu_utilization: 0.7,
  application_utilization: 0.8,
  mem_utilization: 0.9,
  rps: 7,
  rps_fractional: 1000,
  eps: 2,
  request_cost: { disk: -1.5 },
  utilization: { total: 0.5 },
  named_metrics: {
    foo: 123,
    in_flight: 4,
    latency_ms: 12.5,
    queue_delay_ms: 0.5,
    idlest_state: 1,
    idlest_weight: 73,
    idlest_max_in_flight: 30,
  },
  age_ms: 120,
}
const READ = {
  cpu: 70,
  application: 80,
  memory: 90,
  qps: 1000,
  eps: 2,
  inFlight: 4,
  latency: 12.5,
  queueDelay: 0.5,
  age: 120,
  named: { foo: 123, 'utilization.total': 0.5 },
  state: 'drain',
  weight: 73,
  maxInFlight: 30,
} as const

test('every field is read by its proto name, utilizations in percent', (t) => {
  t.deepEqual(readOrcaJson(JSON.stringify(WHOLE)), READ)
})

test("every field is read by protobuf's lowerCamelCase name too", (t) => {
  const text = JSON.stringify({
    cpuUtilization: 0.7,
    applicationUtilization: 0.8,
    memUtilization: 0.9,
    rps: '7',
    rpsFractional: 1000,
    eps: 2,
    requestCost: { disk: -1.5 },
    utilization: { total: 0.5 },
    namedMetrics: WHOLE.named_metrics,
    ageMs: 120,
  })
  t.deepEqual(readOrcaJson(text), READ)
})

test('a field under both of its names is refused', (t) => {
  const error = t.throws(() => readOrcaJson('{"cpu_utilization":0.1,"cpuUtilization":0.1}'), {
    instanceOf: BadReportError,
  })
  t.is(error?.field, 'cpuUtilization')
})

test('whole percentages come out whole, where 0.07 * 100 would not', (t) => {
  for (let percent = 0; percent <= 200; percent++) {
    t.is(readOrcaJson(`{"cpu_utilization":${percent / 100}}`).cpu, percent)
  }
  t.is(readOrcaJson('{"cpu_utilization":0.3}').cpu, 30)
  t.is(readOrcaJson('{"cpu_utilization":0.07}').cpu, 7)
})

test('an empty object is an empty report', (t) => {
  t.deepEqual(readOrcaJson('{}'), {})
})

test('unknown fields are ignored, whatever is in them', (t) => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
  t.deepEqual(readOrcaJson(`{"cpu_utilization":0.5,"new_field":"x","rps":"many","deep":${deep}}`), {
    cpu: 50,
  })
})

for (const [text, field] of [
  ['', ''],
  ['{"cpu_utilization":0.5', ''],
  ['<html>502</html>', ''],
  ['null', ''],
  ['0.5', ''],
  ['"0.5"', ''],
  ['[{"cpu_utilization":0.5}]', ''],
  ['{"cpu_utilization":NaN}', ''],
  ['{"cpu_utilization":"0.5"}', 'cpu_utilization'],
  ['{"cpu_utilization":"NaN"}', 'cpu_utilization'],
  ['{"cpu_utilization":null}', 'cpu_utilization'],
  ['{"cpu_utilization":-0.1}', 'cpu_utilization'],
  ['{"cpu_utilization":1e309}', 'cpu_utilization'],
  ['{"cpu_utilization":1e308}', 'cpu_utilization'],
  ['{"cpu_utilization":1e11}', 'cpu_utilization'],
  ['{"cpuUtilization":true}', 'cpuUtilization'],
  ['{"application_utilization":[0.5]}', 'application_utilization'],
  ['{"mem_utilization":{}}', 'mem_utilization'],
  ['{"rps_fractional":-1}', 'rps_fractional'],
  ['{"eps":"1"}', 'eps'],
  ['{"age_ms":-1}', 'age_ms'],
  ['{"named_metrics":[1]}', 'named_metrics'],
  ['{"named_metrics":{"":1}}', 'named_metrics'],
  ['{"named_metrics":{"foo":"1"}}', 'named_metrics.foo'],
  ['{"named_metrics":{"foo":1e309}}', 'named_metrics.foo'],
  ['{"named_metrics":{"in_flight":-1}}', 'named_metrics.in_flight'],
  ['{"named_metrics":{"idlest_state":256}}', 'named_metrics.idlest_state'],
  ['{"named_metrics":{"idlest_state":0.5}}', 'named_metrics.idlest_state'],
  ['{"named_metrics":{"idlest_state":-1}}', 'named_metrics.idlest_state'],
  ['{"named_metrics":{"idlest_state":"up"}}', 'named_metrics.idlest_state'],
  ['{"named_metrics":{"idlest_weight":-1}}', 'named_metrics.idlest_weight'],
  ['{"named_metrics":{"idlest_max_in_flight":1e13}}', 'named_metrics.idlest_max_in_flight'],
  ['{"age_ms":5,"named_metrics":{"age_ms":5}}', 'age_ms'],
  ['{"utilization":{"total":-1}}', 'utilization.total'],
  ['{"utilization":7}', 'utilization'],
  ['{"request_cost":{"disk":"1"}}', 'request_cost.disk'],
  ['{"requestCost":null}', 'requestCost'],
] as const) {
  test(`${text === '' ? 'an empty text' : text} is refused${field === '' ? ' as a whole' : ` for ${field}`}`, (t) => {
    const error = t.throws(() => readOrcaJson(text), { instanceOf: BadReportError })
    t.is(error?.field, field)
    t.is(error?.code, 'IDLEST_BAD_REPORT')
  })
}

test('a text of 64 KiB is read, one character more is refused', (t) => {
  const text = '{"cpu_utilization":0.5}'.padEnd(MAX_REPORT)
  t.is(readOrcaJson(text).cpu, 50)
  const error = t.throws(() => readOrcaJson(`${text} `), { instanceOf: BadReportError })
  t.true((error?.message.length ?? 1e6) < 300)
})

test('arrays nested as deep as 64 KiB allow are refused, not a crash', (t) => {
  t.throws(() => readOrcaJson('['.repeat(MAX_REPORT)), { instanceOf: BadReportError })
  const half = MAX_REPORT / 2
  t.throws(() => readOrcaJson(`${'['.repeat(half)}${']'.repeat(half)}`), { instanceOf: BadReportError })
})

test('keys called __proto__ change no prototype', (t) => {
  const report = readOrcaJson('{"__proto__":{"cpu_utilization":0.9},"named_metrics":{"__proto__":7}}')
  t.is(report.cpu, undefined)
  t.deepEqual(Object.entries(report.named ?? {}), [['__proto__', 7]])
  t.is(Object.getPrototypeOf(report.named), Object.prototype)
  t.deepEqual(Object.entries(readOrcaJson(writeOrcaJson(report)).named ?? {}), [['__proto__', 7]])
})

test('a report is written with proto names, utilizations of 0-1', (t) => {
  const { rps: _, request_cost: __, ...kept } = WHOLE
  t.deepEqual(JSON.parse(writeOrcaJson(READ)), kept)
  t.is(writeOrcaJson({}), '{}')
})

test('a metric that only looks like a utilization, and could not be read as one, stays a named metric', (t) => {
  const named = { 'utilization.': 1, 'utilization.negative': -1, 'utilization.huge': 1e300 }
  t.deepEqual(JSON.parse(writeOrcaJson({ named })), { named_metrics: named })
  t.deepEqual(readOrcaJson(writeOrcaJson({ named })), { named })
})

test('the age is read from a metric too', (t) => {
  t.deepEqual(readOrcaJson('{"named_metrics":{"age_ms":120}}'), { age: 120 })
})

test("a report's own age is written, not a metric of that wire name, which would make two of them", (t) => {
  t.is(writeOrcaJson({ age: 4, named: { age_ms: 9 } }), '{"age_ms":4}')
})

test("a report's own inFlight is written, not a metric of that wire name", (t) => {
  t.is(writeOrcaJson({ inFlight: 4, named: { in_flight: 9 } }), '{"named_metrics":{"in_flight":4}}')
  t.deepEqual(readOrcaJson(writeOrcaJson({ named: { in_flight: 9 } })), { inFlight: 9 })
})

test('any checked report that is written is read back the same', (t) => {
  fc.assert(
    fc.property(reportsOf('binary'), (report) => {
      const back = readOrcaJson(writeOrcaJson(checkReport(report)))
      t.deepEqual(back, report)
    }),
    { numRuns: 2000 },
  )
})

test('any JSON is read as a report that the API takes, or refused with BadReportError', (t) => {
  const keys = fc.oneof(fc.constantFrom(...Object.keys(WHOLE), 'cpuUtilization', '__proto__'), fc.string())
  const values = fc.oneof(fc.double(), fc.constantFrom(0, 0.5, 1, -0), fc.jsonValue())
  const maps = fc.dictionary(keys, fc.oneof(values, fc.dictionary(fc.string(), values)))
  let read = 0
  fc.assert(
    fc.property(
      fc.oneof(
        maps.map((value) => JSON.stringify(value)),
        fc.json(),
        fc.string(),
      ),
      (text) => {
        const found = readOrRefused(() => readOrcaJson(text))
        if (found === undefined) return
        const report = known(found)
        t.deepEqual(checkReport(report), report)
        read++
      },
    ),
    { numRuns: 3000 },
  )
  t.true(read > 100)
})
