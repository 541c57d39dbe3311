import type { Clock } from '../clock.js'
import { BadReportError } from '../errors.js'
import { checkReport } from '../reports/check.js'
import type { TableMemory } from '../table/memory.js'
import type { Entry } from '../table/table.js'
import { type Answer, emptyTally, reasonOf, type Tally } from './answer.js'
import type { Asker } from './asker.js'
import { isTarget, resolveTarget } from './http-target.js'
import { Roster } from './roster.js'
import { type Member, Round } from './round.js'
import { type Place, storeReport } from './store.js'
import { type CustomTransport, type HttpTransport, isCustom, type Transport } from './transport.js'

/** A member with its slot. */
export interface PlacedMember extends Member, Place {
  close?(): void
}

/** A member that is asked by the user's own transport. */
class CustomMember implements PlacedMember {
  readonly id: string
  readonly slot: number
  readonly generation: number
  readonly #transport: CustomTransport
  readonly #clock: Clock
  #asking: AbortController | undefined

  constructor(entry: Entry, transport: CustomTransport, clock: Clock) {
    this.id = entry.id
    this.slot = entry.slot
    this.generation = entry.generation
    this.#transport = transport
    this.#clock = clock
  }

  async ask(): Promise<Answer> {
    const asking = new AbortController()
    this.#asking = asking
    try {
      const report = checkReport(await this.#transport.poll(this.id, asking.signal))
      return { kind: 'report', report, at: this.#clock.now() }
    } catch (error) {
      return { kind: error instanceof BadReportError ? 'error' : 'exit', reason: reasonOf(error) }
    } finally {
      // A transport that ignores the signal may answer when the next cycle is asking already.
      if (this.#asking === asking) this.#asking = undefined
    }
  }

  cancel(reason: string): void {
    this.#asking?.abort(new DOMException(reason, 'AbortError'))
    this.#asking = undefined
  }
}

/** A member that can't be asked: it fails each time, alone. */
class UnaskableMember implements PlacedMember {
  readonly id: string
  readonly slot: number
  readonly generation: number
  readonly #reason: string

  constructor(entry: Entry, reason: string) {
    this.id = entry.id
    this.slot = entry.slot
    this.generation = entry.generation
    this.#reason = reason
  }

  async ask(): Promise<Answer> {
    return { kind: 'error', reason: this.#reason }
  }

  cancel(): void {}
}

/** Makes what asks a node. */
export type MakeMember = (entry: Entry) => PlacedMember

// Loaded when it is needed, so that a process whose polling thread asks does not load undici twice.
async function httpMembers(transport: HttpTransport, clock: Clock): Promise<MakeMember> {
  const { HttpMembers } = await import('./http-member.js')
  const members = new HttpMembers(() => clock.now())
  return (entry) => {
    const target = resolveTarget(entry.id, transport)
    return isTarget(target) ? members.make(target, entry) : new UnaskableMember(entry, target.reason)
  }
}

/** What asks nodes by this transport on this thread. */
export async function makerOf(transport: Transport, clock: Clock): Promise<MakeMember> {
  if (!isCustom(transport)) return httpMembers(transport, clock)
  return (entry) => new CustomMember(entry, transport, clock)
}

/** Asks on this thread: for transports of the user's own, and for clocks that can't cross threads. */
export class LocalAsker implements Asker {
  readonly #memory: TableMemory
  readonly #clock: Clock
  readonly #onLate: () => void
  readonly #roster = new Roster()
  readonly #members = new Map<number, PlacedMember>()
  readonly #transport: Transport
  #make: MakeMember | undefined
  #entries: readonly Entry[] = []
  #changed = false
  #round: Round<PlacedMember> | undefined
  #closed = false

  constructor(memory: TableMemory, clock: Clock, transport: Transport, onLate: () => void) {
    this.#memory = memory
    this.#clock = clock
    this.#onLate = onLate
    this.#transport = transport
  }

  setMembers(entries: readonly Entry[]): void {
    this.#entries = entries
    this.#changed = true
    if (this.#round !== undefined) this.#dropLeft()
  }

  async prepare(): Promise<void> {
    // What goes wrong here goes wrong again in the round.
    if (!isCustom(this.#transport)) await makerOf(this.#transport, this.#clock).catch(() => {})
  }

  async round(timeout: number): Promise<Tally> {
    this.#make ??= await makerOf(this.#transport, this.#clock)
    if (this.#closed) return emptyTally()
    this.#update(this.#make)
    const round = new Round(this.#members.values(), {
      clock: this.#clock,
      timeout,
      store: (member, { report, at }) => storeReport(this.#memory, member, report, at),
      onLate: this.#onLate,
      isOver: () => this.#closed,
    })
    this.#round = round
    const tally = await round.done
    this.#round = undefined
    return tally
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#round?.abort('the poller was closed')
    for (const member of this.#members.values()) member.close?.()
    this.#members.clear()
  }

  #update(make: MakeMember): void {
    if (!this.#changed) return
    this.#changed = false
    const { added, removed } = this.#roster.update(this.#entries)
    for (const { slot } of removed) {
      this.#members.get(slot)?.close?.()
      this.#members.delete(slot)
    }
    for (const entry of added) this.#members.set(entry.slot, make(entry))
  }

  // Those that joined are asked from the next round on, when the roster is brought up to date.
  #dropLeft(): void {
    const places = new Map(this.#entries.map((entry) => [entry.slot, entry.generation]))
    for (const member of this.#members.values()) {
      if (places.get(member.slot) !== member.generation) this.#round?.drop(member)
    }
  }
}
