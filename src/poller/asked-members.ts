import type { Clock } from '../clock.js'
import type { TableMemory } from '../table/memory.js'
import { type Answer, emptyTally, type Tally } from './answer.js'
import type { PlacedMember } from './member.js'
import { MemberMakers } from './member-makers.js'
import { QuarantinedMember } from './quarantine.js'
import { Round } from './round.js'
import { Singles } from './singles.js'
import { type Aside, TableSink } from './sink.js'
import { isFresh } from './store.js'
import type { LocalTarget } from './targets.js'

/** What a poller tells whoever asks its members. Plain data. */
export interface AskSettings {
  /** Members with a report more recent than this are not asked in a round, ms; 0: all are. */
  readonly silentFor: number
  /** Least time between two publications of what is pushed, ms. */
  readonly coalesce: number
}

/** What members are asked with. */
export interface AskedMembersOptions extends AskSettings {
  readonly memory: TableMemory
  readonly clock: Clock
  /** As for a round. */
  readonly lastCall?: ((run: () => void) => void) | undefined
  /** As for a round. */
  readonly betweenWaves?: ((run: () => void) => void) | undefined
  /** A report came that nobody waits for any more. */
  readonly onLate: () => void
  readonly onAside: (aside: Aside) => void
}

/** How long a round may take. */
export interface RoundLimits {
  /** When it ends at the latest, by the clock, ms. */
  readonly deadline: number
  /** What messages call the time-out, ms. */
  readonly timeout: number
}

/** Members of one poller on the thread that asks them. */
export class AskedMembers {
  readonly #options: AskedMembersOptions
  readonly #sink: TableSink
  readonly #makers: MemberMakers
  readonly #singles: Singles<QuarantinedMember>
  readonly #members = new Map<number, QuarantinedMember>()
  // Those that are made when they are first asked: what they need may have to be loaded.
  readonly #joining = new Map<number, LocalTarget>()
  #round: Round<QuarantinedMember> | undefined
  #closed = false

  constructor(options: AskedMembersOptions) {
    this.#options = options
    this.#sink = new TableSink(options)
    this.#makers = new MemberMakers({
      clock: options.clock,
      sink: this.#sink,
      onFault: (member, error) => this.#members.get(member.slot)?.fault(member, error),
    })
    this.#singles = new Singles(options)
  }

  /** By slot: first the removed ones go, and are not waited for; then the added ones come. */
  change(removed: readonly number[], added: readonly LocalTarget[]): void {
    for (const slot of removed) {
      this.#joining.delete(slot)
      this.#sink.forget(slot)
      const member = this.#members.get(slot)
      if (member === undefined) continue
      this.#members.delete(slot)
      this.#round?.drop(member)
      this.#singles.drop(member)
      member.close()
    }
    for (const target of added) this.#joining.set(target.slot, target)
  }

  /** Whatever the nodes in these slots tell next counts as new. */
  forget(slots: readonly number[]): void {
    for (const slot of slots) this.#sink.forget(slot)
  }

  /** Makes those that have joined. */
  async prepare(): Promise<void> {
    this.#makers.retry()
    let loading = this.#makers.load(this.#joining.values())
    while (loading !== undefined) {
      await loading
      // Others may have joined meanwhile, of other kinds.
      loading = this.#makers.load(this.#joining.values())
    }
    if (this.#closed) return
    for (const [slot, target] of this.#joining) {
      this.#members.set(slot, this.#made(target))
      // Until what it needs is there it fails in each round.
      if (!this.#makers.isRetried(target.kind)) this.#joining.delete(slot)
    }
  }

  #made(target: LocalTarget): QuarantinedMember {
    const member: QuarantinedMember = new QuarantinedMember(target.id, target, {
      clock: this.#options.clock,
      make: () => this.#makers.make(target),
      random: Math.random,
      onFault: ({ reason }) => this.#sink.quarantined(target, reason),
    })
    return member
  }

  /** Whether an exception that nobody caught was of this member's making: then it is left out for a while. */
  blame(touched: object, error: unknown): boolean {
    for (const member of this.#members.values()) {
      if (!member.has(touched)) continue
      member.fault(touched as PlacedMember, error)
      return true
    }
    return false
  }

  /** Asks all at once; resolves by the deadline, with what their round came to. Never rejects. */
  async round({ deadline, timeout }: RoundLimits): Promise<Tally> {
    const { memory, clock, silentFor, lastCall, betweenWaves, onLate } = this.#options
    await this.prepare()
    if (this.#closed) return emptyTally()
    this.#round?.abort('the next round began')
    const now = clock.now()
    const round = new Round(this.#members.values(), {
      clock,
      timeout: Math.max(0, deadline - now),
      limit: timeout,
      ...(lastCall === undefined ? {} : { lastCall }),
      ...(betweenWaves === undefined ? {} : { betweenWaves }),
      store: (member, { report, at, unknown }) => {
        if (unknown !== undefined) this.#sink.unknown(member, unknown)
        return this.#sink.store(member, report, at)
      },
      isFresh: (member) => isFresh(memory, member, silentFor, now),
      onLate,
      isOver: () => this.#closed,
    })
    this.#round = round
    const tally = await round.done
    if (!this.#closed) this.#sink.flush()
    return tally
  }

  /** Asks one by itself. */
  async ask(slot: number, timeout: number): Promise<Answer> {
    if (this.#joining.has(slot)) await this.prepare()
    if (this.#closed) return { kind: 'exit', reason: 'the balancer was closed' }
    const member = this.#members.get(slot)
    if (member === undefined) return { kind: 'exit', reason: 'the node left' }
    return this.#singles.ask(member, timeout)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#sink.flush()
    this.#sink.close()
    this.#singles.close()
    this.#round?.abort('the poller was closed')
    for (const member of this.#members.values()) member.close()
    this.#members.clear()
    this.#joining.clear()
    this.#makers.close()
  }
}
