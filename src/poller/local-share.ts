import type { Clock } from '../clock.js'
import type { TableMemory } from '../table/memory.js'
import type { Tally } from './answer.js'
import { AskedMembers, type AskSettings } from './asked-members.js'
import type { Share, ShareListener } from './share.js'
import type { LocalTarget } from './targets.js'

/** Asks on this thread: for transports of the user's own, and for clocks and tables that can't cross threads. */
export class LocalShare implements Share {
  readonly attached = true
  readonly #clock: Clock
  readonly #slots = new Set<number>()
  readonly #members: AskedMembers

  constructor(memory: TableMemory, clock: Clock, settings: AskSettings, listener: ShareListener) {
    this.#clock = clock
    this.#members = new AskedMembers({
      ...settings,
      memory,
      clock,
      onLate: () => listener.onLate(1),
      onAside: (aside) => listener.onAside(aside),
    })
  }

  get size(): number {
    return this.#slots.size
  }

  change(removed: readonly number[], added: readonly LocalTarget[]): void {
    for (const slot of removed) this.#slots.delete(slot)
    for (const { slot } of added) this.#slots.add(slot)
    this.#members.change(removed, added)
  }

  forget(slots: readonly number[]): void {
    this.#members.forget(slots)
  }

  prepare(): Promise<void> {
    return this.#members.prepare()
  }

  round(timeout: number): Promise<Tally> {
    return this.#members.round({ deadline: this.#clock.now() + timeout, timeout })
  }

  async close(): Promise<void> {
    this.#members.close()
  }
}
