import * as table from '../layout.js'
import { publish } from '../reading.js'
import { emptySlot } from '../slot.js'
import * as layout from './layout.js'
import type { TableFile } from './table-file.js'

/** A node that has a slot of the file. */
export interface Seat {
  readonly id: string
  readonly slot: number
  readonly generation: number
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

function changeWord(version: number): number {
  return layout.CHANGES_WORD + (version & (layout.MOST_CHANGES - 1))
}

/** Which node has which slot, as all processes see it. It is changed in `alone`. */
export class Directory {
  readonly #file: TableFile
  readonly #header: Int32Array
  readonly #states: Int32Array
  readonly #ids: Uint8Array
  readonly #byId = new Map<string, Seat>()
  readonly #bySlot = new Map<number, Seat>()
  readonly #onVacate: (slot: number) => void
  #seen = 0
  #hasLooked = false

  /** @param onVacate called with each slot that is emptied, alone */
  constructor(file: TableFile, onVacate: (slot: number) => void) {
    this.#file = file
    this.#onVacate = onVacate
    const { nodes } = file.shape
    this.#header = new Int32Array(file.shared, 0, layout.SHARED_HEADER_BYTES / 4)
    this.#states = new Int32Array(file.shared, layout.statesAt(nodes), nodes)
    this.#ids = new Uint8Array(file.shared, layout.idsAt(nodes), nodes * layout.ID_BYTES)
  }

  /**
   * Does what no other process may do at the same time; see `TableFile.alone`. Undefined, and nothing is done, where
   * another process holds the lock for longer than that.
   */
  alone<R>(longest: number, work: () => R): R | undefined {
    return this.#file.alone(longest, () => this.#marked(work))
  }

  /** The process that holds the lock, or died with it; undefined where none does. */
  get holder(): number | undefined {
    return Atomics.load(this.#header, layout.AT_WORK_WORD) || undefined
  }

  // A process that was killed while it changed something left its mark. The next one puts that in order.
  #marked<R>(work: () => R): R {
    if (Atomics.exchange(this.#header, layout.AT_WORK_WORD, process.pid) !== 0) this.#finish()
    this.look()
    const result = work()
    Atomics.store(this.#header, layout.AT_WORK_WORD, 0)
    return result
  }

  /** As of the last look. */
  seats(): Iterable<Seat> {
    return this.#byId.values()
  }

  find(id: string): Seat | undefined {
    return this.#byId.get(id)
  }

  at(slot: number): Seat | undefined {
    return this.#bySlot.get(slot)
  }

  /** Slots that were ever used. */
  get used(): number {
    const used = Atomics.load(this.#header, layout.USED_SLOTS_WORD)
    return Math.min(Math.max(used, 0), this.#file.shape.nodes)
  }

  /** Takes in what others changed. Returns whether they did. */
  look(): boolean {
    const version = Atomics.load(this.#header, layout.DIRECTORY_VERSION_WORD)
    const behind = (version - this.#seen) | 0
    if (behind === 0 && this.#hasLooked) return false
    const slots = this.#hasLooked ? this.#changedSince(this.#seen, behind) : undefined
    this.#hasLooked = true
    this.#seen = version
    let changed = false
    if (slots === undefined) {
      for (let slot = 0; slot < this.used; slot++) if (this.#lookAt(slot)) changed = true
    } else {
      for (const slot of slots) if (this.#lookAt(slot)) changed = true
    }
    return changed
  }

  // Undefined where the file no longer has all of these changes.
  #changedSince(version: number, count: number): number[] | undefined {
    if (count < 0 || count > layout.MOST_CHANGES) return undefined
    const slots: number[] = []
    for (let i = 0; i < count; i++) {
      const slot = Atomics.load(this.#header, changeWord((version + i) | 0))
      if (slot < 0 || slot >= this.#file.shape.nodes) return undefined
      slots.push(slot)
    }
    // Others may have written over the oldest of them meanwhile. One may be writing the next at this moment.
    const now = Atomics.load(this.#header, layout.DIRECTORY_VERSION_WORD)
    return ((now - version) | 0) < layout.MOST_CHANGES ? slots : undefined
  }

  /** The node's slot, a new one where it has none. Alone. Throws TableError where the file is full, or the id does not fit. */
  seat(id: string): Seat {
    const known = this.#byId.get(id)
    if (known !== undefined) return known
    const bytes = this.checkId(id)
    const slot = this.#freeSlot()
    this.#ids.set(bytes, slot * layout.ID_BYTES)
    // With this word it is there: whoever is killed before that leaves a free slot.
    Atomics.store(this.#states, slot, bytes.length)
    this.#step(slot)
    return this.#remember(id, slot)
  }

  /** The bytes of an id. Throws TableError where it does not fit. */
  checkId(id: string): Uint8Array {
    const bytes = encoder.encode(id)
    if (bytes.length <= layout.ID_BYTES && decoder.decode(bytes) === id) return bytes
    throw this.#file.fault(`a node's id in it has at most ${layout.ID_BYTES} bytes of UTF-8`, id)
  }

  /** Empties a slot for its next node. Alone. */
  vacate(slot: number): void {
    Atomics.store(this.#states, slot, layout.EMPTYING)
    this.#forget(slot)
    this.#onVacate(slot)
    emptySlot(this.#file.memory, slot, (this.#generation(slot) + 1) >>> 0)
    Atomics.store(this.#states, slot, layout.FREE)
    this.#step(slot)
  }

  /** Whether the slot has a node. */
  hasNode(slot: number): boolean {
    return (this.#states[slot] as number) > 0
  }

  #finish(): void {
    // What it changed last may not be among the changes: all who look at the next one look at all slots.
    Atomics.add(this.#header, layout.DIRECTORY_VERSION_WORD, layout.MOST_CHANGES)
    publish(this.#file.memory)
    for (let slot = 0; slot < this.used; slot++) if (this.#states[slot] === layout.EMPTYING) this.vacate(slot)
  }

  // Slots rest as long as may be: the look goes round.
  #freeSlot(): number {
    const { nodes } = this.#file.shape
    const used = this.used
    // Untouched ones first.
    if (used < nodes) {
      Atomics.store(this.#header, layout.USED_SLOTS_WORD, used + 1)
      return used
    }
    const from = (this.#header[layout.CURSOR_WORD] as number) >>> 0
    for (let step = 0; step < nodes; step++) {
      const slot = (from + step) % nodes
      if (this.#states[slot] === layout.EMPTYING) this.vacate(slot)
      if (this.#states[slot] !== layout.FREE) continue
      this.#header[layout.CURSOR_WORD] = slot + 1
      return slot
    }
    throw this.#file.fault(`it is full: it holds at most ${nodes} nodes (createTable({ maxNodes }))`)
  }

  #step(slot: number): void {
    const version = Atomics.load(this.#header, layout.DIRECTORY_VERSION_WORD)
    Atomics.store(this.#header, changeWord(version), slot)
    const before = Atomics.add(this.#header, layout.DIRECTORY_VERSION_WORD, 1)
    if (before === this.#seen) this.#seen = (before + 1) | 0
    // Whoever took this node for an unknown one has to look again.
    publish(this.#file.memory)
  }

  #generation(slot: number): number {
    return Atomics.load(this.#file.memory.words, table.slotWord(slot)) >>> 0
  }

  #lookAt(slot: number): boolean {
    const length = Atomics.load(this.#states, slot)
    const generation = this.#generation(slot)
    const known = this.#bySlot.get(slot)
    if (length <= 0) return this.#forget(slot)
    if (known !== undefined && known.generation === generation) return false
    const at = slot * layout.ID_BYTES
    const id = decoder.decode(this.#ids.slice(at, at + Math.min(length, layout.ID_BYTES)))
    // Where it has changed meanwhile the version has a step to come.
    if (Atomics.load(this.#states, slot) !== length || this.#generation(slot) !== generation) return false
    this.#forget(slot)
    this.#remember(id, slot)
    return true
  }

  #remember(id: string, slot: number): Seat {
    const seat: Seat = { id, slot, generation: this.#generation(slot) }
    this.#byId.set(id, seat)
    this.#bySlot.set(slot, seat)
    return seat
  }

  #forget(slot: number): boolean {
    const known = this.#bySlot.get(slot)
    if (known === undefined) return false
    this.#bySlot.delete(slot)
    if (this.#byId.get(known.id) === known) this.#byId.delete(known.id)
    return true
  }
}
