import test from 'ava'
import { amount, barsTable, digits } from '../../bench/report.js'
import { median, quantile } from '../../bench/statistics.js'

test('quantiles lie between values', (t) => {
  t.is(median([3, 1, 2]), 2)
  t.is(median([1, 2, 3, 4]), 2.5)
  t.is(quantile([1, 2, 3, 4, 5], 0.99), 4.96)
  t.is(median([7]), 7)
  t.true(Number.isNaN(median([])))
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
