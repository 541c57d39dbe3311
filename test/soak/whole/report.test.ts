import test from 'ava'
import { faultsOf } from './report.js'
import { rise, slopeOf } from './slope.js'
import type { Balance } from './words.js'

test('a count that is not what was made is told, and so is one that is further below than it may be', (t) => {
  const told = (balance: Omit<Balance, 'what'>) =>
    faultsOf({ balances: [{ what: 'picks', ...balance }], looks: [], totals: {}, faults: {} })
  t.deepEqual(told({ counted: 5, made: 5 }), [])
  t.deepEqual(told({ counted: 4, made: 5 }), ['picks: 4, not 5'])
  t.deepEqual(told({ counted: 6, made: 5 }), ['picks: 6, not 5'])
  t.deepEqual(told({ counted: 3, made: 5, slack: 2 }), [])
  t.deepEqual(told({ counted: 2, made: 5, slack: 2 }), ['picks: 2, not 5 less at most 2'])
  t.is(told({ counted: 6, made: 5, slack: 2 }).length, 1)
})

test('a rise is that of a line through the last two thirds', (t) => {
  t.is(slopeOf([{ x: 1, y: 7 }]), 0)
  t.is(
    slopeOf([
      { x: 0, y: 1 },
      { x: 2, y: 5 },
      { x: 4, y: 9 },
    ]),
    2,
  )
  // What comes first is a warm-up.
  const looks = [900, 500, 100, 10, 20, 30, 40, 50, 60].map((bytes, at) => ({ at, bytes }))
  t.is(
    rise(looks, ({ bytes }) => bytes),
    50,
  )
  t.is(
    rise([], () => 1),
    0,
  )
})
