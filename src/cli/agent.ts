import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { Command, Option } from 'commander'
import { type Agent, createAgent } from '../agent/agent.js'
import type { AgentTls } from '../agent/options.js'
import { cpuSampler, eventLoopSampler, processSampler, type Sampler } from '../agent/samplers/index.js'
import { IdlestError, OptionError } from '../errors.js'
import { anyNumber } from './arguments.js'
import { exitAsUsual, FAILED, USAGE } from './exit.js'

interface Flags {
  readonly host: string
  readonly port: number
  readonly path: string
  readonly token?: string
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly sampler: keyof typeof SAMPLERS
  readonly sampleInterval: number
}

const SAMPLERS = {
  cpu: cpuSampler,
  process: processSampler,
  'event-loop': eventLoopSampler,
} satisfies Record<string, () => Sampler>

function readPem(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new OptionError(
      flag,
      path,
      `a file that can be read (${error instanceof Error ? error.message : error})`,
    )
  }
}

function readTls({ tlsCert, tlsKey }: Flags): AgentTls | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsCert === undefined)
    throw new OptionError('--tls-cert', undefined, 'a file, since --tls-key is given')
  if (tlsKey === undefined) throw new OptionError('--tls-key', undefined, 'a file, since --tls-cert is given')
  return { cert: readPem('--tls-cert', tlsCert), key: readPem('--tls-key', tlsKey) }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

// createAgent's options, by the names that they have here.
function messageOf(error: IdlestError): string {
  if (!(error instanceof OptionError) || error.option.startsWith('--')) return error.message
  const flag = `--${error.option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  return error.message.replace(`option ${error.option} `, `option ${flag} `)
}

async function closeOnSignal(agent: Agent): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  await agent.close()
  process.exit(0)
}

async function run(flags: Flags, command: Command): Promise<void> {
  let agent: Agent
  try {
    const { host, port, path, token, sampler, sampleInterval } = flags
    agent = await createAgent({
      host,
      port,
      path,
      token,
      tls: readTls(flags),
      sampler: SAMPLERS[sampler](),
      sampleInterval,
    })
  } catch (error) {
    if (!(error instanceof IdlestError)) throw error
    command.error(`error: ${messageOf(error)}`, { exitCode: error instanceof OptionError ? USAGE : FAILED })
  }
  const reach = isLoopback(agent.host) ? ' (loopback only)' : ''
  process.stdout.write(`idlest agent listening on ${agent.url}${reach}\n`)
  await closeOnSignal(agent)
}

/**
 * `idlest agent`: serves this machine's load over HTTP until SIGINT or SIGTERM. Exits with 0 then, with 2 for a wrong
 * option and with 1 where it can't listen.
 */
export function agentCommand(): Command {
  return new Command('agent')
    .description('serve the load of this machine or container over HTTP, for balancers to poll')
    .option(
      '--host <address>',
      'address to listen on; the default is reachable from this machine alone',
      '127.0.0.1',
    )
    .option('--port <number>', 'port to listen on, 0 for any free one', anyNumber, 0)
    .option('--path <path>', 'path of the report', '/report')
    .addOption(
      new Option(
        '--token <token>',
        'ask for this bearer token; better by the variable, which ps does not show',
      ).env('IDLEST_TOKEN'),
    )
    .option('--tls-cert <file>', 'certificate chain in PEM: serve by HTTPS')
    .option('--tls-key <file>', 'its private key in PEM')
    .addOption(
      new Option('--sampler <name>', 'what is reported as CPU').choices(Object.keys(SAMPLERS)).default('cpu'),
    )
    .option('--sample-interval <ms>', 'time between two samples', anyNumber, 1_000)
    .allowExcessArguments(false)
    .exitOverride(exitAsUsual)
    .action((flags: Flags, command: Command) => run(flags, command))
}
