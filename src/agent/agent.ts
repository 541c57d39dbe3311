import { ClosedError } from '../errors.js'
import type { NodeState, Report } from '../report.js'
import type { Address } from '../web/listening.js'
import { type AgentParts, keepParts } from './agent-parts.js'
import type { NamedCounters, NamedValue } from './named-metrics.js'
import type { NatsAddress } from './nats-publisher.js'
import { type AgentOptions, checkAgentOptions } from './options.js'
import { Reporter } from './reporter.js'
import type { SamplingCounters } from './sampling.js'
import { type AgentServersCounters, startServers } from './servers.js'
import type { Traffic, TrafficCounters } from './traffic.js'

/** Tells how busy this machine, container or process is. */
export interface Agent {
  /** Where the report is over HTTP, such as `http://127.0.0.1:9000/report`; empty with `http: false`. */
  readonly url: string
  /** What the HTTP server was told to listen on. */
  readonly host: string
  /** The port that the HTTP server listens on, also where 0 was asked for; 0 with `http: false`. */
  readonly port: number
  /** Where HAProxy's agent checks are answered, with `agentCheck`. */
  readonly agentCheck?: Address
  /** Where reports are told by gRPC, with `grpc`. */
  readonly grpc?: Address
  /** Where reports are published on NATS, with `nats`. */
  readonly nats?: NatsAddress
  /** Counts the requests that this process serves; middleware and `begin()` tell it of them. */
  readonly traffic: Traffic
  /** What it did so far; the counters go on. */
  readonly counters: AgentCounters
  /** What it says of taking work; `up` from the start. */
  readonly state: NodeState
  /**
   * The whole report as it is now, which all servers tell. Undefined before the first sample; but a state other than
   * `up` is told at once, without any load.
   */
  report(): Report | undefined
  /** Says that it takes no new work, and finishes what it has. */
  drain(): void
  /** Says that it is out for maintenance. */
  maint(): void
  /** Says that it is ill. */
  down(): void
  /** Says that it takes work. */
  ready(): void
  /**
   * Reports a weight.
   * @param percent of the usual weight, 0-25,600: 50 counts half, 200 twice, 0 drains; undefined: no longer reported
   * @throws OptionError
   */
  setWeight(percent: number | undefined): void
  /**
   * Says how much work it takes.
   * @param most requests in flight that it takes from one process; 0: no limit; undefined: says nothing of it any more
   * @throws OptionError
   */
  setMaxInFlight(most: number | undefined): void
  /**
   * Sets a metric of your own.
   * @param name 1 to 128 visible ASCII characters without `,`, `=` and `:`; at most 100 metrics
   * @param value a number, which stays until it is set anew, or a function, called in each sample; undefined takes it
   * out. What is no finite number, or throws, is counted, and left out of the report
   * @throws OptionError for a bad name, or a value that is none of these
   */
  set(name: string, value: NamedValue | undefined): void
  /**
   * Ends the sampling, the servers and all connections. Safe to call again. Methods that change what is reported throw
   * ClosedError afterwards.
   */
  close(): Promise<void>
  /** As `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** What an agent did so far; the counters go on. */
export interface AgentCounters extends AgentServersCounters {
  /** What came of its sampler. */
  readonly sampling: SamplingCounters
  /** Requests that middleware counted, and reports in responses. */
  readonly traffic: TrafficCounters
  /** The user's own metrics. */
  readonly named: NamedCounters
}

/** How long an agent's start waits for the first sample at most, ms. */
const LONGEST_START = 1_000

/** Starts the sampling, and waits for the first sample. The timer keeps the process alive: nothing listens yet. */
async function untilBegun(reporter: Reporter): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const longest = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, LONGEST_START)
  })
  await Promise.race([reporter.start(), longest])
  clearTimeout(timer)
}

/**
 * Starts an agent. Resolves after the first sample (some 100 ms, since shares of time need two readings), or after 1 s
 * without one, and listens from then on. It samples in the background, and answers at once from the last sample, each time with all it knows.
 * - GET and HEAD for `path`: JSON of ORCA's names and `age_ms`, the age of the sample when answered; also in a
 *   header `endpoint-load-metrics` where a request has `endpoint-load-metrics-format: TEXT`, `JSON` or `BIN`, or `?format=`.
 *   While samples fail the last good one is told with its growing age; before the first, the answer is 503. What `meters`
 *   say goes along; the age is then that of the oldest among them and the sample.
 * - `/metrics`: the same, and counters, as Prometheus text
 * - with `agentCheck`: HAProxy's agent checks, such as `ready up 73%`
 * - with `grpc`: streams of ORCA's reports out of band
 * - with `nats`: publishes its report, each second and at each change of state
 *
 * Listens on loopback unless told otherwise, and keeps the process alive until it is closed, but with `unref`.
 *
 * @example
 * ```ts
 * const agent = await createAgent({ port: 9000, sampler: eventLoopSampler() })
 * console.log(agent.url) // http://127.0.0.1:9000/report
 * ```
 * @throws OptionError (rejects) for a wrong option
 * @throws ListenError (rejects) where it can't listen, such as for a port in use
 */
export async function createAgent(options: AgentOptions = {}): Promise<Agent> {
  const checked = checkAgentOptions(options)
  const reporter = new Reporter(checked)
  // Listening begins with a report to give: a node that starts anew must not look like one that fails.
  await untilBegun(reporter)
  const servers = await startServers(checked, reporter).catch((error) => {
    reporter.stop()
    throw error
  })

  const added: AgentParts['added'] = []
  let isClosed = false
  async function close(): Promise<void> {
    isClosed = true
    reporter.stop()
    await Promise.all([servers.close(), ...added.map((one) => one.close())])
  }

  // What is said of it from now on nobody would hear.
  function open(): Reporter {
    if (isClosed) throw new ClosedError('agent')
    return reporter
  }

  const agent: Agent = {
    url: servers.http?.url ?? '',
    host: checked.host,
    port: servers.http?.address.port ?? 0,
    agentCheck: servers.agentCheck?.address,
    grpc: servers.grpc?.address,
    nats: servers.nats?.address,
    traffic: reporter.traffic,
    counters: { ...servers.counters, ...reporter.counters },
    get state() {
      return reporter.state
    },
    report: () => reporter.report(),
    drain: () => open().drain(),
    maint: () => open().maint(),
    down: () => open().down(),
    ready: () => open().ready(),
    setWeight: (percent) => open().setWeight(percent),
    setMaxInFlight: (most) => open().setMaxInFlight(most),
    set: (name, value) => open().set(name, value),
    close,
    [Symbol.asyncDispose]: close,
  }
  keepParts(agent, { reporter, clock: checked.clock, added })
  return agent
}
