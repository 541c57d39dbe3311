import { countIn } from '../in-flight.js'
import * as table from '../layout.js'
import type { Directory } from './directory.js'
import type { Rows } from './rows.js'
import type { TableFile } from './table-file.js'

/** Looks at which a count has to be wrong by the same before it is put right: between two, no thread was at it. */
const LOOKS = 3
/** Least time from the beginning of one look to that of the next, ms. */
const BETWEEN_LOOKS = 1_000
/** Slots that are looked at together: row by row, as each row lies in memory. */
const CHUNK = 64

interface Difference {
  readonly by: number
  readonly times: number
}

/**
 * Puts in order what dead threads left: their requests in flight, their members, and counts that are wrong since a process
 * was killed just as it counted. All of these come with a row whose owner is dead, so that where all live there is nothing
 * to do. It works in steps, each with the lock of the file and a deadline: the file may have a million cells.
 */
export class Sweep {
  readonly #file: TableFile
  readonly #directory: Directory
  readonly #rows: Rows
  readonly #differences = new Map<number, Difference>()
  // Looks at all slots that are still to be made, and where the present one is.
  #looks = 0
  #slot = 0
  #nextLook = Number.NEGATIVE_INFINITY
  // Reused.
  readonly #sums = new Int32Array(CHUNK)
  readonly #before = new Int32Array(CHUNK)
  readonly #members = new Int32Array(CHUNK)

  constructor(file: TableFile, directory: Directory, rows: Rows) {
    this.#file = file
    this.#directory = directory
    this.#rows = rows
  }

  /** Whether there is something to do at this time. */
  isDue(now: number): boolean {
    return this.#looks > 0 && (this.#slot > 0 || now >= this.#nextLook)
  }

  /**
   * Frees the rows of the dead. Alone.
   * @param isLate whether to leave the rest for another time; asked after each row
   * @returns whether all are freed
   */
  bury(isLate: () => boolean): boolean {
    for (const row of this.#rows.owned()) {
      if (this.#rows.isAlive(row)) continue
      this.#rows.bury(row, this.#directory.used)
      this.#looks = LOOKS
      this.#slot = 0
      this.#nextLook = Number.NEGATIVE_INFINITY
      if (isLate()) return false
    }
    return true
  }

  /**
   * Goes on with the present look, where one is due. Alone.
   * @param isLate whether to leave the rest for another time; asked after each 64 slots
   */
  step(now: number, isLate: () => boolean): void {
    if (!this.isDue(now)) return
    if (this.#slot === 0) this.#nextLook = now + BETWEEN_LOOKS
    const views = this.#rows.owned().map((row) => this.#rows.view(row))
    const { used } = this.#directory
    do {
      const to = Math.min(this.#slot + CHUNK, used)
      this.#lookAt(views, this.#slot, to)
      this.#slot = to
    } while (this.#slot < used && !isLate())
    if (this.#slot < used) return
    this.#slot = 0
    this.#looks--
    // One that moved at each look has told nothing yet.
    if (this.#looks === 0 && this.#differences.size > 0) this.#looks = 1
  }

  /** Gives the slots back of nodes that no thread has as a member. Alone. Returns those that it had no time for. */
  vacate(slots: readonly number[], isLate: () => boolean): number[] {
    const views = this.#rows.owned().map((row) => this.#rows.view(row))
    for (const [i, slot] of slots.entries()) {
      const isMember = views.some(({ members }) => members[slot] !== 0)
      if (!isMember && this.#directory.hasNode(slot)) this.#directory.vacate(slot)
      if (i + 1 < slots.length && isLate()) return slots.slice(i + 1)
    }
    return []
  }

  #lookAt(views: readonly { ledger: Int32Array; members: Int32Array }[], from: number, to: number): void {
    const { words } = this.#file.memory
    const sums = this.#sums.fill(0)
    const anyMember = this.#members.fill(0)
    const before = this.#before
    for (let slot = from; slot < to; slot++) before[slot - from] = Atomics.load(words, flightsWord(slot))
    for (const { ledger, members } of views) {
      for (let slot = from; slot < to; slot++) {
        const i = slot - from
        const counted = ledger[2 * slot] as number
        if (counted !== 0 && ledger[2 * slot + 1] === words[table.slotWord(slot)]) {
          sums[i] = (sums[i] as number) + counted
        }
        if (members[slot] !== 0) anyMember[i] = 1
      }
    }
    for (let slot = from; slot < to; slot++) {
      const i = slot - from
      this.#reconcile(slot, before[i] as number, sums[i] as number)
      if (anyMember[i] === 0 && this.#directory.hasNode(slot)) this.#directory.vacate(slot)
    }
  }

  // A process that is killed while it counts leaves a count that differs from the sum of what threads counted by the same
  // at each look.
  #reconcile(slot: number, word: number, sum: number): void {
    const { words } = this.#file.memory
    const index = flightsWord(slot)
    const by = countIn(word) - sum
    // It moved meanwhile: this look tells nothing.
    if (Atomics.load(words, index) !== word) return
    const differences = this.#differences
    const before = differences.get(slot)
    if (by === 0) {
      if (before !== undefined) differences.delete(slot)
      return
    }
    const times = before?.by === by ? before.times + 1 : 1
    if (times < LOOKS) {
      differences.set(slot, { by, times })
      return
    }
    differences.delete(slot)
    const count = Math.min(Math.max(sum, 0), table.COUNT_MASK)
    Atomics.compareExchange(words, index, word, (word & ~table.COUNT_MASK) | count)
  }
}

function flightsWord(slot: number): number {
  return table.slotWord(slot) + table.IN_FLIGHT_WORD
}
