import type { Directory, Seat } from './directory.js'
import * as layout from './layout.js'
import type { Rows } from './rows.js'
import type { TableFile } from './table-file.js'

/** Who polls for a group: the balancers of one name, of all processes. */
export interface Election {
  /**
   * Whether this is the one that polls: it becomes that where no other is, and stays it. Another one is as soon as its
   * process ends, however that comes to be.
   */
  leads(): boolean
  /** Whether the one that polls has this node as a member, so that it need not be asked by others. */
  covers(seat: Pick<Seat, 'slot' | 'generation'>): boolean
  /** The id of the process that polls, or polled last; undefined where none ever did. */
  readonly pid: number | undefined
  /** Cycles that the group has made. */
  readonly cycles: number
  /** One more. */
  cycled(): void
  /** Lets another one poll. */
  leave(): void
}

// As the FNV hash has it, 64 bits.
function hashOf(name: string): bigint {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(name)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  }
  return hash === 0n ? 1n : hash
}

/** The groups of pollers of a file. */
export class Groups {
  readonly #file: TableFile
  readonly #directory: Directory
  readonly #rows: Rows
  readonly #header: Int32Array
  readonly #hashes: BigUint64Array
  // How many balancers of this thread are in a group, and which of them polls: locks tell threads apart, not these.
  readonly #members = new Map<number, number>()
  readonly #leaders = new Map<number, Election>()

  constructor(file: TableFile, directory: Directory, rows: Rows) {
    this.#rows = rows
    this.#file = file
    this.#directory = directory
    this.#header = new Int32Array(file.shared, 0, layout.SHARED_HEADER_BYTES / 4)
    this.#hashes = new BigUint64Array(file.shared, 0, layout.SHARED_HEADER_BYTES / 8)
  }

  /** Throws TableError where the file has too many groups. */
  join(name: string, pid: number): Election {
    const hash = hashOf(name)
    const enter = (longest: number) => this.#directory.alone(longest, () => this.#enter(hash))
    const leave = (group: number) => this.#leave(group)
    // While a process that was stopped keeps the lock, it is in none.
    let group = enter(layout.PATIENCE)
    const wordOf = (of: number) => layout.GROUPS_WORD + (group ?? 0) * layout.GROUP_WORDS + of
    const header = this.#header
    const file = this.#file
    const leaders = this.#leaders
    const rows = this.#rows
    let left = false
    const election: Election = {
      leads() {
        if (left) return false
        // Where the file is lost, each polls for itself; so does one that is in no group yet.
        if (file.lost) return true
        group ??= enter(0)
        if (group === undefined) return true
        const leader = leaders.get(group)
        if (leader !== undefined) return leader === election
        if (!file.take(layout.POLLER_LOCKS + group, true)) return false
        leaders.set(group, election)
        Atomics.store(header, wordOf(layout.GROUP_PID_WORD), pid)
        Atomics.store(header, wordOf(layout.GROUP_ROW_WORD), rows.own)
        return true
      },
      covers({ slot, generation }) {
        if (group === undefined) return false
        return rows.hasMember(Atomics.load(header, wordOf(layout.GROUP_ROW_WORD)), slot, generation)
      },
      get pid() {
        return group === undefined
          ? undefined
          : Atomics.load(header, wordOf(layout.GROUP_PID_WORD)) || undefined
      },
      get cycles() {
        return group === undefined ? 0 : Atomics.load(header, wordOf(layout.GROUP_CYCLES_WORD)) >>> 0
      },
      cycled() {
        if (group !== undefined) Atomics.add(header, wordOf(layout.GROUP_CYCLES_WORD), 1)
      },
      leave() {
        if (left) return
        left = true
        if (group === undefined) return
        if (leaders.get(group) === election) {
          leaders.delete(group)
          file.release(layout.POLLER_LOCKS + group)
        }
        leave(group)
      },
    }
    return election
  }

  #enter(hash: bigint): number {
    let free: number | undefined
    for (let group = 0; group < layout.MOST_GROUPS; group++) {
      const index = (layout.GROUPS_WORD + group * layout.GROUP_WORDS) / 2
      const found = Atomics.load(this.#hashes, index)
      const used = this.#members.has(group) || this.#file.held(layout.GROUP_LOCKS + group)
      if (found === hash && used) return this.#join(group)
      if (!used) free ??= group
    }
    if (free === undefined) {
      throw this.#file.fault(`balancers of ${layout.MOST_GROUPS} names poll by it, and of no more may`)
    }
    const word = layout.GROUPS_WORD + free * layout.GROUP_WORDS
    for (let of = layout.GROUP_PID_WORD; of < layout.GROUP_WORDS; of++)
      Atomics.store(this.#header, word + of, 0)
    Atomics.store(this.#hashes, word / 2, hash)
    return this.#join(free)
  }

  #join(group: number): number {
    const members = this.#members.get(group) ?? 0
    // Nobody has it but in the same way.
    if (members === 0) this.#file.take(layout.GROUP_LOCKS + group, false)
    this.#members.set(group, members + 1)
    return group
  }

  #leave(group: number): void {
    const members = (this.#members.get(group) ?? 1) - 1
    if (members > 0) this.#members.set(group, members)
    else {
      this.#members.delete(group)
      this.#file.release(layout.GROUP_LOCKS + group)
    }
  }
}
