import type { Clock } from '../clock.js'
import { reasonOf } from '../errors.js'
import type { TableMemory } from '../table/memory.js'
import type { Entry } from '../table/table.js'
import type { Answer } from './answer.js'
import { AskedMembers } from './asked-members.js'
import type { TargetProbes } from './probes.js'
import type { LocalTarget } from './targets.js'

/** Asks on this thread, each node by a connection of its own: the poll cycle may be asking it at the same time. */
export class LocalProbes implements TargetProbes {
  readonly #timeout: number
  readonly #known = new Set<Entry>()
  readonly #members: AskedMembers
  #closed = false

  constructor(memory: TableMemory, clock: Clock, timeout: number) {
    this.#timeout = timeout
    // Whoever probes stores what comes; only polls warn of what is wrong.
    const deaf = { onLate: () => {}, onAside: () => {} }
    this.#members = new AskedMembers({ ...deaf, memory, clock, silentFor: 0, coalesce: 0 })
  }

  setMembers(entries: readonly Entry[]): void {
    const staying = new Set(entries)
    for (const entry of this.#known) {
      if (staying.has(entry)) continue
      this.#known.delete(entry)
      this.#members.change([entry.slot], [])
    }
  }

  ask(entry: Entry, target: LocalTarget, settle: (answer: Answer) => void): void {
    if (!this.#known.has(entry)) {
      this.#known.add(entry)
      this.#members.change([], [target])
    }
    this.#members.ask(entry.slot, this.#timeout).then(
      (answer) => {
        if (!this.#closed) settle(answer)
      },
      (error: unknown) => settle({ kind: 'error', reason: reasonOf(error) }),
    )
  }

  close(): void {
    this.#closed = true
    this.#members.close()
  }
}
