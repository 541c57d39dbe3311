import type { Clock } from '../clock.js'
import type { TableMemory } from '../table/memory.js'
import type { Entry } from '../table/table.js'
import { addTally, emptyTally, type FailedNode, type Tally } from './answer.js'
import { Roster } from './roster.js'
import type { Share } from './share.js'
import { isFresh, type Place } from './store.js'
import type { CustomTarget, LocalTarget, PlacedTarget, Targets } from './targets.js'

/** What an asker works with. */
export interface AskerOptions {
  readonly memory: TableMemory
  readonly clock: Clock
  readonly targets: Targets
  /** As for the poller, ms. */
  readonly silentFor: number
  /** Asks those that can't cross threads. */
  readonly local: Share
  /** Ask the others, by slot; where there are none, `local` asks them too. */
  readonly remote: readonly Share[]
}

interface Unaskable extends Place {
  readonly failed: FailedNode
}

/** Spreads a balancer's members over those who ask them, and puts together what their rounds come to. */
export class Asker {
  readonly #options: AskerOptions
  readonly #shares: readonly Share[]
  readonly #roster = new Roster()
  // Who asks the member in a slot.
  readonly #askedBy = new Map<number, Share>()
  readonly #unaskable = new Map<number, Unaskable>()
  #entries: readonly Entry[] = []
  #changed = false
  #asking = false
  #flushing = false
  #closed = false

  constructor(options: AskerOptions) {
    this.#options = options
    this.#shares = [options.local, ...options.remote]
  }

  /** The members to ask from now on; those that left are not waited for. */
  setMembers(entries: readonly Entry[]): void {
    this.#entries = entries
    this.#changed = true
    if (this.#flushing) return
    // Otherwise the next round finds it. Before the first one, so that threads start in good time.
    if (!this.#asking && this.#shares.every(({ attached }) => attached)) return
    this.#flushing = true
    // Many changes in a row are told at once.
    queueMicrotask(() => {
      this.#flushing = false
      this.#flush()
    })
  }

  /** Whatever these nodes tell next is passed on, also where it is what they told last. */
  forget(places: readonly Place[]): void {
    for (const { slot } of places) this.#askedBy.get(slot)?.forget([slot])
  }

  /** Resolves when a round need not wait for threads or modules; never rejects. */
  async prepare(): Promise<void> {
    // The first members may be told of later in this turn.
    await Promise.resolve()
    this.#flush()
    await Promise.all(this.#shares.map((share) => share.prepare()))
  }

  /** Lets go of members that left, where no round follows that would. */
  settle(): void {
    this.#flush()
  }

  /**
   * Asks all members at once. Resolves when the round has ended, by the time-out whatever they do; never rejects.
   * Not again before that.
   */
  async round(timeout: number): Promise<Tally> {
    if (this.#closed) return emptyTally()
    this.#flush()
    this.#asking = true
    const sum = this.#refused()
    const busy = this.#shares.filter(({ size }) => size > 0)
    for (const tally of await Promise.all(busy.map((share) => share.round(timeout)))) addTally(sum, tally)
    this.#asking = false
    return sum
  }

  /** Ends the round in progress and lets go of everything; the asker can't be used again. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await Promise.all(this.#shares.map((share) => share.close()))
  }

  // Those that can't be asked fail in each round.
  #refused(): Tally {
    const { memory, clock, silentFor } = this.#options
    const tally = emptyTally()
    const now = clock.now()
    for (const one of this.#unaskable.values()) {
      if (isFresh(memory, one, silentFor, now)) tally.fresh++
      else tally.failed.push(one.failed)
    }
    tally.asked = tally.failed.length
    return tally
  }

  #flush(): void {
    if (!this.#changed || this.#closed) return
    this.#changed = false
    const { added, removed } = this.#roster.update(this.#entries)
    const parts = new Map<Share, { removed: number[]; added: LocalTarget[] }>()
    const partOf = (share: Share) => {
      const part = parts.get(share) ?? { removed: [], added: [] }
      parts.set(share, part)
      return part
    }
    for (const { slot } of removed) {
      this.#unaskable.delete(slot)
      const share = this.#askedBy.get(slot)
      if (share === undefined) continue
      this.#askedBy.delete(slot)
      partOf(share).removed.push(slot)
    }
    for (const entry of added) {
      const { id, slot, generation } = entry
      const target = this.#options.targets.of(entry)
      if (target.kind === 'none') {
        const failed: FailedNode = { node: id, kind: 'error', reason: target.reason }
        this.#unaskable.set(slot, { slot, generation, failed })
        continue
      }
      const placed = { ...target, slot, generation }
      const share = this.#shareOf(placed)
      this.#askedBy.set(slot, share)
      partOf(share).added.push(placed)
    }
    for (const [share, part] of parts) share.change(part.removed, part.added)
  }

  #shareOf(target: PlacedTarget | (CustomTarget & Place)): Share {
    const { local, remote } = this.#options
    if (target.kind === 'custom') return local
    return remote[target.slot % remote.length] ?? local
  }
}
