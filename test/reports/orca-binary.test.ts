import test from 'ava'
import fc from 'fast-check'
import { checkReport } from '../../dist/reports/check.js'
import { readOrcaBinary, writeOrcaBinary } from '../../dist/reports/orca-binary.js'
import { MAX_REPORT } from '../../dist/reports/orca-fields.js'
import { known, readOrRefused, refused, reportsOf } from '../support/reports.js'

// Bytes by hand: what a library would write can't be wrong.
const double = (value: number): string => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return bytes.toString('hex')
}
const byte = (value: number): string => value.toString(16).padStart(2, '0')
const entry = (tag: string, content: string): string => `${tag}${byte(content.length / 2)}${content}`
const key = (name: string): string => entry('0a', Buffer.from(name).toString('hex'))
const value = (number: number): string => `11${double(number)}`
const named = (name: string, number: number): string => entry('42', key(name) + value(number))
const read = (hex: string) => readOrcaBinary(Buffer.from(hex, 'hex'))

test('every field of the proto file is read under its number', (t) => {
  const report = read(
    [
      `09${double(0.37)}`,
      `11${double(0.07)}`,
      '1807',
      entry('22', key('disk') + value(-1.5)),
      entry('2a', key('total') + value(0.5)),
      `31${double(1000.5)}`,
      `39${double(2)}`,
      named('foo', 123),
      `49${double(1.3)}`,
    ].join(''),
  )
  t.deepEqual(report, {
    cpu: 37,
    memory: 7,
    qps: 1000.5,
    eps: 2,
    named: { foo: 123, 'utilization.total': 0.5 },
    application: 130,
  })
})

test('metrics of ours become fields', (t) => {
  const report = read(
    named('in_flight', 4) +
      named('latency_ms', 12.5) +
      named('queue_delay_ms', 0.5) +
      named('age_ms', 120) +
      named('idlest_state', 2) +
      named('idlest_weight', 73) +
      named('idlest_max_in_flight', 30),
  )
  t.deepEqual(report, {
    inFlight: 4,
    latency: 12.5,
    queueDelay: 0.5,
    age: 120,
    state: 'maint',
    weight: 73,
    maxInFlight: 30,
  })
})

test('no bytes are an empty report', (t) => {
  t.deepEqual(read(''), {})
})

test('a zero on the wire is reported, a field that is absent is not', (t) => {
  t.deepEqual(read(`09${double(0)}`), { cpu: 0 })
  t.is(Buffer.from(writeOrcaBinary({ cpu: 0 })).toString('hex'), `09${double(0)}`)
  t.is(writeOrcaBinary({ cpu: undefined }).length, 0)
})

test('of a field, a key and an entry that come twice the last one counts', (t) => {
  t.deepEqual(read(`09${double(0.1)}09${double(0.2)}`), { cpu: 20 })
  t.deepEqual(read(named('foo', 1) + named('bar', 3) + named('foo', 2)), { named: { foo: 2, bar: 3 } })
  t.deepEqual(read(entry('42', key('foo') + key('bar') + value(1) + value(2))), { named: { bar: 2 } })
})

test('fields of an entry come in any order, and one without a value is 0', (t) => {
  t.deepEqual(read(entry('42', value(5) + key('foo'))), { named: { foo: 5 } })
  t.deepEqual(read(entry('42', key('foo'))), { named: { foo: 0 } })
})

test('unknown fields of any wire type are skipped, also in entries', (t) => {
  const unknown = [
    'f80187ffffffffffffffff01', // varint
    `f901${double(Number.NaN)}`,
    'fa0103ffffff',
    'fd01ffffffff',
    'fb01fa0103fffffffb01fc01fc01', // groups, one in the other
  ].join('')
  t.deepEqual(read(`${unknown}09${double(0.5)}${unknown}`), { cpu: 50 })
  t.deepEqual(read(entry('42', `${unknown}${key('foo')}${value(1)}`)), { named: { foo: 1 } })
})

test('bytes within a larger buffer are read from where they start', (t) => {
  const whole = Buffer.from(`ffffff09${double(0.5)}ff`, 'hex')
  t.deepEqual(readOrcaBinary(whole.subarray(3, -1)), { cpu: 50 })
})

test('a name longer than a byte of length can tell, and one of several bytes a letter', (t) => {
  const name = 'größe'.repeat(60)
  t.deepEqual(readOrcaBinary(writeOrcaBinary({ named: { [name]: 1 } })), { named: { [name]: 1 } })
})

test('a metric called __proto__ stays a metric', (t) => {
  const report = read(named('__proto__', 7))
  t.deepEqual(Object.entries(report.named ?? {}), [['__proto__', 7]])
  t.is(Object.getPrototypeOf(report.named), Object.prototype)
})

for (const [what, hex, field] of [
  ['a double cut short', '09000000', ''],
  ['a tag alone', '09', ''],
  ['a tag cut short', '89', ''],
  ['the field number 0', `01${double(1)}`, ''],
  ['the wire type 6', '0e00', ''],
  ['the wire type 7', '0f00', ''],
  ['a tag of more than 32 bits', `8980808010${double(1)}`, ''],
  ['an endless varint', '18ffffffffffffffffffffff01', ''],
  ['an unknown varint that is cut short', 'f801ff', ''],
  ['an unknown field of more bytes than there are', 'fa0104ffffff', ''],
  ['an unknown field of 4 GiB', 'fa01ffffffff0f', ''],
  ['an unknown group that does not end', 'fb01', ''],
  ['a group that another one ends', 'fb01f401', ''],
  ['the end of no group', 'fc01', ''],
  ['groups nested without end', 'fb01'.repeat(30_000), ''],
  ['cpu_utilization as a varint', '0801', 'cpu_utilization'],
  ['cpu_utilization as a float', '0d00000000', 'cpu_utilization'],
  ['rps as a double', `19${double(1)}`, 'rps'],
  ['named_metrics as a double', `41${double(1)}`, 'named_metrics'],
  ['an entry of more bytes than there are', '427f', 'named_metrics'],
  ['an entry of 4 GiB', '42ffffffff0f', 'named_metrics'],
  ['an entry whose value goes on beyond it', `420d${key('foo')}${value(1)}`, 'named_metrics'],
  ['an entry whose key goes on beyond it', `42030a03666f6f`, 'named_metrics'],
  ['a key as a varint', entry('42', '0801'), 'named_metrics'],
  ['a key that is not UTF-8', entry('42', '0a02c328'), ''],
  ['a value as a float', entry('42', `${key('foo')}1500000000`), 'named_metrics'],
  ['a metric without a name', entry('42', value(1)), 'named_metrics'],
  ['a metric of NaN', named('foo', Number.NaN), 'named_metrics.foo'],
  ['a negative in_flight', named('in_flight', -1), 'named_metrics.in_flight'],
  ['a state that no version can have', named('idlest_state', 256), 'named_metrics.idlest_state'],
  ['a negative utilization', entry('2a', key('total') + value(-1)), 'utilization.total'],
  ['an endless cost', entry('22', key('disk') + value(Number.POSITIVE_INFINITY)), 'request_cost.disk'],
  ['a CPU of NaN', `09${double(Number.NaN)}`, 'cpu_utilization'],
  ['a negative CPU', `09${double(-0.1)}`, 'cpu_utilization'],
  ['an endless CPU', `09${double(Number.POSITIVE_INFINITY)}`, 'cpu_utilization'],
  ['a CPU of 1e11', `09${double(1e11)}`, 'cpu_utilization'],
  ['negative qps', `31${double(-1)}`, 'rps_fractional'],
] as const) {
  test(`${what} is refused`, (t) => {
    refused(t, () => read(hex), field)
  })
}

test('64 KiB are read, one byte more is refused', (t) => {
  // Filled with an unknown field: its tag and length take 5 bytes.
  const filled = (length: number): Buffer =>
    Buffer.concat([
      writeOrcaBinary({ cpu: 50 }),
      Buffer.from('fa01', 'hex'),
      varint(length - 14),
      Buffer.alloc(length - 14),
    ])
  t.is(filled(MAX_REPORT).length, MAX_REPORT)
  t.deepEqual(readOrcaBinary(filled(MAX_REPORT)), { cpu: 50 })
  refused(t, () => readOrcaBinary(filled(MAX_REPORT + 1)), '')
})

function varint(number: number): Buffer {
  return Buffer.from([(number & 0x7f) | 0x80, ((number >> 7) & 0x7f) | 0x80, number >> 14])
}

test('what was written stays as it was when the next report is written', (t) => {
  const first = writeOrcaBinary({ cpu: 10 })
  t.deepEqual(readOrcaBinary(writeOrcaBinary({ cpu: 20, eps: 1 })), { cpu: 20, eps: 1 })
  t.deepEqual(readOrcaBinary(first), { cpu: 10 })
})

test('any checked report that is written is read back the same', (t) => {
  fc.assert(
    fc.property(reportsOf('binary'), (report) => {
      t.deepEqual(readOrcaBinary(writeOrcaBinary(checkReport(report))), report)
    }),
    { numRuns: 2000 },
  )
})

test('any report that is cut short is refused or has fewer fields', (t) => {
  fc.assert(
    fc.property(
      reportsOf('binary'),
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      (report, part) => {
        const bytes = writeOrcaBinary(report)
        const cut = readOrRefused(() => readOrcaBinary(bytes.subarray(0, Math.floor(bytes.length * part))))
        if (cut === undefined) return
        const { named, ...fields } = cut
        t.deepEqual({ ...report, ...fields }, report)
        t.deepEqual({ ...report.named, ...named }, report.named ?? {})
      },
    ),
    { numRuns: 2000 },
  )
})

test('any bytes are read as a report that the API takes, or refused with BadReportError', (t) => {
  // Mostly a report with some bytes changed: bytes by chance alone hardly get beyond the first tag.
  const changed = fc
    .tuple(
      reportsOf('binary').map(writeOrcaBinary),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
    )
    .map(([bytes, changes]) => {
      for (const [at, to] of changes) if (bytes.length > 0) bytes[at % bytes.length] = to
      return bytes
    })
  let taken = 0
  fc.assert(
    fc.property(fc.oneof(changed, fc.uint8Array({ maxLength: 64 })), (bytes) => {
      const found = readOrRefused(() => readOrcaBinary(bytes))
      if (found === undefined) return
      const report = known(found)
      t.deepEqual(checkReport(report), report)
      taken++
    }),
    { numRuns: 3000 },
  )
  t.true(taken > 100)
})
