import test from 'ava'
import fc from 'fast-check'
import { checkReport } from '../../dist/reports/check.js'
import { writeOrcaBinary } from '../../dist/reports/orca-binary.js'
import {
  MAX_REPORT_HEADER,
  MAX_REPORT_TRAILER,
  readOrcaBinaryHeader,
  readOrcaHeader,
  writeOrcaHeader,
} from '../../dist/reports/orca-headers.js'
import { readOrRefused, refused, reportsOf } from '../support/reports.js'

const FULL = {
  cpu: 70,
  application: 80,
  memory: 90,
  qps: 1000,
  eps: 2,
  inFlight: 4,
  latency: 12.5,
  queueDelay: 0.5,
  age: 120,
  named: { foo: 123, drift: -2.5, 'utilization.total': 0.5 },
  state: 'drain',
  weight: 73,
  maxInFlight: 30,
} as const

test('TEXT has every field by its name, with = or with :', (t) => {
  const text =
    'TEXT cpu_utilization=0.7,application_utilization=0.8,mem_utilization=0.9,rps_fractional=1000,eps=2,' +
    'named_metrics.foo=123,named_metrics.drift=-2.5,named_metrics.in_flight=4,named_metrics.latency_ms=12.5,' +
    'named_metrics.queue_delay_ms=0.5,named_metrics.age_ms=120,named_metrics.idlest_state=1,' +
    'named_metrics.idlest_weight=73,named_metrics.idlest_max_in_flight=30,utilization.total=0.5,request_cost.x=-1'
  t.deepEqual(readOrcaHeader(text), FULL)
  t.deepEqual(readOrcaHeader(text.replaceAll('=', ':')), FULL)
})

for (const [text, report] of [
  ['TEXT  cpu_utilization = 0.5 ,\teps :2 , ', { cpu: 50, eps: 2 }],
  ['TEXT ,,cpu_utilization=0.5,', { cpu: 50 }],
  ['TEXT', {}],
  ['TEXT cpu_utilization=+.5e0,eps=2.,rps_fractional=1E3', { cpu: 50, eps: 2, qps: 1000 }],
  ['TEXT cpu_utilization=1.3', { cpu: 130 }],
  ['TEXT cpu_utilization=-0', { cpu: 0 }],
  ['TEXT age_ms=120', { age: 120 }],
  ['TEXT named_metrics.a.b=1,named_metrics.two words=2', { named: { 'a.b': 1, 'two words': 2 } }],
  ['TEXT rps=7,new_field=many,new_map.x=,cpu_utilization=0.5', { cpu: 50 }],
  ['JSON   {"cpu_utilization": 0.5} ', { cpu: 50 }],
  ['BIN CQAAAAAAAOA/', { cpu: 50 }],
  ['BIN', {}],
] as const) {
  test(`${text} is read`, (t) => {
    t.deepEqual(readOrcaHeader(text), report)
  })
}

for (const [text, field] of [
  ['', ''],
  [' ', ''],
  ['text cpu_utilization=0.5', ''],
  ['TEXTcpu_utilization=0.5', ''],
  ['cpu_utilization=0.5', ''],
  ['{"cpu_utilization":0.5}', ''],
  ['TEXT cpu_utilization', ''],
  ['TEXT =0.5', ''],
  ['TEXT cpu_utilization=', 'cpu_utilization'],
  ['TEXT cpu_utilization="0.5"', 'cpu_utilization'],
  ["TEXT cpu_utilization='0.5'", 'cpu_utilization'],
  ['TEXT cpu_utilization=0x1', 'cpu_utilization'],
  ['TEXT cpu_utilization=0.5.1', 'cpu_utilization'],
  ['TEXT cpu_utilization=0,5', ''],
  ['TEXT cpu_utilization=0.5 0.6', 'cpu_utilization'],
  ['TEXT cpu_utilization==0.5', 'cpu_utilization'],
  ['TEXT cpu_utilization=.', 'cpu_utilization'],
  ['TEXT cpu_utilization=1e', 'cpu_utilization'],
  ['TEXT cpu_utilization=1e309', 'cpu_utilization'],
  ['TEXT cpu_utilization=inf', 'cpu_utilization'],
  ['TEXT cpu_utilization=Infinity', 'cpu_utilization'],
  ['TEXT cpu_utilization=٣', 'cpu_utilization'],
  ['TEXT eps=-1', 'eps'],
  ['TEXT age_ms=-1', 'age_ms'],
  ['TEXT utilization.total=-1', 'utilization.total'],
  ['TEXT utilization.=1', 'utilization.'],
  ['TEXT request_cost.disk=x', 'request_cost.disk'],
  ['TEXT named_metrics.foo=NaN', 'named_metrics.foo'],
  ['TEXT named_metrics.in_flight=-1', 'named_metrics.in_flight'],
  ['TEXT named_metrics.idlest_state=256', 'named_metrics.idlest_state'],
  ['TEXT named_metrics.foo=1,named_metrics.foo:1', 'named_metrics.foo'],
  ['TEXT unknown=1,unknown=1', 'unknown'],
  ['TEXT age_ms=1,named_metrics.age_ms=1', 'named_metrics.age_ms'],
  ['JSON', ''],
  ['JSON {"cpu_utilization":0.5', ''],
  ['BIN CQAAAA', ''],
  ['BIN CQAAAAAAAOA/=', ''],
  ['BIN CQAAAAAAAOA_', ''],
  ['BIN CQAAAAAAAOA/A', ''],
  ['BIN CQAAAAAAAOA/AA=', ''],
  ['BIN CQAA AAAAAOA/', ''],
  ['BIN CQAAAAAAAOA/,CQAAAAAAAOA/', ''],
  ['BIN ==', ''],
] as const) {
  test(`${text === '' ? 'an empty header' : text} is refused`, (t) => {
    refused(t, () => readOrcaHeader(text), field)
  })
}

test('the -bin header is read as bytes and in base64, padded or not', (t) => {
  const bytes = writeOrcaBinary({ cpu: 50, named: { rif: 4 } })
  const base64 = Buffer.from(bytes).toString('base64')
  t.true(base64.endsWith('='))
  for (const value of [bytes, base64, base64.replace(/=+$/, ''), ` ${base64} `]) {
    t.deepEqual(readOrcaBinaryHeader(value), { cpu: 50, named: { rif: 4 } })
  }
  refused(t, () => readOrcaBinaryHeader('!!!'), '')
  refused(t, () => readOrcaBinaryHeader(base64.slice(0, -4)), 'named_metrics')
})

test('values of 8 KiB are read, longer ones are refused whatever is in them', (t) => {
  t.deepEqual(readOrcaHeader('TEXT cpu_utilization=0.5'.padEnd(MAX_REPORT_HEADER)), { cpu: 50 })
  for (const start of ['TEXT cpu_utilization=0.5', 'JSON {}', 'BIN ']) {
    refused(t, () => readOrcaHeader(start.padEnd(MAX_REPORT_HEADER + 1)), '')
  }
  refused(t, () => readOrcaBinaryHeader('A'.repeat(MAX_REPORT_HEADER + 1)), '')
  refused(t, () => readOrcaBinaryHeader(new Uint8Array(MAX_REPORT_TRAILER + 1)), '')
})

test('texts that would keep a careless expression busy for seconds are refused at once', (t) => {
  // Each of these takes a quadratic matcher 4e9 steps.
  const room = MAX_REPORT_HEADER - 30
  for (const text of [
    `TEXT cpu_utilization=${'1'.repeat(room)}x`,
    `TEXT cpu_utilization=1e${'1'.repeat(room)}x`,
    `BIN ${'='.repeat(room)}x`,
    `BIN ${'A'.repeat(room)}=x`,
    `TEXT ${'a'.repeat(room)}`,
  ]) {
    const start = process.cpuUsage().user
    t.is(
      readOrRefused(() => readOrcaHeader(text)),
      undefined,
    )
    t.true(process.cpuUsage().user - start < 500_000)
  }
  t.deepEqual(readOrcaHeader(`TEXT a${' '.repeat(room)}=1`), {})
})

test('a report is written in each form', (t) => {
  const report = { cpu: 37.5, age: 120, state: 'up', named: { foo: 1 } } as const
  t.is(
    writeOrcaHeader(report, 'TEXT'),
    'TEXT cpu_utilization=0.375,named_metrics.foo=1,named_metrics.age_ms=120,named_metrics.idlest_state=0',
  )
  t.is(
    writeOrcaHeader(report, 'JSON'),
    'JSON {"cpu_utilization":0.375,"age_ms":120,"named_metrics":{"foo":1,"idlest_state":0}}',
  )
  t.is(writeOrcaHeader({ cpu: 50 }, 'BIN'), 'BIN CQAAAAAAAOA/')
})

test('JSON in a header is printable ASCII, whatever metrics are called', (t) => {
  const report = { named: { 'größe\n\u007f😀': 1 } }
  const header = writeOrcaHeader(report, 'JSON')
  t.regex(header, /^[ -~]+$/)
  t.deepEqual(readOrcaHeader(header), report)
})

for (const name of ['a,b', 'a=b', 'a:b', ' a', 'a ', 'größe', 'a\nb', '']) {
  test(`TEXT can't carry a metric called ${JSON.stringify(name)}; the writer refuses it`, (t) => {
    refused(t, () => writeOrcaHeader({ named: { [name]: 1 } }, 'TEXT'), `named.${name}`)
  })
}

for (const form of ['TEXT', 'JSON', 'BIN'] as const) {
  test(`any checked report that is written as ${form} is read back the same`, (t) => {
    const reports = reportsOf(form === 'TEXT' ? 'grapheme-ascii' : 'binary')
    fc.assert(
      fc.property(reports, (report) => {
        const header = writeOrcaHeader(checkReport(report), form)
        t.regex(header, /^[ -~]*$/)
        t.deepEqual(readOrcaHeader(header), report)
      }),
      { numRuns: 1000 },
    )
  })
}

test('any header is read as a report that the API takes, or refused with BadReportError', (t) => {
  const names = fc.constantFrom(
    'cpu_utilization',
    'eps',
    'named_metrics.x',
    'utilization.y',
    'age_ms',
    'z',
    '',
  )
  const numbers = fc.oneof(fc.double().map(String), fc.string({ maxLength: 4 }))
  const pair = fc.tuple(names, fc.constantFrom('=', ':', '', ' = '), numbers).map((parts) => parts.join(''))
  const content = fc.oneof(
    fc.array(pair, { maxLength: 4 }).map((pairs) => pairs.join(',')),
    fc.json(),
    fc.base64String(),
    fc.string(),
  )
  let read = 0
  fc.assert(
    fc.property(fc.constantFrom('TEXT ', 'JSON ', 'BIN ', ''), content, (form, rest) => {
      const report = readOrRefused(() => readOrcaHeader(form + rest))
      if (report === undefined) return
      t.deepEqual(checkReport(report), report)
      read++
    }),
    { numRuns: 4000 },
  )
  t.true(read > 100)
})
