import { Command, Option } from 'commander'
import { IdlestError, OptionError } from '../../errors.js'
import { estimateFleet } from '../../estimate/estimate.js'
import { FLEET_DEFAULTS, type FleetInputs, fleetFields } from '../../estimate/inputs.js'
import { flagMessage } from '../agent-flags.js'
import { anyNumber } from '../arguments.js'
import { exitAsUsual, FAILED, USAGE } from '../exit.js'
import { estimateText, type Source, type Sources } from './print.js'

type Flags = { readonly [K in keyof FleetInputs]?: number } & { readonly json: boolean }

const names = Object.keys(fleetFields) as (keyof FleetInputs)[]

function run({ json, ...inputs }: Flags, command: Command): void {
  try {
    const estimate = estimateFleet(inputs)
    const sources: Sources = Object.fromEntries(
      Object.keys(estimate.inputs).map((name): [string, Source] => [
        name,
        name in inputs ? 'flag' : 'default',
      ]),
    )
    process.stdout.write(
      json ? `${JSON.stringify({ ...estimate, sources }, undefined, 2)}\n` : estimateText(estimate, sources),
    )
  } catch (error) {
    if (!(error instanceof IdlestError)) throw error
    command.error(`error: ${flagMessage(error)}`, { exitCode: error instanceof OptionError ? USAGE : FAILED })
  }
}

/** The option of an input: `dailyActiveUsers` is `--daily-active-users`. */
function inputOption(name: keyof FleetInputs): Option {
  const { label, unit, hint } = fleetFields[name]
  const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const usual = name === 'servers' ? '' : ` (default: ${FLEET_DEFAULTS[name]})`
  return new Option(`--${flag} <number>`, `${label} (${unit}): ${hint}${usual}`).argParser(anyNumber)
}

/** `idlest size`: how many servers a fleet needs, and how loaded they are. Exits with 0, and with 2 for a wrong option. */
export function sizeCommand(): Command {
  const command = new Command('size').description(
    'estimate how many servers a fleet needs, and what one that slows does to it',
  )
  for (const name of names) command.addOption(inputOption(name))
  return command
    .option('--json', 'print one JSON document and nothing else', false)
    .allowExcessArguments(false)
    .exitOverride(exitAsUsual)
    .action(run)
}
