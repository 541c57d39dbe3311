import { type Command, Option } from 'commander'
import type { NatsPublisherOptions } from '../agent/nats-options.js'
import type { AgentCheckOptions, AgentOptions } from '../agent/options.js'
import { eventLoopSampler, processSampler, type Sampler } from '../agent/samplers/index.js'
import { LONGEST_WAIT } from '../clock.js'
import { type IdlestError, OptionError, reasonOf } from '../errors.js'
import type { ServerTls } from '../web/web-server.js'
import { anyNumber, numberFrom } from './arguments.js'
import { readBounded } from './bounded-file.js'

/** What the command line gives. */
export interface AgentFlags {
  readonly http: boolean
  readonly host: string
  readonly port: number
  readonly path: string
  readonly metrics?: string | false
  readonly token?: string | false
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly tlsClientCa?: string
  readonly agentCheckPort?: number
  readonly agentCheckHost?: string
  readonly agentCheckToken: boolean
  readonly grpcPort?: number
  readonly nats?: string
  readonly natsId?: string
  readonly natsSubject?: string
  readonly natsToken?: string
  readonly natsCredentials?: string
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

// A chain of certificates has some 10 KB, all authorities of a system 250 KB.
const MOST_BYTES = 2 ** 20

function readText(flag: string, path: string): string {
  let bytes: Buffer
  try {
    bytes = readBounded(path, MOST_BYTES)
  } catch (error) {
    throw new OptionError(flag, path, `a file that can be read (${reasonOf(error)})`)
  }
  if (bytes.length > MOST_BYTES) throw new OptionError(flag, path, `a file of at most ${MOST_BYTES} bytes`)
  return bytes.toString('utf8')
}

function readTls({ tlsCert, tlsKey, tlsClientCa }: AgentFlags): ServerTls | undefined {
  if (tlsCert === undefined && tlsKey === undefined && tlsClientCa === undefined) return undefined
  if (tlsCert === undefined)
    throw new OptionError('--tls-cert', undefined, 'a file, as for the other --tls flags')
  if (tlsKey === undefined)
    throw new OptionError('--tls-key', undefined, 'a file, as for the other --tls flags')
  const tls = { cert: readText('--tls-cert', tlsCert), key: readText('--tls-key', tlsKey) }
  if (tlsClientCa === undefined) return tls
  return { ...tls, ca: readText('--tls-client-ca', tlsClientCa), requestCert: true }
}

function readAgentCheck({
  agentCheckPort: port,
  agentCheckHost: host,
  agentCheckToken,
}: AgentFlags): AgentCheckOptions | undefined {
  if (port !== undefined) return { port, host, token: agentCheckToken ? undefined : false }
  if (host === undefined) return undefined
  throw new OptionError('--agent-check-port', undefined, 'a port, since --agent-check-host is given')
}

function readNats(flags: AgentFlags): NatsPublisherOptions | undefined {
  const { nats, natsId: id, natsSubject: subject, natsToken: token, natsCredentials } = flags
  if (nats === undefined) {
    if (id === undefined && subject === undefined && natsCredentials === undefined) return undefined
    throw new OptionError('--nats', undefined, 'servers, as for the other --nats flags')
  }
  if (id === undefined)
    throw new OptionError('--nats-id', undefined, 'the id by which balancers know this node')
  const credentials =
    natsCredentials === undefined ? undefined : readText('--nats-credentials', natsCredentials)
  return { servers: nats.split(','), id, subject, token, credentials }
}

/**
 * Makes an agent's options of flags.
 * @throws OptionError for what is wrong with flags as such: a file that can't be read, one flag without another
 */
export function agentOptionsOf(flags: AgentFlags): AgentOptions {
  const { http, host, port, path, metrics, token, grpcPort, weight, maxInFlight } = flags
  const agentCheck = readAgentCheck(flags)
  const nats = readNats(flags)
  const grpc = grpcPort === undefined ? undefined : { host, port: grpcPort }
  if (!http && agentCheck === undefined && nats === undefined && grpc === undefined) {
    throw new OptionError('--no-http', true, 'another server, such as by --agent-check-port')
  }
  return {
    http,
    host,
    port,
    path,
    metrics,
    token,
    tls: readTls(flags),
    agentCheck,
    grpc,
    nats,
    weight,
    maxInFlight,
    sampler: SAMPLERS[flags.sampler](),
    // This process serves nobody but balancers.
    eventLoop: false,
    sampleInterval: flags.sampleInterval,
  }
}

/** What is wrong, by the names that createAgent's options have on the command line. */
export function flagMessage(error: IdlestError): string {
  if (!(error instanceof OptionError) || error.option.startsWith('--')) return error.message
  const name = error.option
    .replace(/^nats\.servers.*/, 'nats')
    .replace('.', '-')
    .replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return error.message
    .replace(`option ${error.option} `, `option --${name} `)
    .replace('false, for no authentication', `--no-${name}, for no authentication`)
}

/** Adds the flags that {@link agentOptionsOf} takes, and `--drain-wait`. */
export function addAgentFlags(command: Command): Command {
  return command
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
    .option('--no-token', 'listen without authentication, even on an address that other machines can reach')
    .option('--tls-cert <file>', 'certificate chain in PEM: serve by HTTPS')
    .option('--tls-key <file>', 'its private key in PEM')
    .option('--tls-client-ca <file>', 'refuse clients without a certificate by this authority, in PEM')
    .option('--agent-check-port <number>', "answer HAProxy's agent checks on this port, 0 for any", anyNumber)
    .option(
      '--agent-check-host <address>',
      'address for them; there are no tokens, so the default is 127.0.0.1, whatever --host is',
    )
    .option(
      '--no-agent-check-token',
      'answer agent checks without authentication on an address that other machines can reach',
    )
    .option(
      '--grpc-port <number>',
      'tell reports by gRPC on this port, 0 for any; at --host, with its token and TLS',
      anyNumber,
    )
    .option('--nats <servers>', 'publish reports on NATS too: servers, with commas between them')
    .option('--nats-id <id>', 'by what id balancers know this node, such as 10.0.0.1:8080')
    .option('--nats-subject <subject>', 'what to publish below; idlest.report where it is not given')
    .addOption(
      new Option(
        '--nats-token <token>',
        'the token of the servers; better by the variable, which ps does not show',
      ).env('IDLEST_NATS_TOKEN'),
    )
    .option('--nats-credentials <file>', "a user's credentials file")
    .option('--weight <percent>', 'weight in percent of the usual one: 50 counts half, 200 twice', anyNumber)
    .option('--max-in-flight <number>', 'most requests that it takes at once from one process', anyNumber)
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
}
