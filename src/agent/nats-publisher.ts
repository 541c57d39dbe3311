import type { NatsConnection } from '@nats-io/transport-node'
import type { Clock, TimerHandle } from '../clock.js'
import { reasonOf } from '../errors.js'
import { NatsLink } from '../nats/link.js'
import type { Report } from '../report.js'
import { writeOrcaJson } from '../reports/orca-json.js'
import { warn } from '../warn.js'
import type { AgentServer } from './agent-server.js'
import type { NatsPublisherSettings } from './nats-options.js'

/** Longest wait, when it is closed, until the server has what was published last, ms. */
const FLUSH_TIMEOUT = 1_000

/** What a publisher did, since the start. */
export interface NatsPublisherCounters {
  /** Reports that a connection took. */
  readonly published: number
  /** Reports that there was no connection for, or that were too large for it. They are not kept: the next one is newer. */
  readonly dropped: number
  /** Times that it was time to publish and there was no report yet. */
  readonly notReady: number
  /** Reports, of those published, that the server refused, since this client may not publish them. */
  readonly refused: number
  /** Connections after the first one. */
  readonly reconnects: number
}

/** Zeros. */
function noPublications() {
  return { published: 0, dropped: 0, notReady: 0, refused: 0, reconnects: 0 }
}

/** Where an agent publishes its reports. */
export interface NatsAddress {
  /** The NATS servers, as they were given: the first that answers is used. */
  readonly servers: readonly string[]
  /** The subject, with the agent's `id` in it. */
  readonly subject: string
}

/** What a publisher tells. The agent's reporter is one. */
export interface PublisherSource {
  report(): Report | undefined
  /** Calls `listener` whenever the report may have changed. */
  onChange(listener: () => void): () => void
}

/**
 * Publishes an agent's whole report on a subject of its own: each interval, when a connection has begun, and at once when
 * state, weight or limit change. Without a connection it publishes nothing, and goes on trying to get one.
 */
export class NatsPublisher implements AgentServer {
  readonly address: NatsAddress
  readonly counters: NatsPublisherCounters
  readonly #source: PublisherSource
  readonly #clock: Clock
  readonly #settings: NatsPublisherSettings
  readonly #link: NatsLink
  readonly #ignore: () => void
  readonly #counts = noPublications()
  #timer: TimerHandle
  #told = ''
  // Of what was warned since all was well.
  readonly #warned = new Set<'lost' | 'refused'>()
  #closed: Promise<void> | undefined

  constructor(settings: NatsPublisherSettings, source: PublisherSource, clock: Clock) {
    this.#settings = settings
    this.#source = source
    this.#clock = clock
    this.counters = this.#counts
    this.address = { servers: settings.servers, subject: settings.publishTo }
    this.#link = new NatsLink({
      settings,
      name: 'idlest-agent',
      onConnect: (connection) => this.#connected(connection),
      onLost: (reason) => this.#warn('lost', `not connected to NATS: ${reason}`),
      onRefused: (reason) => {
        this.#counts.refused++
        this.#warn('refused', reason)
      },
    })
    this.#ignore = source.onChange(() => this.#changed())
    this.#arm()
  }

  /** Ends it, once the server has what was published last. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#clock.clearTimeout(this.#timer)
    this.#ignore()
    const { connection } = this.#link
    if (connection !== undefined) await flushed(connection)
    await this.#link.close()
  }

  #arm(): void {
    const { interval, jitter } = this.#settings
    this.#timer = this.#clock.setTimeout(
      () => {
        this.#publish()
        this.#arm()
      },
      interval * (1 - jitter * Math.random()),
    )
  }

  #connected(connection: NatsConnection): void {
    this.#warned.clear()
    if (this.#link.connections > 1) this.#counts.reconnects++
    const report = this.#source.report()
    if (report !== undefined) this.#send(connection, report)
  }

  // It is called for each sample too; what balancers are told of work is not to wait for the next interval. Without a
  // connection nothing is lost: the next one begins with the whole report.
  #changed(): void {
    const { connection } = this.#link
    const report = connection && this.#source.report()
    if (connection && report && toldText(report) !== this.#told) this.#send(connection, report)
  }

  #publish(): void {
    const report = this.#source.report()
    const { connection } = this.#link
    if (report === undefined) this.#counts.notReady++
    else if (connection === undefined) this.#counts.dropped++
    else this.#send(connection, report)
  }

  #send(connection: NatsConnection, report: Report): void {
    this.#told = toldText(report)
    try {
      connection.publish(this.#settings.publishTo, writeOrcaJson(report))
      this.#counts.published++
    } catch (error) {
      // Larger than the server takes, or the connection has just ended.
      this.#counts.dropped++
      this.#warn('refused', reasonOf(error))
    }
  }

  #warn(what: 'lost' | 'refused', reason: string): void {
    if (this.#warned.has(what)) return
    this.#warned.add(what)
    warn(`the agent's report is not published: ${reason}`, 'IDLEST_NATS')
  }
}

function toldText({ state, weight, maxInFlight }: Report): string {
  return `${state} ${weight} ${maxInFlight}`
}

async function flushed(connection: NatsConnection): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, FLUSH_TIMEOUT)
  })
  await Promise.race([connection.flush().catch(() => {}), late])
  clearTimeout(timer)
}
