import { Command, Option } from 'commander'
import { IdlestError, OptionError } from '../../errors.js'
import { policyNames } from '../../scenario/policies.js'
import { policies } from '../../simulation/policies.js'
import { engineOption, numberFrom, seed } from '../arguments.js'
import { exitWithReader } from '../ending.js'
import { exitAsUsual, FAILED, USAGE } from '../exit.js'
import { type Flags, parsePolicies } from './flags.js'
import { InputError, run } from './run.js'

async function start(file: string | undefined, flags: Flags, command: Command): Promise<void> {
  const isGiven = (flag: keyof Flags) => command.getOptionValueSource(flag) === 'cli'
  exitWithReader()
  try {
    await run(file, flags, isGiven)
  } catch (error) {
    if (error instanceof InputError) command.error(error.message, { exitCode: error.exitCode })
    if (!(error instanceof IdlestError)) throw error
    command.error(`error: ${error.message}`, { exitCode: error instanceof OptionError ? USAGE : FAILED })
  }
}

/**
 * `idlest simulate`: policies compared on the same requests, in virtual time. Exits with 0, with 2 for a wrong option or
 * scenario, and with 1 where a file can't be read or written, or the engine can't be loaded.
 */
export function simulateCommand(): Command {
  const listed = [...policies].map(([name, { about }]) => `${name} (${about})`).join('; ')
  return new Command('simulate')
    .description('compare policies on the same simulated requests, in virtual time')
    .argument(
      '[file]',
      'a scenario, in YAML or JSON (.github/docs/scenarios.md); flags that are given go before what it says',
    )
    .option('--servers <count>', 'servers', numberFrom(1, 10_000, 'servers', true), 8)
    .option(
      '--cores <count>',
      'cores of each: requests served at once',
      numberFrom(1, 1024, 'cores', true),
      1,
    )
    .option(
      '--slow-node <percent>',
      'CPU that other work takes from some servers',
      numberFrom(0, 99, 'percent'),
    )
    .option('--slow-nodes <count>', 'how many, with --slow-node', numberFrom(1, 10_000, 'servers', true), 1)
    .option(
      '--load <percent>',
      'load, of what the servers can do beside the other work',
      numberFrom(0.1, 1_000, 'percent'),
      70,
    )
    .option('--service <ms>', 'mean service time', numberFrom(0.001, 1e6, 'ms'), 10)
    .option('--report-interval <ms>', 'time between two reports, 0 for none', numberFrom(0, 1e9, 'ms'), 5_000)
    .option('--delay <ms>', 'one-way delay of the network', numberFrom(0, 1e6, 'ms'), 0)
    .option('--balancers <count>', 'balancers, each by itself', numberFrom(1, 10_000, 'balancers', true), 1)
    .addOption(
      new Option('--policy <names...>', `what picks: ${listed}`)
        .argParser(parsePolicies)
        .default(policyNames, 'all'),
    )
    .option(
      '--requests <count>',
      'requests in all; of a log as many as there are, unless it is given',
      numberFrom(1, 1e8, 'requests', true),
      200_000,
    )
    .option(
      '--warmup <ms>',
      'virtual time that is not measured (default: a tenth)',
      numberFrom(0, 1e12, 'ms'),
    )
    .option('--seed <number>', 'fixes requests and picks', seed, 1)
    .option(
      '--replay <log>',
      'requests arrive as in this access log, in place of --load: common and combined format or JSON lines, also by gzip; - for standard input',
    )
    .option('--replay-field <name>', 'of JSON lines: the field with the time (default: the usual ones)')
    .option(
      '--replay-speed <factor>',
      'the log goes by so many times as fast',
      numberFrom(1e-3, 1e6, 'times'),
    )
    .addOption(engineOption())
    .option('--html <file>', 'write a report with plots too: one file for a browser')
    .option('--json', 'print one JSON document, when done, and nothing else', false)
    .allowExcessArguments(false)
    .exitOverride(exitAsUsual)
    .action(start)
}
