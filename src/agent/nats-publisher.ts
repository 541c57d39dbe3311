import type { NatsConnection } from '@nats-io/transport-node'
import * as v from 'valibot'
import type { Clock, TimerHandle } from '../clock.js'
import { OptionError } from '../errors.js'
import { NatsLink } from '../nats/link.js'
import { type NatsOptions, type NatsSettings, natsEntries, natsSettings } from '../nats/settings.js'
import { subjectOf } from '../nats/subject.js'
import { milliseconds, number, options, text } from '../options.js'
import { reasonOf } from '../poller/answer.js'
import type { Report } from '../report.js'
import { writeOrcaJson } from '../reports/orca-json.js'
import { warn } from '../warn.js'
import type { AgentServer } from './agent-server.js'

/** Longest wait, when it is closed, until the server has what was published last, ms. */
const FLUSH_TIMEOUT = 1_000

/** Where and how often an agent publishes its report. */
export interface NatsPublisherOptions extends NatsOptions {
  /** By what id balancers know this node, such as `10.0.0.1:8080`. */
  readonly id: string
  /** From one publication to the next, ms. Default 1,000. */
  readonly interval?: number
  /** By how much of the interval each wait may be shorter, by chance, 0-1: so that a fleet spreads out. Default 0.1. */
  readonly jitter?: number
}

/** Checked options: plain data. */
export interface NatsPublisherSettings extends NatsSettings {
  /** The node's own. */
  readonly publishTo: string
  readonly interval: number
  readonly jitter: number
}

/** The schema of the agent's option `nats`. */
export const natsPublisherSchema = options({
  ...natsEntries,
  id: text('the id by which balancers know this node'),
  interval: v.optional(milliseconds(1), 1_000),
  jitter: v.optional(number(0, 1), 0.1),
})

/**
 * Makes settings of options that their schema has passed.
 * @throws OptionError where they contradict each other, or no subject can have the id
 */
export function natsPublisherSettings(
  checked: v.InferOutput<typeof natsPublisherSchema>,
): NatsPublisherSettings {
  const { id, interval, jitter } = checked
  const settings = natsSettings('nats', checked)
  try {
    return { ...settings, publishTo: subjectOf(settings.subject, id), interval, jitter }
  } catch (error) {
    throw new OptionError('nats.id', id, `another: ${reasonOf(error)}`)
  }
}

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
export function noPublications() {
  return { published: 0, dropped: 0, notReady: 0, refused: 0, reconnects: 0 }
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
  readonly address: { readonly servers: readonly string[]; readonly subject: string }
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
      onLost: ({ reason }) => this.#warn('lost', `not connected to NATS: ${reason}`),
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
        this.#publish(this.#source.report())
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

  // It is called for each sample too; what balancers are told of work is not to wait for the next interval.
  #changed(): void {
    const report = this.#source.report()
    if (report !== undefined && toldBy(report) !== this.#told) this.#publish(report)
  }

  #publish(report: Report | undefined): void {
    if (report === undefined) {
      this.#counts.notReady++
      return
    }
    const { connection } = this.#link
    if (connection !== undefined) {
      this.#send(connection, report)
      return
    }
    this.#counts.dropped++
    this.#told = toldBy(report)
  }

  #send(connection: NatsConnection, report: Report): void {
    this.#told = toldBy(report)
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

function toldBy({ state, weight, maxInFlight }: Report): string {
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
