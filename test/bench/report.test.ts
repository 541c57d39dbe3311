import test from 'ava'
import { amount, digits, estimate, spread } from '../../bench/numbers.js'
import { barsTable } from '../../bench/report.js'
import { estimateOf, median, quantile, spreadOf, trimmedMean } from '../../bench/statistics.js'

test('quantiles lie between values', (t) => {
  t.is(median([3, 1, 2]), 2)
  t.is(median([1, 2, 3, 4]), 2.5)
  t.is(quantile([1, 2, 3, 4, 5], 0.99), 4.96)
  t.is(median([7]), 7)
  t.true(Number.isNaN(median([])))
})

test('a spread has eight of ten values within', (t) => {
  const values = Array.from({ length: 11 }, (_, i) => 10 - i)
  t.deepEqual(spreadOf(values), { median: 5, p10: 1, p90: 9 })
})

test('an estimate is a mean with the interval of Student, as tables have it', (t) => {
  const { value, low, high } = estimateOf([1, 2, 3, 4, 5])
  t.is(value, 3)
  // 2.776 x sqrt(2.5 / 5)
  t.is((high - value).toFixed(3), '1.963')
  t.is((value - low).toFixed(3), '1.963')
  t.is(estimateOf([7]).high, Number.POSITIVE_INFINITY)
})

test('a trimmed mean leaves out as many at each end', (t) => {
  t.is(trimmedMean([100, 1, 2, 3, -100], 0.2), 2)
  t.is(trimmedMean([1, 2, 6], 0.1), 3)
})

test('ranges are told with what lies in the middle', (t) => {
  t.is(spread({ median: 0.5312, p10: 0.5, p90: 0.61 }), '0.531 (0.500-0.610)')
  t.is(estimate({ value: 1, low: -2.5, high: 4.5 }), '1.00 (-2.50 to 4.50)')
})

test('numbers have three digits that count', (t) => {
  t.deepEqual([0, 0.1234, 4.561, 12.34, 123.4, 23_456].map(digits), [
    '0',
    '0.123',
    '4.56',
    '12.3',
    '123',
    '23,456',
  ])
})

test('amounts have their unit', (t) => {
  t.is(amount(1.2, 'times'), '1.20 x')
  t.is(amount(1 / 500, 'part'), '1/500')
  t.is(amount(2, 'ms'), '2.00 ms')
  t.is(amount(0, 'collections'), '0')
})

test('the table says which bars are missed and which were not measured', (t) => {
  const bar = { unit: 'ms', atMost: 2 } as const
  const lines = barsTable([
    { ...bar, what: 'first', reached: 1, met: true },
    { ...bar, what: 'second', reached: 3, met: false },
    { ...bar, what: 'third', reached: undefined, met: undefined },
  ]).split('\n')
  const lineOf = (what: string) => lines.find((line) => line.includes(what)) ?? ''
  t.regex(lineOf('first'), /yes/)
  t.regex(lineOf('second'), /MISSED/)
  t.regex(lineOf('third'), /not measured/)
})
