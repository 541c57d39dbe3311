import * as v from 'valibot'
import { OptionError } from '../errors.js'
import { checkOptions, method, milliseconds, number, oneOf, options, whole } from '../options.js'
import type { Report } from '../report.js'

/**
 * What a server does with requests.
 * - `up`: it serves them
 * - `failing`: it answers new ones with an error after `Scene.failAfter`, using no CPU; it goes on reporting
 * - `silent`: it answers nothing, neither requests nor polls, until its state changes; then it goes on where it was
 * - `gone`: it has left; balancers have been told, and it finishes what it has
 */
export type ServerState = 'up' | 'failing' | 'silent' | 'gone'

/** A server as it is at the start. */
export interface ServerSpec {
  /** Work done per unit of time on each core; a server of speed 1 takes the service time as drawn. Default 1. */
  readonly speed?: number
  /** Requests served at once; the others wait in the order in which they came. Default 1. */
  readonly cores?: number
  /** Share of each core, 0-1, that other work takes: it counts as busy and slows requests. Default 0. */
  readonly background?: number
  /** One-way delay of the network to it, ms, on top of the scene's: of requests and responses alone. Default 0. */
  readonly delay?: number
  /** Default `up`; `gone` for one that joins later. */
  readonly state?: ServerState
}

/** What becomes of one server at a moment; what is not named stays. */
export interface Change {
  /** Virtual time, ms. */
  readonly at: number
  /** Index in `servers`. */
  readonly server: number
  readonly speed?: number
  readonly background?: number
  readonly state?: ServerState
}

/** When requests arrive: at random, so many a second; or at given times, ms, ascending. */
export type Arrivals =
  | { readonly kind: 'poisson'; readonly rate: number }
  | { readonly kind: 'replay'; readonly times: ArrayLike<number> }

/** How long requests take on a core of speed 1, ms: drawn, or given (from the start again where they are used up). */
export type Service =
  | { readonly kind: 'exponential'; readonly mean: number }
  | { readonly kind: 'given'; readonly times: ArrayLike<number> }

/** What a server knows of itself when it is asked. Rates are over the time since the same balancer last asked. */
export interface ServerSample {
  /** Busy share of all cores, background included, percent. */
  readonly cpu: number
  /** Requests waiting or being served now. */
  readonly inFlight: number
  /** Requests answered without error, per second. */
  readonly qps: number
  /** Requests answered with an error, per second. */
  readonly eps: number
  /** Mean time from arrival to answer of those answered, ms; undefined where none was. */
  readonly latency: number | undefined
  /** Mean time from arrival to start of those started, ms; undefined where none was. */
  readonly queueDelay: number | undefined
}

/** What a server reports. */
export type Reporter = (sample: ServerSample) => Report

/** What is simulated. Times are in virtual milliseconds from 0. */
export interface Scene {
  readonly servers: readonly ServerSpec[]
  /** Balancers, each with a table of its own; each request comes to one of them at random. Default 1. */
  readonly balancers?: number
  /** Requests that arrive in all; fewer where a replay has fewer. */
  readonly requests: number
  readonly arrivals: Arrivals
  readonly service: Service
  /** Time between two samples of a server by one balancer, ms; 0: no reports. Default 5,000. */
  readonly reportInterval?: number
  /**
   * When each balancer first samples, ms. Default: at once where there is one; else drawn from [0, reportInterval),
   * so that balancers do not poll together.
   */
  readonly reportOffsets?: readonly number[]
  /** What is reported. Default `reportAll`. */
  readonly report?: Reporter
  /**
   * What a response carries of the server's load, sampled as it leaves; default nothing. Its rates are those of the
   * balancer's last poll: over the time since the last response they would be noise.
   */
  readonly inBand?: Reporter
  /**
   * What a server answers to a probe, for policies that send some; default nothing: there are no probes. Its latency is
   * what its last answers make of the requests in flight now, its rates are those of the balancer's last poll. It is
   * sampled `delay` after the probe was sent, and gets to the balancer `delay` later.
   */
  readonly probe?: Reporter
  /** One-way delay of the network, ms: of requests, responses, reports and probes. Default 0. */
  readonly delay?: number
  /** Requests fail for their balancer after this, ms; servers still work on them. Default never. */
  readonly timeout?: number
  /** Time to a failing server's error, ms. Default 1. */
  readonly failAfter?: number
  readonly changes?: readonly Change[]
  /** What arrives before counts for nothing but its effects, ms. Default 0. */
  readonly warmup?: number
  /** Length of the windows over which shares are taken, ms. Default `reportInterval`, or 5,000 without reports. */
  readonly window?: number
  /** Told of each window that is over: its start, ms, and the requests sent to each server. Copy what you keep. */
  readonly onWindow?: (start: number, sent: Readonly<Uint32Array>) => void
}

/** A scene with all its defaults. */
export type FullScene = Required<
  Omit<Scene, 'inBand' | 'probe' | 'onWindow' | 'servers' | 'reportOffsets'>
> & {
  readonly servers: readonly Required<ServerSpec>[]
  readonly reportOffsets: readonly number[] | undefined
  readonly inBand: Reporter | undefined
  readonly probe: Reporter | undefined
  readonly onWindow: Scene['onWindow'] | undefined
}

/** Everything that a server knows of itself, as a report. */
const reportAll: Reporter = (sample) => ({ ...sample })

/** Requests in flight and latency, as Prequal's probes are answered. */
export const reportFlights: Reporter = ({ inFlight, latency }) =>
  latency === undefined ? { inFlight } : { inFlight, latency }

/** CPU alone, as the published LeastCpu has it. */
export const reportCpu: Reporter = ({ cpu }) => ({ cpu })

/** Percentage points of CPU that stand for one request on a bulletin board: the table's finest step. */
export const BOARD_STEP = 0.001

/**
 * A bulletin board of queue lengths (Mitzenmacher, "How useful is old information?", 2000): requests at the server,
 * put into the CPU field at `BOARD_STEP` each, so that algorithms that go by CPU go by queue length. Full at 100,000.
 */
export const reportQueue: Reporter = ({ inFlight }) => ({ cpu: inFlight * BOARD_STEP })

/** Shortest time between two reports, ms: less than that is nothing beside the time of a long run. */
export const LEAST_INTERVAL = 0.1

const share = number(0, 1, 'a share')
const states = oneOf(['up', 'failing', 'silent', 'gone'])
const speed = number(0, 1e6, 'a factor')
const times = v.custom<ArrayLike<number>>(
  (value) =>
    (Array.isArray(value) || ArrayBuffer.isView(value)) &&
    Array.prototype.every.call(value, (time) => Number.isFinite(time) && time >= 0),
  'an array of milliseconds of at least 0',
)

const server = options({
  speed: v.optional(speed, 1),
  cores: v.optional(whole(1, 1024), 1),
  background: v.optional(share, 0),
  delay: v.optional(milliseconds(0), 0),
  state: v.optional(states, 'up'),
})

const change = options({
  at: number(0),
  server: whole(0),
  speed: v.optional(speed),
  background: v.optional(share),
  state: v.optional(states),
})

const arrivals = v.variant('kind', [
  v.strictObject({ kind: v.literal('poisson'), rate: number(1e-9, 1e12, 'a rate per second') }),
  v.strictObject({ kind: v.literal('replay'), times }),
])

const service = v.variant('kind', [
  v.strictObject({ kind: v.literal('exponential'), mean: milliseconds(1e-9) }),
  v.strictObject({
    kind: v.literal('given'),
    times: v.pipe(
      times,
      v.check((given) => given.length > 0, 'at least one time'),
    ),
  }),
])

const sceneOptions = options({
  servers: v.pipe(
    v.array(server, 'an array of servers'),
    v.minLength(1, 'at least one server'),
    v.maxLength(100_000, 'at most 100,000 servers'),
  ),
  balancers: v.optional(whole(1, 100_000), 1),
  requests: whole(1, 1e8),
  arrivals,
  service,
  reportInterval: v.optional(
    v.pipe(
      milliseconds(0),
      v.check(
        (interval) => interval === 0 || interval >= LEAST_INTERVAL,
        `0, or at least ${LEAST_INTERVAL} ms`,
      ),
    ),
    5_000,
  ),
  reportOffsets: v.optional(v.array(milliseconds(0), 'an array of milliseconds')),
  report: v.optional(method<Reporter>(), () => reportAll),
  inBand: v.optional(method<Reporter>()),
  probe: v.optional(method<Reporter>()),
  delay: v.optional(milliseconds(0), 0),
  timeout: v.optional(
    v.union([milliseconds(0), v.literal(Number.POSITIVE_INFINITY)], 'a number of milliseconds of at least 0'),
    Number.POSITIVE_INFINITY,
  ),
  failAfter: v.optional(milliseconds(0), 1),
  changes: v.optional(v.array(change, 'an array of changes'), () => []),
  warmup: v.optional(number(0, Number.POSITIVE_INFINITY, 'a number of milliseconds'), 0),
  window: v.optional(milliseconds(1e-3)),
  onWindow: v.optional(method<(start: number, sent: Readonly<Uint32Array>) => void>()),
})

/** Checks a scene and fills in its defaults. Throws OptionError. */
export function checkScene(given: Scene): FullScene {
  const scene = checkOptions('scene', given, sceneOptions)
  const { reportInterval, balancers, reportOffsets, changes, servers } = scene
  for (const [i, { server }] of changes.entries()) {
    if (server < servers.length) continue
    throw new OptionError(
      `scene.changes.${i}.server`,
      server,
      `an index of servers, 0 to ${servers.length - 1}`,
    )
  }
  if (reportOffsets !== undefined && reportOffsets.length !== balancers) {
    throw new OptionError('scene.reportOffsets', reportOffsets, `one for each of ${balancers} balancers`)
  }
  return {
    ...scene,
    reportOffsets,
    inBand: scene.inBand,
    probe: scene.probe,
    onWindow: scene.onWindow,
    window: scene.window ?? (reportInterval || 5_000),
    // Stable: of changes at one time the first given goes first.
    changes: [...changes].sort((a, b) => a.at - b.at),
  }
}

/** The id of a server. */
export function serverName(index: number): string {
  return `server-${index + 1}`
}

/**
 * What servers can do when they are up and have what background load leaves, in requests per second.
 * @param mean mean service time on a core of speed 1, ms
 */
export function capacity(servers: readonly ServerSpec[], mean: number): number {
  const cores = servers.reduce(
    (sum, { speed = 1, cores = 1, background = 0 }) => sum + speed * cores * (1 - background),
    0,
  )
  return (cores * 1000) / mean
}
