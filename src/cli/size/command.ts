import { Command, Option } from 'commander'
import { OptionError } from '../../errors.js'
import { estimateFleet } from '../../estimate/estimate.js'
import { FLEET_DEFAULTS, type FleetInputs, fleetFields } from '../../estimate/inputs.js'
import { measureFleet } from '../../estimate/measured.js'
import { flagMessage } from '../agent-flags.js'
import { anyNumber } from '../arguments.js'
import { exitWithReader } from '../ending.js'
import { exitAsUsual, FAILED, USAGE } from '../exit.js'
import { filledIn } from './filled.js'
import { estimateText, measuredText } from './print.js'
import { readSnapshot, SnapshotError } from './snapshot.js'

type Flags = { readonly [K in keyof FleetInputs]?: number } & {
  readonly from?: string
  readonly token?: string
  readonly json: boolean
}

const names = Object.keys(fleetFields) as (keyof FleetInputs)[]

async function run({ json, from, token, ...given }: Flags, command: Command): Promise<void> {
  exitWithReader()
  try {
    // What is wrong with the flags needs no answer from anywhere.
    estimateFleet(given)
    const measured = from === undefined ? undefined : measureFleet(await readSnapshot(from, token))
    const { inputs, sources, unused } = filledIn(given, measured)
    const estimate = estimateFleet(inputs)
    if (json) {
      const document = { ...estimate, sources, ...(measured && { measured: { from, ...measured, unused } }) }
      process.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`)
      return
    }
    if (measured !== undefined) process.stdout.write(`${measuredText(from ?? '', measured, unused)}\n`)
    process.stdout.write(estimateText(estimate, sources))
  } catch (error) {
    if (!(error instanceof OptionError || error instanceof SnapshotError)) throw error
    const message = error instanceof OptionError ? flagMessage(error) : error.message
    command.error(`error: ${message}`, { exitCode: error instanceof OptionError ? USAGE : FAILED })
  }
}

/** The option of an input: `dailyActiveUsers` is `--daily-active-users`. */
function inputOption(name: keyof FleetInputs): Option {
  const { label, unit, hint } = fleetFields[name]
  const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const usual = name === 'servers' ? '' : ` (default: ${FLEET_DEFAULTS[name]})`
  return new Option(`--${flag} <number>`, `${label} (${unit}): ${hint}${usual}`).argParser(anyNumber)
}

/**
 * `idlest size`: how many servers a fleet needs, and how loaded they are. Exits with 0, with 2 for a wrong option, and
 * with 1 where a live balancer does not answer.
 */
export function sizeCommand(): Command {
  const command = new Command('size').description(
    'estimate how many servers a fleet needs, and what one that slows does to it',
  )
  for (const name of names) command.addOption(inputOption(name))
  return command
    .option(
      '--from <url>',
      'a live balancer, as balancer.serve() serves it: what it measures is filled in where no flag says otherwise',
    )
    .addOption(
      new Option('--token <token>', 'its token; better by the variable, which ps does not show').env(
        'IDLEST_TOKEN',
      ),
    )
    .option('--json', 'print one JSON document and nothing else', false)
    .allowExcessArguments(false)
    .exitOverride(exitAsUsual)
    .action(run)
}
