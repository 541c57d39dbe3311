// `npm run soak`: the whole for 30 minutes, with everything that can fail, and whether counters and memory are right in the
// end. `--minutes N`: for another time. `--json FILE`: what it came to, for programs. `--part poller`: polling alone, of nodes
// that do everything wrong, for 10,000 cycles of each transport; `--cycles N`: for others. Exits with 1 where something is
// wrong.
import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { soakPoller } from './poller/run.js'
import { faultsOf, lineOf, printed } from './whole/report.js'
import { soakWhole } from './whole/whole.js'

const { values } = parseArgs({
  options: {
    part: { type: 'string', default: 'whole' },
    minutes: { type: 'string', default: '30' },
    cycles: { type: 'string', default: '10000' },
    json: { type: 'string' },
  },
})

async function whole(): Promise<boolean> {
  let said = -1
  const load = () =>
    loadavg()
      .map((value) => value.toFixed(1))
      .join(' ')
  console.log(`${cpus().length} processors, load ${load()}`)
  const outcome = await soakWhole(Number(values.minutes) * 60_000, (look) => {
    const minute = Math.floor(look.at / 60_000)
    if (minute === said) return
    said = minute
    console.log(`${lineOf(look)}, load ${load()}`)
  })
  console.log(printed(outcome))
  const wrong = faultsOf(outcome)
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ ...outcome, wrong }, null, 2)}\n`)
  return wrong.length === 0
}

if (values.part !== 'whole' && values.part !== 'poller') throw new Error('--part is whole or poller')
const good = values.part === 'whole' ? await whole() : await soakPoller(Number(values.cycles))
if (!good) process.exitCode = 1
