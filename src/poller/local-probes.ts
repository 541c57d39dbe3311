import type { Clock } from '../clock.js'
import type { Entry } from '../table/table.js'
import { type Answer, reasonOf } from './answer.js'
import { type MakeMember, makerOf, type PlacedMember } from './local-asker.js'
import type { ProbeAsker } from './probe-asker.js'
import { Round } from './round.js'
import type { Transport } from './transport.js'

/**
 * Asks on this thread, each node by a connection of its own: the poll cycle may be asking it at the same time. A probe is
 * a round of one.
 */
export class LocalProbes implements ProbeAsker {
  readonly #transport: Transport
  readonly #clock: Clock
  readonly #timeout: number
  readonly #members = new Map<Entry, PlacedMember>()
  readonly #rounds = new Set<Round<PlacedMember>>()
  #making: Promise<MakeMember> | undefined
  #closed = false

  constructor(transport: Transport, clock: Clock, timeout: number) {
    this.#transport = transport
    this.#clock = clock
    this.#timeout = timeout
  }

  setMembers(entries: readonly Entry[]): void {
    const staying = new Set(entries)
    for (const [entry, member] of this.#members) {
      if (staying.has(entry)) continue
      for (const round of this.#rounds) round.drop(member)
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
    for (const round of this.#rounds) round.abort('the balancer was closed')
    for (const member of this.#members.values()) member.close?.()
    this.#members.clear()
  }

  async #ask(entry: Entry): Promise<Answer> {
    this.#making ??= makerOf(this.#transport, this.#clock)
    const make = await this.#making
    let answered: Answer | undefined
    if (this.#closed) return { kind: 'exit', reason: 'the balancer was closed' }
    const round = new Round([this.#member(entry, make)], {
      clock: this.#clock,
      timeout: this.#timeout,
      store: (_, answer) => {
        answered = answer
        return 'stored'
      },
      onLate: () => {},
      isOver: () => this.#closed,
    })
    this.#rounds.add(round)
    const { failed } = await round.done
    this.#rounds.delete(round)
    return answered ?? failed[0] ?? { kind: 'exit', reason: 'the node left' }
  }

  #member(entry: Entry, make: MakeMember): PlacedMember {
    let member = this.#members.get(entry)
    if (member === undefined) {
      member = make(entry)
      this.#members.set(entry, member)
    }
    return member
  }
}
