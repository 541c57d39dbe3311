import type { TableError } from '../../errors.js'
import { takeBack } from '../in-flight.js'
import { MOST_NAMED } from '../layout.js'
import type { NameUse } from '../memory.js'
import { freeNamed } from '../metric-names.js'
import * as layout from './layout.js'
import type { TableFile } from './table-file.js'

/** The words of one row. */
interface RowView {
  readonly ledger: Int32Array
  readonly members: Int32Array
}

/**
 * What each thread of each process has in the file: the requests in flight that it counted, its members, and the named
 * metrics that it uses. The lock of a row tells whether its owner lives, so that what it had can be taken back when it was
 * killed.
 */
export class Rows {
  readonly #file: TableFile
  readonly #header: Int32Array
  readonly #views = new Map<number, RowView>()
  #own = -1

  constructor(file: TableFile) {
    this.#file = file
    this.#header = new Int32Array(file.shared, 0, layout.SHARED_HEADER_BYTES / 4)
  }

  /** This thread's row; -1 where it has none. */
  get own(): number {
    return this.#own
  }

  /** Takes a row for this thread, by which its memory counts from now on. False where all are taken. */
  take(pid: number): boolean {
    const row = this.#takeFree(pid)
    if (row === undefined) return false
    this.#own = row
    this.#file.memory.ledger = this.view(row).ledger
    this.#file.memory.names = this.#nameUse()
    return true
  }

  /** The error where all rows are taken by threads that live. */
  full(): TableError {
    return this.#file.fault(`${this.#file.shape.rows} threads of processes have it, and no more may`)
  }

  /** Says whether this thread has the node in a slot as a member. Alone. */
  setMember(slot: number, generation: number, isMember: boolean): void {
    const word = isMember ? layout.MEMBER_BIT | generation : 0
    Atomics.store(this.view(this.own).members, slot, word)
  }

  /** Whether the owner of a row has the node in a slot as a member. */
  hasMember(row: number, slot: number, generation: number): boolean {
    if (row < 0 || row >= this.#file.shape.rows || !this.#isOwned(row)) return false
    return Atomics.load(this.view(row).members, slot) === (layout.MEMBER_BIT | generation)
  }

  /** The rows that have an owner, dead or alive. */
  owned(): number[] {
    const used = Math.min(Math.max(this.#header[layout.USED_ROWS_WORD] as number, 0), this.#file.shape.rows)
    const rows: number[] = []
    for (let row = 0; row < used; row++) if (this.#isOwned(row)) rows.push(row)
    return rows
  }

  /** Whether the owner of a row lives. */
  isAlive(row: number): boolean {
    return row === this.own || this.#file.held(layout.ROW_LOCKS + row)
  }

  view(row: number): RowView {
    let view = this.#views.get(row)
    if (view === undefined) {
      const { nodes } = this.#file.shape
      const words = this.#file.row(row)
      view = { ledger: words.subarray(0, 2 * nodes), members: words.subarray(2 * nodes, 3 * nodes) }
      this.#views.set(row, view)
    }
    return view
  }

  /**
   * Takes back what a dead owner had, and frees the row. Alone.
   * @param used slots that were ever used
   */
  bury(row: number, used: number): void {
    const { ledger, members } = this.view(row)
    takeBack(this.#file.memory, ledger, used)
    ledger.fill(0)
    members.fill(0)
    Atomics.store(this.#header, stateWord(row), 0)
  }

  // Without the lock of the whole file: the row's own keeps others out, and a row that is owned is left to be buried.
  #takeFree(pid: number): number | undefined {
    const { rows } = this.#file.shape
    for (let row = 0; row < rows; row++) {
      if (this.#isOwned(row) || !this.#file.take(layout.ROW_LOCKS + row, true)) continue
      // Another thread may have taken it meanwhile, and died.
      if (this.#isOwned(row)) {
        this.#file.release(layout.ROW_LOCKS + row)
        continue
      }
      this.#file.reserve(row)
      const { ledger, members } = this.view(row)
      ledger.fill(0)
      members.fill(0)
      Atomics.store(this.#header, stateWord(row) + 1, pid)
      Atomics.store(this.#header, stateWord(row), layout.OWNED_BIT)
      raise(this.#header, layout.USED_ROWS_WORD, row + 1)
      return row
    }
    return undefined
  }

  #isOwned(row: number): boolean {
    return (Atomics.load(this.#header, stateWord(row)) & layout.OWNED_BIT) !== 0
  }

  #nameUse(): NameUse {
    const word = stateWord(this.own)
    return {
      use: (named) => Atomics.or(this.#header, word, layout.FIRST_NAME_BIT << named),
      drop: (named) => Atomics.and(this.#header, word, ~(layout.FIRST_NAME_BIT << named)),
      reclaim: (name) => this.#reclaim(name),
    }
  }

  // Frees each named metric that no living thread uses.
  #reclaim(name: string): void {
    const file = this.#file
    const freed = file.alone(layout.RECLAIM_PATIENCE, () => {
      const used = Math.min(Math.max(Atomics.load(this.#header, layout.USED_SLOTS_WORD), 0), file.shape.nodes)
      const alive = new Set(this.owned().filter((row) => this.isAlive(row)))
      let freed = 0
      for (let named = 0; named < MOST_NAMED; named++) {
        const bit = layout.FIRST_NAME_BIT << named
        const isUsed = () =>
          this.owned().some(
            (row) =>
              (Atomics.load(this.#header, stateWord(row)) & bit) !== 0 &&
              (alive.has(row) || this.isAlive(row)),
          )
        if (!isUsed() && freeNamed(file.memory, named, used, isUsed)) freed++
      }
      return freed
    })
    if (freed !== undefined && freed > 0) return
    const why =
      freed === undefined
        ? 'another process holds its lock, so that no unused one can be freed: resume or end that process, then try again'
        : `running processes use all of them: end those that use others, or give this one a file of its own`
    throw file.fault(
      `it keeps at most ${MOST_NAMED} named metrics, ${JSON.stringify(name)} is one more, and ${why}`,
      name,
    )
  }
}

function stateWord(row: number): number {
  return layout.ROWS_WORD + 2 * row
}

// Makes a word at least so large.
function raise(words: Int32Array, index: number, least: number): void {
  for (;;) {
    const before = Atomics.load(words, index)
    if (before >= least || Atomics.compareExchange(words, index, before, least) === before) return
  }
}
