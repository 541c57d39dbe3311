import type { Clock } from '../clock.js'
import type { Entry } from '../table/table.js'
import { type Answer, reasonOf } from './answer.js'
import { type MakeMember, makerOf, type PlacedMember } from './local-asker.js'
import type { ProbeAsker } from './probe-asker.js'
import { Singles } from './singles.js'
import type { Transport } from './transport.js'

/** Asks on this thread, each node by a connection of its own: the poll cycle may be asking it at the same time. */
export class LocalProbes implements ProbeAsker {
  readonly #transport: Transport
  readonly #clock: Clock
  readonly #timeout: number
  readonly #members = new Map<Entry, PlacedMember>()
  readonly #singles: Singles<PlacedMember>
  #making: Promise<MakeMember> | undefined
  #closed = false

  constructor(transport: Transport, clock: Clock, timeout: number) {
    this.#transport = transport
    this.#clock = clock
    this.#timeout = timeout
    this.#singles = new Singles({ clock })
  }

  setMembers(entries: readonly Entry[]): void {
    const staying = new Set(entries)
    for (const [entry, member] of this.#members) {
      if (staying.has(entry)) continue
      this.#singles.drop(member)
      member.close?.()
      this.#members.delete(entry)
    }
  }

  ask(entry: Entry, settle: (answer: Answer) => void): void {
    this.#ask(entry).then(
      (answer) => {
        if (!this.#closed) settle(answer)
      },
      (error: unknown) => settle({ kind: 'error', reason: reasonOf(error) }),
    )
  }

  close(): void {
    this.#closed = true
    this.#singles.close()
    for (const member of this.#members.values()) member.close?.()
    this.#members.clear()
  }

  async #ask(entry: Entry): Promise<Answer> {
    this.#making ??= makerOf(this.#transport, this.#clock)
    const make = await this.#making
    if (this.#closed) return { kind: 'exit', reason: 'the balancer was closed' }
    let member = this.#members.get(entry)
    if (member === undefined) {
      member = make(entry)
      this.#members.set(entry, member)
    }
    return this.#singles.ask(member, this.#timeout)
  }
}
