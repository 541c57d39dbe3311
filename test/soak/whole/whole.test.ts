import test from 'ava'
import { engines } from '../../support/engines.js'
import { faultsOf, lineOf, printed } from './report.js'
import { rise, slopeOf } from './slope.js'
import { soakWhole } from './whole.js'
import type { Balance } from './words.js'

// Its tables in files need both.
const whole = engines.includes('native') && process.platform === 'linux' ? test : test.skip

// `npm run soak` does this for 30 minutes, and looks at memory.
whole(
  'while all fails that can, nothing is lost: counters are what was made, and nothing stays in flight',
  async (t) => {
    // On a busy machine.
    t.timeout(300_000)
    const lines: string[] = []
    const outcome = await soakWhole(5_000, (look) => lines.push(lineOf(look)))
    t.deepEqual(faultsOf(outcome), [])
    t.true(outcome.balances.length > 150)
    t.true((outcome.totals.picks ?? 0) > 1_000)
    t.true(lines.length > 0)
    t.true(outcome.looks.every(({ polling }) => polling > 2 ** 20))
    t.regex(printed(outcome), /nothing is lost/)
  },
)

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
