import { Command, InvalidArgumentError, Option } from 'commander'
import { IdlestError, OptionError } from '../errors.js'
import { compare } from '../simulation/compare.js'
import { type PolicyName, policies } from '../simulation/policies.js'
import { capacity, reportFlights, type Scene, type ServerSpec } from '../simulation/scene.js'
import type { Result } from '../simulation/simulation.js'
import { engineOption, numberFrom, seed } from './arguments.js'
import { exitAsUsual, FAILED, USAGE } from './exit.js'
import { nodesTable, responsesTable } from './result-tables.js'

interface Flags {
  readonly servers: number
  readonly cores: number
  readonly slowNode?: number
  readonly slowNodes: number
  readonly load: number
  readonly service: number
  readonly reportInterval: number
  readonly delay: number
  readonly balancers: number
  readonly policy: readonly PolicyName[]
  readonly requests: number
  readonly warmup?: number
  readonly seed: number
  readonly engine: 'auto' | 'native' | 'portable'
  readonly json: boolean
}

/** Progress is shown from then on, and without a terminal as often, ms. */
const PATIENCE = 2_000

/** Servers that are listed one by one; more do not fit on a screen. */
const MOST_LISTED = 24

/** Part of the time, from the start, that is not measured unless `--warmup` says. */
const WARMUP_SHARE = 0.1

const names = Object.keys(policies) as PolicyName[]

// `--policy a,b`, `--policy a b` and `--policy a --policy b` are the same.
function policyNames(text: string, before: readonly PolicyName[] | undefined): readonly PolicyName[] {
  const found = text.split(',').map((part) => {
    const name = names.find((name) => name === part.trim())
    if (name === undefined) throw new InvalidArgumentError(`Expected some of ${names.join(', ')}.`)
    return name
  })
  return [...new Set([...(before === names || before === undefined ? [] : before), ...found])]
}

function serversOf({ servers, cores, slowNode, slowNodes }: Flags): ServerSpec[] {
  const slow = slowNode === undefined ? 0 : slowNodes
  if (slow > servers) throw new OptionError('--slow-nodes', slow, `at most --servers, ${servers}`)
  return Array.from({ length: servers }, (_, i) => ({
    cores,
    background: i < slow ? (slowNode ?? 0) / 100 : 0,
  }))
}

function sceneOf(flags: Flags): Scene {
  const { load, service, reportInterval, delay, balancers, requests } = flags
  const servers = serversOf(flags)
  const rate = (capacity(servers, service) * load) / 100
  const warmup = flags.warmup ?? (requests / rate) * 1000 * WARMUP_SHARE
  return {
    servers,
    balancers,
    requests,
    arrivals: { kind: 'poisson', rate },
    service: { kind: 'exponential', mean: service },
    reportInterval,
    probe: reportFlights,
    delay,
    warmup,
  }
}

/** Shows how far a run is on stderr, once it takes longer than people wait without a word. */
function progressLine(): { show: (policy: string, progress: number) => void; end: () => void } {
  const { stderr } = process
  let next = performance.now() + PATIENCE
  let open = false
  return {
    show(policy, progress) {
      const now = performance.now()
      if (now < next) return
      next = now + (stderr.isTTY ? 100 : PATIENCE)
      const text = `${policy}: ${(progress * 100).toFixed(0)} % of the requests`
      stderr.write(stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`)
      open = stderr.isTTY
    },
    end() {
      if (open) stderr.write('\r\x1b[K')
    },
  }
}

function introduction({ servers, balancers, requests, load, service, reportInterval }: Flags): string {
  const plural = (count: number, what: string) =>
    `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`
  return [
    `${plural(servers, 'server')}, ${plural(balancers, 'balancer')}, ${plural(requests, 'request')}`,
    `of ${service} ms each (exponential) at ${load} % load,`,
    reportInterval === 0 ? 'no reports' : `reports every ${reportInterval} ms`,
  ].join(' ')
}

function print(flags: Flags, scene: Scene, results: readonly Result[]): void {
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ scene, results }, undefined, 2)}\n`)
    return
  }
  process.stdout.write(`${introduction(flags)}\n\n${responsesTable(results)}\n`)
  if (flags.servers <= MOST_LISTED) process.stdout.write(`\n${nodesTable(results)}\n`)
}

function run(flags: Flags, command: Command): void {
  const { policy, engine, reportInterval, delay, seed } = flags
  const progress = progressLine()
  try {
    const scene = sceneOf(flags)
    const made = policy.map((name) => policies[name].make(name, { engine, reportInterval, delay }))
    const results = compare(scene, made, seed, progress.show)
    progress.end()
    print(flags, scene, results)
  } catch (error) {
    progress.end()
    if (!(error instanceof IdlestError)) throw error
    command.error(`error: ${error.message}`, { exitCode: error instanceof OptionError ? USAGE : FAILED })
  }
}

/**
 * `idlest simulate`: policies compared on the same requests, in virtual time. Exits with 0, with 2 for a wrong option,
 * and with 1 where the engine can't be loaded.
 */
export function simulateCommand(): Command {
  const listed = names.map((name) => `${name} (${policies[name].about})`).join('; ')
  return new Command('simulate')
    .description('compare policies on the same simulated requests, in virtual time')
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
      new Option('--policy <names...>', `what picks: ${listed}`).argParser(policyNames).default(names, 'all'),
    )
    .option('--requests <count>', 'requests in all', numberFrom(1, 1e8, 'requests', true), 200_000)
    .option(
      '--warmup <ms>',
      'virtual time that is not measured (default: a tenth)',
      numberFrom(0, 1e12, 'ms'),
    )
    .option('--seed <number>', 'fixes requests and picks', seed, 1)
    .addOption(engineOption())
    .option('--json', 'print one JSON document, when done, and nothing else', false)
    .allowExcessArguments(false)
    .exitOverride(exitAsUsual)
    .action(run)
}
