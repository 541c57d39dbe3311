import test from 'ava'
import fc from 'fast-check'
import { readOrcaHeader, writeOrcaHeader } from '../../dist/reports/orca-headers.js'
import { readOrcaJson, writeOrcaJson } from '../../dist/reports/orca-json.js'
import { nearestField } from '../../dist/reports/unknown-fields.js'
import { reportsOf } from '../support/reports.js'

for (const [wrong, right] of [
  ['cpu_utilisation', 'cpu_utilization'],
  ['cpuUtilisation', 'cpu_utilization'],
  ['CPU', 'cpu_utilization'],
  ['cpu', 'cpu_utilization'],
  ['cpu_util', 'cpu_utilization'],
  ['memory', 'mem_utilization'],
  ['mem', 'mem_utilization'],
  ['application', 'application_utilization'],
  ['qps', 'rps_fractional'],
  ['age', 'age_ms'],
  ['in_flight', 'named_metrics.in_flight'],
  ['inFlight', 'named_metrics.in_flight'],
  ['latency', 'named_metrics.latency_ms'],
  ['queueDelay', 'named_metrics.queue_delay_ms'],
  ['state', 'named_metrics.idlest_state'],
  ['maxInFlight', 'named_metrics.idlest_max_in_flight'],
  ['named_metric', 'named_metrics'],
  ['namedMetrics.disk', 'named_metrics'],
  ['utilisation.disk', 'utilization'],
  ['utilization', 'utilization.NAME'],
] as const) {
  test(`the known field nearest to ${wrong} is ${right}`, (t) => {
    t.is(nearestField(wrong), right)
  })
}

for (const [what, read] of [
  ['JSON', (unknown: string[]) => readOrcaJson('{"eps":2,"x":"?","cpu_utilisation":0.5}', unknown)],
  [
    'a JSON header',
    (unknown: string[]) => readOrcaHeader('JSON {"x":[],"eps":2,"cpu_utilisation":0.5}', unknown),
  ],
  ['a TEXT header', (unknown: string[]) => readOrcaHeader('TEXT x=?, cpu_utilisation=0.5, eps=2', unknown)],
] as const) {
  test(`of ${what} the unknown fields are named, and the others read`, (t) => {
    const unknown: string[] = []
    t.deepEqual(read(unknown), { eps: 2 })
    t.deepEqual(unknown, ['x', 'cpu_utilisation'])
  })
}

test('fields of ORCA that are not kept are known', (t) => {
  const unknown: string[] = []
  readOrcaJson('{"rps":7,"requestCost":{"a":1},"utilization":{"b":0.5},"named_metrics":{"c":1}}', unknown)
  readOrcaHeader('TEXT rps=7,request_cost.a=1,utilization.b=0.5,named_metrics.c=1,age_ms=1', unknown)
  t.deepEqual(unknown, [])
})

test('no report that is written has an unknown field', (t) => {
  fc.assert(
    fc.property(reportsOf('grapheme-ascii'), (report) => {
      const unknown: string[] = []
      readOrcaJson(writeOrcaJson(report), unknown)
      for (const form of ['TEXT', 'JSON', 'BIN'] as const)
        readOrcaHeader(writeOrcaHeader(report, form), unknown)
      t.deepEqual(unknown, [])
    }),
    { numRuns: 200 },
  )
})

test('of many unknown fields with long names the first three are named, cut to 60 characters', (t) => {
  const names = Array.from({ length: 500 }, (_, i) => `${i}${'y'.repeat(100)}`)
  const unknown: string[] = []
  readOrcaJson(JSON.stringify(Object.fromEntries(names.map((name) => [`a${name}`, 1]))), unknown)
  t.deepEqual(
    unknown,
    names.slice(0, 3).map((name) => `${`a${name}`.slice(0, 60)}…`),
  )
})
