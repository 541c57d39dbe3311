import test from 'ava'
import fc from 'fast-check'
import { readOrcaRequest, writeOrcaRequest } from '../../dist/reports/orca-request.js'
import { readOrRefused, refused } from '../support/reports.js'

const read = (hex: string) => readOrcaRequest(Buffer.from(hex, 'hex'))
const written = (interval: number) => Buffer.from(writeOrcaRequest({ interval })).toString('hex')

// Bytes by hand: field 1 is a Duration of seconds (1) and nanos (2).
const REQUESTS = [
  { interval: 0, hex: '0a00' },
  { interval: 1_000, hex: '0a020801' },
  { interval: 100, hex: '0a051080c2d72f' },
  { interval: 1_500, hex: '0a0808011080cab5ee01' },
  { interval: 86_400_000, hex: '0a040880a305' },
]

for (const { interval, hex } of REQUESTS) {
  test(`a request for reports each ${interval} ms is ${hex}, and read back`, (t) => {
    t.is(written(interval), hex)
    t.deepEqual(read(hex), { interval })
  })
}

test('any interval comes back, to the nanosecond', (t) => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 2 ** 31, noNaN: true }), (interval) => {
      t.true(Math.abs(readOrcaRequest(writeOrcaRequest({ interval })).interval - interval) < 1e-6)
    }),
  )
})

test('no bytes, and a request of names alone, ask for no interval', (t) => {
  t.deepEqual(read(''), { interval: 0 })
  t.deepEqual(read('12046469736b1203637075'), { interval: 0 })
})

test('names of costs beside the interval and unknown fields of any type are skipped', (t) => {
  t.deepEqual(read('12046469736b0a020802'), { interval: 2_000 })
  t.deepEqual(read(`0a0f0802${'1801'}${'21'}${'00'.repeat(8)}${'2805'}`), { interval: 2_000 })
  t.deepEqual(read('0a0208022a03616263'), { interval: 2_000 })
})

test('a negative interval asks for none', (t) => {
  t.deepEqual(read('0a0b08ffffffffffffffffff01'), { interval: 0 })
  t.deepEqual(read('0a0b10ffffffffffffffffff01'), { interval: 0 })
})

test('the longest interval is a number', (t) => {
  t.deepEqual(read('0a0a08ffffffffffffffff7f'), { interval: 2 ** 63 * 1000 })
})

test('what is cut short, no protobuf, of bad names or too long is refused', (t) => {
  for (const hex of [
    '0a',
    '0a05',
    '0a0508',
    '0a0308ffff',
    '12046469',
    '1201ff',
    '0f',
    '00',
    'ff'.repeat(20),
  ]) {
    refused(t, () => read(hex), '')
  }
  refused(t, () => readOrcaRequest(new Uint8Array(65_537)), '')
})

test('any bytes are a request with an interval of 0 or more, or refused', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const request = readOrRefused(() => readOrcaRequest(bytes))
      t.true(request === undefined || (request.interval >= 0 && request.interval <= 2 ** 63 * 1001))
    }),
    { numRuns: 2_000 },
  )
})
