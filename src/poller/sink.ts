import type { Clock } from '../clock.js'
import type { ReadReport } from '../report.js'
import { unknownStateReason } from '../reports/unknown-state.js'
import { Spaced } from '../spaced.js'
import type { TableMemory } from '../table/memory.js'
import { PUBLICATION_SPACING, Publications } from '../table/publications.js'
import type { StoreResult } from '../table/report.js'
import { noPushes, type PushCounts } from './answer.js'
import { type Place, storeReport } from './store.js'
import { type PlacedTold, Tellings } from './told.js'
import type { UnknownFields } from './unknown-field-warnings.js'

/** A member, with its slot. */
interface PlacedNode extends Place {
  readonly id: string
}

/** Where members put reports that come unasked: from streams and subscriptions. */
export interface Sink {
  /**
   * Stores it; picks see it within the spacing of publications, 50 ms by default.
   * @param at when it came, by the poller's clock, ms
   */
  push(member: PlacedNode, report: ReadReport, at: number): void
  /** Something came from this member that is no report: counted, and warned of once per node. */
  bad(member: { readonly id: string }, reason: string): void
  /** A report of this member has fields of these names, which are not known: counted, and warned of once per node. */
  unknown(member: { readonly id: string }, names: readonly string[]): void
  /** Something came for a node that is no member, and was not looked at: counted. */
  stranger(): void
}

/** What is heard of members beside the answers of rounds: plain data, since it may come from another thread. */
export interface Aside {
  /** Since the last one. */
  readonly pushed: PushCounts
  /** Times that handling what a member sent threw, so that it was left out for a while; since the last one. */
  readonly quarantined: number
  /** What was wrong: one reason a node. */
  readonly bad: readonly (readonly [node: string, reason: string])[]
  /** Reports with unknown fields, since the last one. */
  readonly unknownFields: number
  /** Which fields these were: those of one report a node. */
  readonly unknown: readonly UnknownFields[]
  readonly told: readonly PlacedTold[]
}

/** What a sink works with. */
export interface SinkOptions {
  readonly memory: TableMemory
  readonly clock: Clock
  /** Least time between two publications of what is pushed, ms. */
  readonly coalesce: number
  /** Takes what was heard: at most once in 50 ms, and at the end of each round. */
  readonly onAside: (aside: Aside) => void
}

/** Writes the reports of one poller's members, those asked for and others, and passes on what they tell beside. */
export class TableSink implements Sink {
  readonly #memory: TableMemory
  readonly #publications: Publications
  readonly #tellings = new Tellings()
  readonly #onAside: (aside: Aside) => void
  readonly #soon: Spaced
  #pushed = noPushes()
  readonly #bad = new Map<string, string>()
  readonly #unknown = new Map<string, readonly string[]>()
  #unknownFields = 0
  #quarantined = 0
  #closed = false

  constructor({ memory, clock, coalesce, onAside }: SinkOptions) {
    this.#memory = memory
    this.#publications = new Publications(memory, clock, coalesce)
    this.#onAside = onAside
    this.#soon = new Spaced(() => this.flush(), clock, PUBLICATION_SPACING)
  }

  /** Writes what a member answered to a round, which publishes, and flushes at its end. */
  store(member: PlacedNode, report: ReadReport, at: number): StoreResult {
    this.#lookAt(member, report)
    const result = storeReport(this.#memory, member, report, at)
    if (result !== 'left') this.#tellings.take(member, report)
    return result
  }

  push(member: PlacedNode, report: ReadReport, at: number): void {
    this.#lookAt(member, report)
    const result = this.#closed ? 'left' : storeReport(this.#memory, member, report, at)
    this.#pushed[result]++
    if (result === 'stored') this.#publications.soon()
    if (result !== 'left' && this.#tellings.take(member, report)) this.#soon.soon()
  }

  // What it says beside counts all the same.
  #lookAt(member: PlacedNode, { unknownState }: ReadReport): void {
    if (unknownState !== undefined) this.bad(member, unknownStateReason(unknownState))
  }

  bad({ id }: { readonly id: string }, reason: string): void {
    this.#pushed.bad++
    this.#warn(id, reason)
  }

  unknown({ id }: { readonly id: string }, names: readonly string[]): void {
    if (names.length === 0 || this.#closed) return
    this.#unknownFields++
    // Passed on with the next round's end, so that a fleet gets one warning.
    this.#unknown.set(id, names)
  }

  /** A member is left out for a while, since handling what it sent threw. */
  quarantined({ id }: { readonly id: string }, reason: string): void {
    this.#quarantined++
    this.#warn(id, reason)
  }

  #warn(id: string, reason: string): void {
    if (this.#closed) return
    if (!this.#bad.has(id)) this.#bad.set(id, reason)
    this.#soon.soon()
  }

  stranger(): void {
    this.#pushed.strangers++
  }

  /** Forgets what the node in this slot told: whatever it tells next is passed on. */
  forget(slot: number): void {
    this.#tellings.forget(slot)
  }

  /** Passes on what there is. */
  flush(): void {
    const told = this.#tellings.drain()
    const pushed = this.#pushed
    const quarantined = this.#quarantined
    const unknownFields = this.#unknownFields
    const nothing =
      told.length + quarantined + unknownFields === 0 && Object.values(pushed).every((count) => count === 0)
    if (nothing) return
    this.#pushed = noPushes()
    this.#quarantined = 0
    this.#unknownFields = 0
    const bad = [...this.#bad]
    this.#bad.clear()
    const unknown = [...this.#unknown]
    this.#unknown.clear()
    this.#onAside({ pushed, quarantined, bad, unknownFields, unknown, told })
  }

  /** What comes from now on is counted as of members that left, and goes nowhere. */
  close(): void {
    this.#closed = true
    this.#publications.close()
    this.#soon.close()
  }
}
