import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { Command, Option } from 'commander'
import { type Agent, createAgent } from '../agent/agent.js'
import { authority } from '../agent/listening.js'
import type { AgentCheckOptions, AgentTls } from '../agent/options.js'
import { eventLoopSampler, processSampler, type Sampler } from '../agent/samplers/index.js'
import { LONGEST_WAIT } from '../clock.js'
import { IdlestError, OptionError } from '../errors.js'
import { anyNumber, numberFrom } from './arguments.js'
import { exitAsUsual, FAILED, USAGE } from './exit.js'

interface Flags {
  readonly http: boolean
  readonly host: string
  readonly port: number
  readonly path: string
  readonly metrics?: string | false
  readonly token?: string
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly tlsClientCa?: string
  readonly agentCheckPort?: number
  readonly agentCheckHost?: string
  readonly weight?: number
  readonly maxInFlight?: number
  readonly sampler: keyof typeof SAMPLERS
  readonly sampleInterval: number
  readonly drainWait: number
}

// The last two tell of this very process; they are for comparisons.
const SAMPLERS = {
  // What the agent measures where it is given no sampler: CPU or throttled time, the larger.
  cpu: () => undefined,
  process: () => processSampler(),
  'event-loop': () => eventLoopSampler(),
} satisfies Record<string, () => Sampler | undefined>

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

function readTls({ tlsCert, tlsKey, tlsClientCa }: Flags): AgentTls | undefined {
  if (tlsCert === undefined && tlsKey === undefined && tlsClientCa === undefined) return undefined
  if (tlsCert === undefined)
    throw new OptionError('--tls-cert', undefined, 'a file, as for the other --tls flags')
  if (tlsKey === undefined)
    throw new OptionError('--tls-key', undefined, 'a file, as for the other --tls flags')
  const tls = { cert: readPem('--tls-cert', tlsCert), key: readPem('--tls-key', tlsKey) }
  if (tlsClientCa === undefined) return tls
  return { ...tls, ca: readPem('--tls-client-ca', tlsClientCa), requestCert: true }
}

function readAgentCheck({
  agentCheckPort: port,
  agentCheckHost: host,
}: Flags): AgentCheckOptions | undefined {
  if (port !== undefined) return { port, host }
  if (host === undefined) return undefined
  throw new OptionError('--agent-check-port', undefined, 'a port, since --agent-check-host is given')
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

// createAgent's options, by the names that they have here.
function messageOf(error: IdlestError): string {
  if (!(error instanceof OptionError) || error.option.startsWith('--')) return error.message
  const flag = `--${error.option.replace('.', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  return error.message.replace(`option ${error.option} `, `option ${flag} `)
}

/** Who can ask at an address: what an operator should know before somebody else finds out. */
function reach(host: string, guarded: boolean): string {
  if (isLoopback(host)) return ' (loopback only)'
  return guarded ? '' : ' (warning: open to other machines, without a token)'
}

function announce(agent: Agent, { token, tlsClientCa }: Flags): void {
  const lines: string[] = []
  const guarded = token !== undefined || tlsClientCa !== undefined
  if (agent.url !== '') lines.push(`listening on ${agent.url}${reach(agent.host, guarded)}`)
  if (agent.agentCheck !== undefined) {
    const where = authority(agent.agentCheck)
    lines.push(`answering agent checks on ${where}${reach(agent.agentCheck.host, false)}`)
  }
  // In one piece: who waits for the first line has all of them.
  process.stdout.write(lines.map((line) => `idlest agent ${line}\n`).join(''))
}

/** At the first signal all hear that it drains, and get time to act on it; at the second, or then, it ends. */
async function endOnSignals(agent: Agent, wait: number): Promise<void> {
  await new Promise<void>((resolve) => {
    let draining = false
    const heard = (): void => {
      if (draining || wait === 0) {
        resolve()
        return
      }
      draining = true
      agent.drain()
      process.stdout.write(`idlest agent draining for ${wait} ms; a second signal ends it at once\n`)
      setTimeout(resolve, wait)
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, heard)
  })
  await agent.close()
  process.exit(0)
}

async function run(flags: Flags, command: Command): Promise<void> {
  let agent: Agent
  try {
    const { http, host, port, path, metrics, token, sampler, sampleInterval, weight, maxInFlight } = flags
    const agentCheck = readAgentCheck(flags)
    if (!http && agentCheck === undefined) {
      throw new OptionError('--no-http', true, 'another server, such as by --agent-check-port')
    }
    agent = await createAgent({
      http,
      host,
      port,
      path,
      metrics,
      token,
      tls: readTls(flags),
      agentCheck,
      weight,
      maxInFlight,
      sampler: SAMPLERS[sampler](),
      // This process serves nobody but balancers.
      eventLoop: false,
      sampleInterval,
    })
  } catch (error) {
    if (!(error instanceof IdlestError)) throw error
    command.error(`error: ${messageOf(error)}`, { exitCode: error instanceof OptionError ? USAGE : FAILED })
  }
  announce(agent, flags)
  await endOnSignals(agent, flags.drainWait)
}

/**
 * `idlest agent`: tells this machine's load until SIGINT or SIGTERM. Says then that it drains, goes on for
 * `--drain-wait` ms, and exits with 0; with 2 for a wrong option, and with 1 where it can't listen.
 */
export function agentCommand(): Command {
  return new Command('agent')
    .description('tell the load of this machine or container to balancers, over HTTP and otherwise')
    .option(
      '--host <address>',
      'address to listen on; the default is reachable from this machine alone',
      '127.0.0.1',
    )
    .option('--port <number>', 'port to listen on, 0 for any free one', anyNumber, 0)
    .option('--path <path>', 'path of the report', '/report')
    .option('--metrics <path>', 'path of the Prometheus metrics; /metrics where it is not given')
    .option('--no-metrics', 'serve no Prometheus metrics')
    .option('--no-http', 'serve nothing over HTTP')
    .addOption(
      new Option(
        '--token <token>',
        'ask for this bearer token; better by the variable, which ps does not show',
      ).env('IDLEST_TOKEN'),
    )
    .option('--tls-cert <file>', 'certificate chain in PEM: serve by HTTPS')
    .option('--tls-key <file>', 'its private key in PEM')
    .option('--tls-client-ca <file>', 'refuse clients without a certificate by this authority, in PEM')
    .option('--agent-check-port <number>', "answer HAProxy's agent checks on this port, 0 for any", anyNumber)
    .option(
      '--agent-check-host <address>',
      'address for them; there are no tokens, so the default is 127.0.0.1, whatever --host is',
    )
    .option(
      '--weight <percent>',
      'share of the work that it takes, of what it would get otherwise',
      anyNumber,
    )
    .option('--max-in-flight <number>', 'most requests that it takes at once from one balancer', anyNumber)
    .addOption(
      new Option('--sampler <name>', 'what is reported as CPU').choices(Object.keys(SAMPLERS)).default('cpu'),
    )
    .option('--sample-interval <ms>', 'time between two samples', anyNumber, 1_000)
    .option(
      '--drain-wait <ms>',
      'how long it goes on after SIGTERM or SIGINT, saying that it drains; the default is a poll cycle of a balancer',
      numberFrom(0, LONGEST_WAIT, 'ms'),
      7_000,
    )
    .allowExcessArguments(false)
    .exitOverride(exitAsUsual)
    .action((flags: Flags, command: Command) => run(flags, command))
}
