import * as v from 'valibot'
import type { Clock } from '../clock.js'
import { OptionError } from '../errors.js'
import { isLoopback } from '../host.js'
import { type Meter, QueueMeter } from '../meter/meter.js'
import { GRPC_PACKAGE, needPackage } from '../optional-package.js'
import { checkOptions, clockSchema, flag, milliseconds, number, options, text, whole } from '../options.js'
import { processClock } from '../process-clock.js'
import { MOST_WEIGHT } from '../report.js'
import { MAX_VALUE } from '../reports/values.js'
import { checkExposure, serverTokenSchema } from '../web/token.js'
import { type ServerTls, serverTlsSchema } from '../web/web-server.js'
import { isMetricName, isNamedValue, METRIC_NAME, type NamedValue } from './named-metrics.js'
import {
  type NatsPublisherOptions,
  type NatsPublisherSettings,
  natsPublisherSchema,
  natsPublisherSettings,
} from './nats-options.js'
import { type OrcaServiceOptions, orcaServiceEntries } from './orca-service.js'
import { checkUtilization, type UtilizationOptions, utilizationEntries } from './utilization.js'

/** A port for HAProxy's agent checks. The protocol has neither tokens nor TLS: anyone who can connect can read it. */
export interface AgentCheckOptions {
  /** Address to listen on. Default `127.0.0.1`: loopback alone. Any other needs `token: false`, here or for the agent. */
  readonly host?: string | undefined
  /** `false` allows a `host` that other machines can reach, without authentication. No other value is possible. */
  readonly token?: false | undefined
  /** Port to listen on, 0 for any free one. Default 0. */
  readonly port?: number | undefined
  /** Connections at a time, at least 1; further ones are closed at once, and counted. Default 1,024. */
  readonly maxConnections?: number | undefined
}

/** A port for ORCA's reports out of band, by gRPC. Needs the package @grpc/grpc-js. */
export interface GrpcOptions extends OrcaServiceOptions {
  /** Address to listen on. Default `127.0.0.1`: loopback alone. */
  readonly host?: string | undefined
  /** Port to listen on, 0 for any free one. Default 0. */
  readonly port?: number | undefined
  /** What clients must send, as for HTTP; `false`: nothing. Default the agent's own `token`. */
  readonly token?: string | false | undefined
  /** Serve by TLS. Default the agent's own `tls`. */
  readonly tls?: ServerTls | undefined
  /** Connections at a time, at least 1; further ones are closed at once, and counted. Default 1,024. */
  readonly maxConnections?: number | undefined
}

/** Options of `createAgent`. */
export interface AgentOptions extends UtilizationOptions {
  /** Answer over HTTP; `host`, `port`, `path`, `metrics`, `token`, `tls` and `maxConnections` are its. Default true. */
  readonly http?: boolean | undefined
  /** Address to listen on. Default `127.0.0.1`: loopback alone. */
  readonly host?: string | undefined
  /** Port to listen on, 0 for any free one. Default 0. */
  readonly port?: number | undefined
  /** Path of the report. Default `/report`. */
  readonly path?: string | undefined
  /** Serve Prometheus text: at `/metrics` (true, the default), at another path, or not at all. */
  readonly metrics?: boolean | string | undefined
  /**
   * Clients must send `Authorization: Bearer <token>`: 1 to 1,024 visible ASCII characters. Default none, which is an
   * error if `host` is not loopback, unless `tls` asks for client certificates. `false`: no authentication on any host.
   */
  readonly token?: string | false | undefined
  /** Serve by HTTPS. Default plain HTTP. */
  readonly tls?: ServerTls | undefined
  /** Answer HAProxy's agent checks too, on a port of their own. Default: no. */
  readonly agentCheck?: AgentCheckOptions | undefined
  /** Tell reports by gRPC too, on a port of its own. Default: no. */
  readonly grpc?: GrpcOptions | undefined
  /** Publish the report on NATS too. Its client keeps the process alive until the agent is closed. Default: no. */
  readonly nats?: NatsPublisherOptions | undefined
  /** How far back `qps` and `eps` of the requests that middleware counts look, ms; at least 100. Default 10,000. */
  readonly trafficWindow?: number | undefined
  /** Meters of this process whose values go into the report, each of another metric. Default none. */
  readonly meters?: readonly Meter[] | undefined
  /**
   * Metrics of your own by name: numbers, which stay, or functions that give one, called in each sample. As for the
   * agent's `set`. `utilization.NAME` is sent as the entry `NAME` of ORCA's `utilization`. Default none.
   */
  readonly named?: Readonly<Record<string, NamedValue>> | undefined
  /** Weight in percent of the usual one, 0-25,600: 50 counts half, 200 twice, 0 drains. Default: not reported. */
  readonly weight?: number | undefined
  /** Most requests in flight that it takes from one process, at least 0; 0: no limit. Default: says nothing of it. */
  readonly maxInFlight?: number | undefined
  /** From the end of one sample to the start of the next, ms. Default 1,000. */
  readonly sampleInterval?: number | undefined
  /** How long a promise of the sampler may take, ms. Default 2,000. */
  readonly sampleTimeout?: number | undefined
  /** Connections at a time, at least 1; further ones are closed at once, and counted. Default 1,024. */
  readonly maxConnections?: number | undefined
  /** Let the process end though the agent listens. Default false: a server keeps its process alive. */
  readonly unref?: boolean | undefined
  /** What samples are timed by; the process's monotonic clock by default. */
  readonly clock?: Clock | undefined
}

/** Agent options with their defaults. */
export interface CheckedAgentOptions
  extends Required<Omit<AgentOptions, Optional | 'metrics'>>,
    Pick<AgentOptions, Exclude<Optional, 'agentCheck' | 'grpc' | 'nats'>> {
  readonly agentCheck?: CheckedAgentCheckOptions | undefined
  readonly grpc?: CheckedGrpcOptions | undefined
  readonly nats?: NatsPublisherSettings | undefined
  readonly metrics: string | false
}

export type CheckedAgentCheckOptions = Required<Omit<AgentCheckOptions, 'token'>> &
  Pick<AgentCheckOptions, 'token'>

export type CheckedGrpcOptions = Required<Omit<GrpcOptions, 'token' | 'tls'>> &
  Pick<GrpcOptions, 'token' | 'tls'>

/** What has no default. */
type Optional =
  | 'token'
  | 'tls'
  | 'weight'
  | 'maxInFlight'
  | 'agentCheck'
  | 'grpc'
  | 'nats'
  | 'sampler'
  | 'utilization'
  | 'workers'

const PATH = 'a path such as /report: a slash, then visible ASCII characters but ?, # and spaces'

function path() {
  return v.pipe(v.string(PATH), v.regex(/^\/[\x21-\x22\x24-\x3e\x40-\x7e]{0,1023}$/, PATH))
}

const METERS = 'an array of what meter() made, each of another metric'

/** Where a server listens, and to how many. */
const LISTENING = {
  host: v.optional(text('an address or a host name'), '127.0.0.1'),
  port: v.optional(whole(0, 65_535), 0),
  maxConnections: v.optional(whole(1), 1_024),
}

const agentOptions = options({
  ...LISTENING,
  http: v.optional(flag(), true),
  agentCheck: v.optional(
    options({ ...LISTENING, token: v.optional(v.literal(false, 'false: agent checks have no tokens')) }),
  ),
  grpc: v.optional(options({ ...LISTENING, ...orcaServiceEntries, tls: v.optional(serverTlsSchema) })),
  nats: v.optional(natsPublisherSchema),
  path: v.optional(path(), '/report'),
  metrics: v.optional(v.union([flag(), path()], `true, false or ${PATH}`), true),
  token: v.optional(serverTokenSchema),
  tls: v.optional(serverTlsSchema),
  ...utilizationEntries,
  trafficWindow: v.optional(milliseconds(100), 10_000),
  meters: v.optional(
    v.pipe(
      v.array(v.instance(QueueMeter, METERS), METERS),
      v.check((meters) => new Set(meters.map(({ metric }) => metric)).size === meters.length, METERS),
    ),
    [],
  ),
  named: v.optional(
    v.record(
      v.custom<string>(isMetricName, METRIC_NAME),
      v.custom<NamedValue>(isNamedValue, 'a number, or a function that gives one'),
      'an object of metrics',
    ),
    {},
  ),
  weight: v.optional(number(0, MOST_WEIGHT)),
  maxInFlight: v.optional(number(0, MAX_VALUE)),
  sampleInterval: v.optional(milliseconds(1), 1_000),
  sampleTimeout: v.optional(milliseconds(1), 2_000),
  unref: v.optional(flag(), false),
  clock: v.optional(clockSchema),
})

/** @throws OptionError for a server that other machines can reach without authentication, unless `token: false` allows it */
function checkExposures({
  http,
  host,
  token,
  tls,
  agentCheck,
  grpc,
}: v.InferOutput<typeof agentOptions>): void {
  if (http) checkExposure('token', { host, token, tls })
  if (grpc !== undefined) {
    checkExposure('grpc.token', { host: grpc.host, token: grpc.token ?? token, tls: grpc.tls ?? tls })
  }
  if (agentCheck === undefined || agentCheck.token === false || token === false) return
  if (isLoopback(agentCheck.host)) return
  throw new OptionError(
    'agentCheck.token',
    undefined,
    `false, for no authentication (agent checks have none), because other machines can reach ${agentCheck.host}`,
  )
}

/**
 * Checks what was passed to createAgent and fills in the defaults.
 * @throws OptionError
 */
export function checkAgentOptions(given: unknown): CheckedAgentOptions {
  const checked = checkOptions('', given, agentOptions)
  checkUtilization(checked)
  checkExposures(checked)
  const { clock = processClock } = checked
  const metrics = checked.metrics === true ? '/metrics' : checked.metrics
  if (checked.metrics === checked.path) {
    throw new OptionError('metrics', metrics, 'another path than that of the report')
  }
  if (checked.grpc !== undefined) needPackage('grpc', GRPC_PACKAGE)
  const nats = checked.nats && natsPublisherSettings(checked.nats)
  if (nats !== undefined && checked.unref) {
    throw new OptionError('unref', true, 'false with nats, whose client keeps the process alive')
  }
  return { ...checked, clock, nats, metrics: metrics === checked.path ? false : metrics }
}
