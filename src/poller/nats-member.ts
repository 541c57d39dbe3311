import type { Clock } from '../clock.js'
import { reasonOf } from '../errors.js'
import { settingsName } from '../nats/settings.js'
import { type Listener, type Subscribed, subscribe } from '../nats/subscription.js'
import { MAX_REPORT } from '../reports/orca-fields.js'
import { readOrcaJson } from '../reports/orca-json.js'
import type { Answer } from './answer.js'
import type { PlacedMember } from './member.js'
import type { MakerContext, MemberMaker } from './member-makers.js'
import { PerSettings } from './per-settings.js'
import type { Sink } from './sink.js'
import type { Place } from './store.js'
import { touch } from './touched.js'
import type { NatsTarget, NatsTransportSettings } from './transports/nats.js'

const decoder = new TextDecoder()
const HEARD: Answer = { kind: 'heard' }

/** A node that publishes its reports, with its slot: to ask it is to look when it was heard. */
class NatsMember implements PlacedMember {
  readonly id: string
  readonly slot: number
  readonly generation: number
  readonly #feed: Feed
  readonly #began: number
  // When it was heard last, by the clock.
  #heard: number | undefined
  // The last message that was no report.
  #bad: { readonly at: number; readonly reason: string } | undefined
  #waiting: ((answer: Answer) => void) | undefined

  constructor(id: string, place: Place, feed: Feed) {
    this.id = id
    this.slot = place.slot
    this.generation = place.generation
    this.#feed = feed
    this.#began = feed.now()
  }

  async ask(): Promise<Answer> {
    const { silence, failure, connectedAt } = this.#feed
    const now = this.#feed.now()
    if (this.#heard !== undefined && now - this.#heard <= silence) return HEARD
    if (failure !== undefined) return { kind: 'exit', reason: `not connected to NATS: ${failure}` }
    if (this.#bad !== undefined && now - this.#bad.at <= silence)
      return { kind: 'error', reason: this.#bad.reason }
    // It would have been heard only since then.
    const listening = Math.max(this.#began, connectedAt ?? now)
    if (now - listening > silence) {
      const since = this.#heard ?? listening
      return { kind: 'exit', reason: `nothing heard for ${Math.round(now - since)} ms` }
    }
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }

  cancel(reason: string): void {
    this.settle({ kind: 'exit', reason })
  }

  close(): void {
    this.#feed.leave(this)
    this.cancel('closed')
  }

  /** Takes what it published. */
  hear(message: Uint8Array, sink: Sink): void {
    touch(this)
    const at = this.#feed.now()
    try {
      const unknown: string[] = []
      const report = readOrcaJson(textOf(message), unknown)
      this.#heard = at
      sink.unknown(this, unknown)
      sink.push(this, report, at)
      this.settle(HEARD)
    } catch (error) {
      const reason = reasonOf(error)
      this.#bad = { at, reason }
      sink.bad(this, reason)
      this.settle({ kind: 'error', reason })
    }
  }

  /** Ends the wait for its first report. */
  settle(answer: Answer): void {
    this.#waiting?.(answer)
    this.#waiting = undefined
  }
}

function textOf(message: Uint8Array): string {
  if (message.length > MAX_REPORT)
    throw new Error(`a message of ${message.length} bytes: at most ${MAX_REPORT} are read`)
  return decoder.decode(message)
}

/** One poller's part in a subscription. */
class Feed implements Listener {
  readonly silence: number
  /** When the connection began that there is, or was last; by the clock, ms. */
  connectedAt: number | undefined
  readonly #members = new Map<string, NatsMember>()
  readonly #clock: Clock
  readonly #sink: Sink
  readonly #subscribed: Subscribed

  constructor(settings: NatsTransportSettings, { clock, sink }: MakerContext) {
    this.silence = settings.silence
    this.#clock = clock
    this.#sink = sink
    this.#subscribed = subscribe(settings, this)
  }

  get failure(): string | undefined {
    return this.#subscribed.failure
  }

  now(): number {
    return this.#clock.now()
  }

  join(id: string, place: Place): NatsMember {
    const member = new NatsMember(id, place, this)
    this.#members.set(id, member)
    return member
  }

  leave(member: NatsMember): void {
    // Another may have come under its id.
    if (this.#members.get(member.id) === member) this.#members.delete(member.id)
  }

  close(): void {
    this.#subscribed.close()
  }

  hear(id: string | undefined, message: Uint8Array): void {
    const member = id === undefined ? undefined : this.#members.get(id)
    if (member === undefined) this.#sink.stranger()
    else member.hear(message, this.#sink)
  }

  connected(): void {
    this.connectedAt = this.now()
  }

  lost(reason: string): void {
    const answer: Answer = { kind: 'exit', reason: `not connected to NATS: ${reason}` }
    for (const member of this.#members.values()) member.settle(answer)
  }
}

/** Makes the members of one poller that are heard on NATS. */
export class NatsMembers implements MemberMaker<NatsTarget> {
  readonly #feeds: PerSettings<NatsTransportSettings, Feed>

  constructor(context: MakerContext) {
    this.#feeds = new PerSettings(
      (settings) => `${settings.silence} ${settingsName(settings)}`,
      (settings) => new Feed(settings, context),
    )
  }

  make({ id, settings }: NatsTarget, place: Place): NatsMember {
    return this.#feeds.get(settings).join(id, place)
  }

  close(): void {
    for (const feed of this.#feeds.values()) feed.close()
  }
}
