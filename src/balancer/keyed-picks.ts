import { type KeyedAlgorithm, keyedOf, weightsOf } from '../algorithms/registry.js'
import type { WeightOf } from '../algorithms/weights.js'
import type { KeyTables } from '../engine/key-tables.js'
import { type Key, KeyHash } from '../keys/key-hash.js'
import { inOrder, type KeyNode, KeyTable } from '../keys/key-table.js'
import type { LeaseCounters } from './lease.js'
import type { Member } from './member.js'
import type { Members } from './members.js'
import type { NodeLike } from './node.js'
import { TableBuilder } from './table-builder.js'

export interface KeyedPicksOptions<N extends NodeLike> {
  readonly algorithm: KeyedAlgorithm
  readonly tables: KeyTables
  readonly members: Members<N>
  /** Of the balancer that picks: its open leases are those acquired and not released. */
  readonly leases: LeaseCounters
  /** Throws where picks are no longer allowed. */
  readonly check: () => void
  /** Called before each pick, where members are another thread's: it may change them. */
  readonly catchUp: (() => void) | undefined
}

const NO_TABLE = KeyTable.ofCells([], new Uint32Array(0))

/**
 * Picks by keys, from a table that the engine built. A pick is a hash and a look at the table; both engines share it,
 * since a string that crosses into native code costs more than that.
 *
 * Large tables are built in the background when members change. Until one is there the one before is used: whoever has
 * left or is not up is passed over, on a ring with the very result of the table to come, and whoever is new gets no key
 * yet. Where less than half of those that are up are in the table, the next pick waits for the new one.
 */
export class KeyedPicks<N extends NodeLike> {
  /** Picks so far. */
  used = 0
  // What `pick` reads is plain: it is the hot path.
  private stale = true
  private table = NO_TABLE
  // By a node's number in the table: its member, where that may be picked now; that one's node; and how many picks there
  // were since. Members have the latter two as well, but thousands of members do not fit into the cache.
  private holders: (Member<N> | undefined)[] = []
  private nodes: (N | undefined)[] = []
  private picks = new Float64Array(0)
  // How many there are, and the sum of their weights.
  private up = 0
  private upWeight = 0
  private readonly bound: number | undefined
  private readonly hash: KeyHash
  private readonly catchUp: (() => void) | undefined
  readonly #options: KeyedPicksOptions<N>
  readonly #weightOf: WeightOf
  readonly #builder: TableBuilder
  readonly #keepsAbsent: boolean
  // Whether the table is of other nodes than it should be.
  #outdated = false
  // Until the table that is built in the background is there.
  #building: Promise<void> | undefined
  #failed = false
  #waiting = false

  constructor(options: KeyedPicksOptions<N>) {
    const { algorithm, tables } = options
    this.#options = options
    this.catchUp = options.catchUp
    this.bound = keyedOf(algorithm).bound(algorithm)
    this.hash = new KeyHash(algorithm.hash)
    this.#weightOf = weightsOf(algorithm)
    this.#builder = new TableBuilder(algorithm, tables)
    this.#keepsAbsent = keyedOf(algorithm).keepsAbsent
  }

  /** The hash of a key, signed. Throws BadKeyError. */
  hashOf(key: Key): number {
    return this.hash.signed(key)
  }

  /**
   * Picks for a hash, a 32-bit number, signed or not: the number of a node in the table; -1 where none is left there.
   * @param excluded ids of those that may not be picked this time
   */
  pick(hash: number, excluded?: readonly unknown[]): number {
    this.catchUp?.()
    if (this.stale) this.#sync()
    if (this.up === 0) return -1
    const { table } = this
    const place = table.placeOf(hash)
    let number = table.nodeAt(place)
    if (this.bound !== undefined || excluded !== undefined || this.nodes[number] === undefined) {
      number = this.#walk(place, excluded)
      if (number < 0) return -1
    }
    this.used++
    ;(this.picks[number] as number)++
    return number
  }

  /** The node of this number, as `pick` has just given it. */
  nodeOf(number: number): N {
    return this.nodes[number] as N
  }

  /** The member of this number, as `pick` has just given it. */
  memberOf(number: number): Member<N> {
    return this.holders[number] as Member<N>
  }

  /** Adds the picks so far to the members'. */
  countInMembers(): void {
    const { holders, picks } = this
    for (let i = 0; i < holders.length; i++) {
      const member = holders[i]
      if (member !== undefined) member.picks += picks[i] as number
    }
    picks.fill(0)
  }

  /** The first `count` distinct members from a hash on, fewer where fewer are up; the first is what `pick` gives. */
  replicas(hash: number, count: number): Member<N>[] {
    this.catchUp?.()
    if (this.stale) this.#sync()
    if (this.up === 0) return []
    const { table, holders } = this
    const first = table.placeOf(hash)
    const found = new Set<Member<N>>()
    const picked = holders[this.#walk(first, undefined)]
    if (picked !== undefined) found.add(picked)
    let place = first
    // Once around at most: a Maglev table may have no cell for some.
    for (let i = 0; i < table.length && found.size < Math.min(count, this.up); i++) {
      const member = holders[table.nodeAt(place)]
      if (member !== undefined) found.add(member)
      place = table.after(place)
    }
    return [...found]
  }

  /** The part of all hashes that each of these members has, 0-1. */
  shares(list: readonly Member<N>[]): Float64Array {
    if (this.stale) this.#sync()
    const { table, holders } = this
    const shares = new Map<Member<N>, number>()
    let waiting = 0
    // Twice around: what is passed over in the end is the first one's.
    for (let i = 0; this.up > 0 && i < 2 * table.length; i++) {
      const isFirstTurn = i < table.length
      const place = isFirstTurn ? i : i - table.length
      if (isFirstTurn) waiting += table.shareOf(place)
      else if (waiting === 0) break
      const holder = holders[table.nodeAt(place)]
      if (holder === undefined) continue
      shares.set(holder, (shares.get(holder) ?? 0) + waiting)
      waiting = 0
    }
    return Float64Array.from(list, (member) => shares.get(member) ?? 0)
  }

  /** Makes the next pick look at the members anew, and starts to build a table for them soon. */
  invalidate(): void {
    this.stale = true
    this.#buildSoon()
  }

  /** Resolves when the table is of the members as they are now. Rejects where picks are no longer allowed. */
  async settled(): Promise<void> {
    this.catchUp?.()
    if (this.stale) this.#sync()
    if (this.#outdated) this.#start()
    while (this.#building !== undefined) await this.#building
  }

  // The number of the first from a place on that may be picked: one below its bound, or where none that is left is, the
  // first; -1 where none is left.
  #walk(from: number, ids: readonly unknown[] | undefined): number {
    const { table, holders, bound } = this
    const excluded = ids === undefined ? undefined : new Set(ids.map((id) => this.#holderOf(id)))
    excluded?.delete(undefined)
    if (this.up <= (excluded?.size ?? 0)) return -1
    const { acquired, released } = this.#options.leases
    // What a member may have in flight, for each unit of its weight.
    const most = bound === undefined ? undefined : (bound * (acquired - released + 1)) / this.upWeight
    let first = -1
    let place = from
    for (let i = 0; i < table.length; i++) {
      const number = table.nodeAt(place)
      const member = holders[number]
      if (member !== undefined && !excluded?.has(member)) {
        if (most === undefined) return number
        const { weight } = table.nodes[number] as KeyNode
        if (member.open < Math.ceil(most * weight)) return number
        if (first < 0) first = number
      }
      place = table.after(place)
    }
    return first
  }

  #holderOf(id: unknown): Member<N> | undefined {
    const member = typeof id === 'string' ? this.#options.members.find(id) : undefined
    const number = member && this.table.numbers.get(member.key)
    return number !== undefined && this.holders[number] === member ? member : undefined
  }

  // Takes in who the members are and which of them are up: what a pick waits for, so it is short.
  #sync(): void {
    this.#options.check()
    const { missing, nodes, weight } = this.#hold()
    if (this.#outdated && (this.#failed || missing > this.up || this.#builder.isFast(nodes, weight))) {
      this.table = this.#builder.build(this.#next())
      this.#failed = false
      this.#hold()
    }
    this.stale = false
  }

  // Finds the members of the table's nodes. Returns how many members are up that the table does not have, and how many
  // nodes it should have, with the sum of their weights.
  #hold(): { readonly missing: number; readonly nodes: number; readonly weight: number } {
    const { nodes, numbers } = this.table
    const holders = new Array<Member<N> | undefined>(nodes.length).fill(undefined)
    const heldNodes = new Array<N | undefined>(nodes.length).fill(undefined)
    // Which of the table's nodes have a member, and keys that it does not have: whether a member of theirs is up.
    const kept = new Uint8Array(nodes.length)
    const added = new Map<string, boolean>()
    let count = 0
    let total = 0
    this.up = 0
    this.upWeight = 0
    for (const member of this.#options.members.all()) {
      const { key, up } = member
      if (!this.#isWanted(member)) continue
      const number = numbers.get(key)
      if (number === undefined) {
        if (!added.has(key)) total += this.#weightOf(key)
        added.set(key, up || added.get(key) === true)
        continue
      }
      if (kept[number] === 0) {
        kept[number] = 1
        count++
        total += this.#weightOf(key)
      }
      if (!up) continue
      if (holders[number] === undefined) {
        this.up++
        this.upWeight += (nodes[number] as KeyNode).weight
      }
      // Of several with one key the member that joined last: it replaces the others.
      holders[number] = member
      heldNodes[number] = member.node
    }
    this.countInMembers()
    this.holders = holders
    this.nodes = heldNodes
    this.picks = new Float64Array(nodes.length)
    this.#outdated = added.size > 0 || count < nodes.length
    const missing = [...added.values()].filter((up) => up).length
    return { missing, nodes: count + added.size, weight: total }
  }

  // A ring lets keys of a member that is not up walk on, which comes to the same as a ring without it; with a Maglev
  // table it does not.
  #isWanted({ key, up }: Member<N>): boolean {
    return (up || this.#keepsAbsent) && this.#weightOf(key) > 0
  }

  // The nodes that the table should be of.
  #next(): readonly KeyNode[] {
    const { nodes, numbers } = this.table
    const wanted = new Set<string>()
    const added: KeyNode[] = []
    for (const member of this.#options.members.all()) {
      const { key: id } = member
      if (wanted.has(id) || !this.#isWanted(member)) continue
      wanted.add(id)
      if (!numbers.has(id)) added.push({ id, hashes: this.hash.ofId(id), weight: this.#weightOf(id) })
    }
    const stay = nodes.filter(({ id }) => wanted.has(id))
    // Those that stay are in order, which makes for a short sort.
    return [...stay, ...added].sort(inOrder)
  }

  // Once, however many members change in this turn.
  #buildSoon(): void {
    if (this.#waiting) return
    this.#waiting = true
    queueMicrotask(() => {
      this.#waiting = false
      this.#goOn()
    })
  }

  // Here is no caller to be told that the balancer is closed, or what is wrong: the next pick is.
  #goOn(): void {
    try {
      if (this.stale) this.#sync()
      if (this.#outdated) this.#start()
    } catch {
      this.stale = true
    }
  }

  #start(): void {
    this.#building ??= this.#build(this.#next())
  }

  async #build(nodes: readonly KeyNode[]): Promise<void> {
    const before = this.table
    try {
      const table = await this.#builder.buildLater(nodes)
      // Else one was built at once meanwhile, of later members.
      if (this.table === before) this.table = table
    } catch {
      // The next pick builds it, and is told what is wrong.
      this.#failed = true
    }
    this.#building = undefined
    this.stale = true
    // Members may have changed meanwhile: then the next table is built.
    if (!this.#failed) this.#goOn()
  }
}
