import test from 'ava'
import { engines } from '../../support/engines.js'
import { faultsOf, lineOf, printed } from './report.js'
import { soakWhole } from './whole.js'

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
