import { countIn, isCountOf } from '../in-flight.js'
import * as table from '../layout.js'
import * as layout from './layout.js'
import type { TableFile } from './table-file.js'

const NOBODY = 0
const OWNED = 1

/** Looks at which a count has to be wrong by the same before it is put right: between two, no thread was at it. */
const LOOKS = 3

interface Difference {
  readonly by: number
  readonly times: number
}

/**
 * What each thread of each process has in the file: the requests in flight that it counted, and its members. The lock of a
 * row tells whether its owner lives, so that what it had can be taken back when it was killed.
 */
export class Rows {
  readonly #file: TableFile
  readonly #header: Int32Array
  readonly #views = new Map<number, Int32Array>()
  /** This thread's. */
  readonly own: number
  readonly #differences = new Map<number, Difference>()

  /** Takes a row. Alone. Throws TableError where all are taken. */
  constructor(file: TableFile, pid: number) {
    this.#file = file
    this.#header = new Int32Array(file.shared, 0, layout.SHARED_HEADER_BYTES / 4)
    this.own = this.#take(pid)
  }

  /** The requests in flight that this thread counted, by slot. */
  get ledger(): Int32Array {
    return this.#view(this.own).subarray(0, this.#file.shape.nodes)
  }

  /** Says whether this thread has the node in a slot as a member. Alone. */
  setMember(slot: number, generation: number, isMember: boolean): void {
    const word = isMember ? layout.MEMBER_BIT | generation : 0
    Atomics.store(this.#view(this.own), this.#file.shape.nodes + slot, word)
  }

  /** Whether the owner of a row has the node in a slot as a member. */
  hasMember(row: number, slot: number, generation: number): boolean {
    if (row < 0 || row >= this.#file.shape.rows || this.#state(row) !== OWNED) return false
    const word = Atomics.load(this.#view(row), this.#file.shape.nodes + slot)
    return word === (layout.MEMBER_BIT | generation)
  }

  /** Whether any thread has the node in a slot as a member. Alone. */
  anyMember(slot: number): boolean {
    return this.#owned().some((row) => this.#view(row)[this.#file.shape.nodes + slot] !== 0)
  }

  /**
   * Takes back what the dead had. Alone.
   * @param used slots that were ever used
   * @returns how many were dead
   */
  sweep(used: number): number {
    let swept = 0
    for (const row of this.#owned()) {
      if (row === this.own || this.#file.held(layout.ROW_LOCKS + row)) continue
      this.#bury(row, used)
      swept++
    }
    return swept
  }

  /**
   * Puts counts right: a process that is killed while it counts leaves one too many. That is told by a count that differs
   * from the sum of what threads counted by the same at each of several looks. Alone.
   */
  reconcile(used: number): void {
    const { words } = this.#file.memory
    const views = this.#owned().map((row) => this.#view(row))
    for (let slot = 0; slot < used; slot++) {
      const index = table.slotWord(slot) + table.IN_FLIGHT_WORD
      const word = Atomics.load(words, index)
      let sum = 0
      for (const view of views) {
        const cell = Atomics.load(view, slot)
        if (isCountOf(cell, word >>> table.COUNT_BITS)) sum += countIn(cell)
      }
      const by = countIn(word) - sum
      // It moved meanwhile: this look tells nothing.
      if (Atomics.load(words, index) !== word) continue
      const before = this.#differences.get(slot)
      if (by === 0) {
        if (before !== undefined) this.#differences.delete(slot)
        continue
      }
      const times = before?.by === by ? before.times + 1 : 1
      if (times < LOOKS) this.#differences.set(slot, { by, times })
      else {
        this.#differences.delete(slot)
        subtract(words, index, word, by)
      }
    }
  }

  #take(pid: number): number {
    const { rows } = this.#file.shape
    for (let row = 0; row < rows; row++) {
      if (this.#state(row) === OWNED || !this.#file.take(layout.ROW_LOCKS + row, true)) continue
      this.#file.reserve(row)
      this.#view(row).fill(0)
      Atomics.store(this.#header, layout.ROWS_WORD + 2 * row + 1, pid)
      Atomics.store(this.#header, layout.ROWS_WORD + 2 * row, OWNED)
      const used = Math.max(this.#header[layout.USED_ROWS_WORD] as number, row + 1)
      Atomics.store(this.#header, layout.USED_ROWS_WORD, used)
      return row
    }
    throw this.#file.fault(`${rows} threads of processes have it, and no more may`)
  }

  #state(row: number): number {
    return Atomics.load(this.#header, layout.ROWS_WORD + 2 * row)
  }

  #view(row: number): Int32Array {
    let view = this.#views.get(row)
    if (view === undefined) {
      view = this.#file.row(row)
      this.#views.set(row, view)
    }
    return view
  }

  #owned(): number[] {
    const used = Math.min(Math.max(this.#header[layout.USED_ROWS_WORD] as number, 0), this.#file.shape.rows)
    return Array.from({ length: used }, (_, row) => row).filter((row) => this.#state(row) === OWNED)
  }

  #bury(row: number, used: number): void {
    const view = this.#view(row)
    const { words } = this.#file.memory
    for (let slot = 0; slot < used; slot++) {
      // First: whoever is killed here leaves too many in flight, which is found, and takes nothing back twice.
      const cell = Atomics.exchange(view, slot, 0)
      if (countIn(cell) === 0) continue
      const index = table.slotWord(slot) + table.IN_FLIGHT_WORD
      for (;;) {
        const word = Atomics.load(words, index)
        if (!isCountOf(cell, word >>> table.COUNT_BITS)) break
        if (subtract(words, index, word, countIn(cell))) break
      }
    }
    view.fill(0)
    Atomics.store(this.#header, layout.ROWS_WORD + 2 * row, NOBODY)
  }
}

// False where the word has changed.
function subtract(words: Int32Array, index: number, word: number, by: number): boolean {
  const count = Math.min(Math.max(countIn(word) - by, 0), table.COUNT_MASK)
  const next = (word & ~table.COUNT_MASK) | count
  return Atomics.compareExchange(words, index, word, next) === word
}
