import test from 'ava'
import fc from 'fast-check'
import { enteredNumber } from '../../dist/estimate/entered.js'

for (const [text, value] of [
  ['1000000', 1_000_000],
  ['1,000,000', 1_000_000],
  ['1 000 000', 1_000_000],
  ['12,500.5', 12_500.5],
  [' 0.6 ', 0.6],
  ['.5', 0.5],
  ['5.', 5],
  ['-3', -3],
  ['1e6', 1_000_000],
  ['1e400', Number.POSITIVE_INFINITY],
] as const) {
  test(`"${text}" is ${value}`, (t) => {
    t.is(enteredNumber(text), value)
  })
}

for (const text of [
  '',
  ' ',
  '1,5',
  '1,00',
  '1,0000',
  ',100',
  '0x10',
  'Infinity',
  '60 %',
  '5 s',
  '1.2.3',
  '--1',
  'e5',
]) {
  test(`"${text}" is no number`, (t) => {
    t.is(enteredNumber(text), Number.NaN)
  })
}

test('a number is what it is written as, with or without groups', (t) => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), (value, whole) => {
      t.is(enteredNumber(String(value)), value + 0)
      t.is(enteredNumber(whole.toLocaleString('en-US')), whole)
    }),
  )
})
