// `npm run soak`: the whole for 30 minutes, with everything that can fail, and whether counters and memory are right in the
// end; or polling alone. `--help` lists the options. Exits with 1 where something is wrong.
import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { Command, Option } from 'commander'
import { fileToWrite } from '../../bench/arguments.js'
import { numberFrom } from '../../dist/cli/arguments.js'
import { soakHostile } from './hostile/scene.js'
import { soakPoller } from './poller/run.js'
import { faultsOf, lineOf, printed } from './whole/report.js'
import { soakWhole } from './whole/whole.js'

interface Options {
  part: 'whole' | 'poller' | 'hostile'
  minutes: number
  cycles?: number
  json?: string
}

const options = new Command('soak')
  .description('Soaks idlest in everything that can fail. Exits with 1 where something is wrong.')
  .addOption(
    new Option(
      '--part <name>',
      'all of it; polling alone, of nodes that do everything wrong; or hostile nodes among good ones',
    )
      .choices(['whole', 'poller', 'hostile'])
      .default('whole'),
  )
  .option('--minutes <count>', 'how long all of it is soaked', numberFrom(0.01, 100_000, 'minutes'), 30)
  .option(
    '--cycles <count>',
    'of each transport, for polling alone (default 10,000); of each phase, with hostile nodes (default 100)',
    numberFrom(1, 1e9, 'cycles', true),
  )
  .option('--json <file>', 'writes what all of it came to', fileToWrite)
  .parse()
  .opts<Options>()

async function whole(): Promise<boolean> {
  let said = -1
  const load = () =>
    loadavg()
      .map((value) => value.toFixed(1))
      .join(' ')
  console.log(`${cpus().length} processors, load ${load()}`)
  const outcome = await soakWhole(options.minutes * 60_000, (look) => {
    const minute = Math.floor(look.at / 60_000)
    if (minute === said) return
    said = minute
    console.log(`${lineOf(look)}, load ${load()}`)
  })
  console.log(printed(outcome))
  const wrong = faultsOf(outcome)
  if (options.json !== undefined)
    writeFileSync(options.json, `${JSON.stringify({ ...outcome, wrong }, null, 2)}\n`)
  return wrong.length === 0
}

const parts = {
  whole,
  poller: () => soakPoller(options.cycles ?? 10_000),
  hostile: () => soakHostile(options.cycles ?? 100),
}
const good = await parts[options.part]()
if (!good) process.exitCode = 1
