import type { WeightOf } from '../algorithms/weights.js'
import type { MemberArrays } from '../engine/engine.js'
import { DuplicateNodeError } from '../errors.js'
import { NO_SLOT } from '../table/layout.js'
import { type Member, newMember, type Place } from './member.js'
import { JOINED } from './member-changes.js'
import { MemberList } from './member-list.js'
import { idOf, type KeyOf, type NodeLike } from './node.js'
import { type MemberOrder, type Standing, Standings, type Told } from './standings.js'
import { taken } from './taken-places.js'

/** How members stand to each other by whoever found them. */
export type Rank = Pick<Standing, 'tier' | 'part'>

/** Gives nodes their places in the table and takes them back. */
export interface Places {
  /** Gives each of these nodes a place, or none of them: then it throws. */
  claimAll(ids: readonly string[]): Place[]
  unclaim(place: Place): void
}

/**
 * The members of one balancer, in the order in which they are picked by index. Changes are cheap; the arrays that
 * engines read are made anew when they are next asked for. A change runs no code of the user's, which might change the
 * members too: ids come with the nodes, and are not read off them here.
 */
export class Members<N extends NodeLike> {
  readonly #places: Places
  readonly #keyOf: KeyOf
  readonly #standings: Standings
  readonly #byId = new Map<string, Member<N>>()
  readonly #bySlot = new Map<number, Member<N>>()
  readonly #ordered: MemberList<N>
  #restood: Set<Member<N>> | undefined

  /**
   * @param weightOf the fixed weight of a node by its key, at least 0
   * @param keyOf the key of a node; its id unless it has another. Throws BadNodeError
   */
  constructor(places: Places, weightOf: WeightOf, keyOf: KeyOf = (_node, id) => id) {
    this.#places = places
    this.#keyOf = keyOf
    this.#standings = new Standings(weightOf)
    this.#ordered = new MemberList(weightOf)
  }

  get size(): number {
    return this.#byId.size
  }

  /** Who may be picked. */
  get standings(): Readonly<Standings> {
    return this.#standings
  }

  /** Whether the arrays are out of date. */
  get stale(): boolean {
    return this.#ordered.stale
  }

  /** The members, by index. */
  get list(): readonly Member<N>[] {
    return this.#ordered.list
  }

  /** The members in no order that counts: without making anything anew. */
  all(): Iterable<Member<N>> {
    return this.#byId.values()
  }

  /** Their nodes, by index: frozen, another array after each change. */
  get nodes(): readonly N[] {
    return this.#ordered.nodes
  }

  /** The same, another array after each change, that is not frozen: which makes elements slow to read. Change nothing in it. */
  get plainNodes(): readonly N[] {
    return this.#ordered.plainNodes
  }

  /** The nodes of those that may be picked, by index: another array after each change. */
  get available(): readonly N[] {
    return this.#ordered.available
  }

  /** Their places, by index: another array after each change. */
  get places(): readonly Place[] {
    return this.#ordered.places
  }

  get arrays(): MemberArrays {
    return this.#ordered.arrays
  }

  find(id: string): Member<N> | undefined {
    return this.#byId.get(id)
  }

  /** The member in a slot of the table, where it is the one of this slot generation. */
  at(slot: number, generation: number): Member<N> | undefined {
    const member = this.#bySlot.get(slot)
    return member?.generation === generation ? member : undefined
  }

  /** The index of a member, or -1. */
  indexOf(id: unknown): number {
    if (this.stale) this.#ordered.sync()
    return typeof id === 'string' ? (this.#byId.get(id)?.index ?? -1) : -1
  }

  /** The indices of those ids that are members. */
  indicesOf(ids: readonly unknown[]): Uint32Array {
    const indices = new Uint32Array(ids.length)
    let count = 0
    for (const id of ids) {
      const index = this.indexOf(id)
      if (index >= 0) indices[count++] = index
    }
    return indices.subarray(0, count)
  }

  /**
   * False where the node is a member already; one that this process drains is so no longer. Call `settle` after this and
   * the other changes. Throws TableError where it is full.
   * @param id the node's
   */
  add(node: N, id: string): boolean {
    const known = this.#byId.get(id)
    if (known !== undefined) return this.order(known, 'up')
    const key = this.#keyOf(node, id)
    const [place] = this.#places.claimAll([id])
    this.#ordered.push(this.#enter(newMember(node, key, place as Place)))
    return true
  }

  /** False where no such node is a member. */
  remove(id: string): boolean {
    const member = this.#byId.get(id)
    if (member === undefined) return false
    this.#byId.delete(id)
    this.#ordered.takeOut(member)
    this.#restood?.delete(member)
    if (this.#bySlot.get(member.slot) === member) this.#bySlot.delete(member.slot)
    this.#standings.leave(member)
    this.#places.unclaim(member.place)
    return true
  }

  /**
   * Makes these the members, in this order. Those that stay keep place, standing and counts. Returns those who left. Throws
   * DuplicateNodeError, BadNodeError, or TableError where it is full, and changes nothing then.
   * @param ids of the nodes
   */
  set(nodes: readonly N[], ids: readonly string[]): Member<N>[] {
    const keys = nodes.map((node, i) => this.#keyOf(node, ids[i] as string))
    const { list } = this
    const stays = new Uint8Array(list.length)
    const found = this.#find(ids, stays)
    const places = this.#places.claimAll(ids.filter((_, i) => found[i] === undefined))
    const left = list.filter((_, i) => stays[i] === 0)
    for (const { id } of left) this.remove(id)
    let entered = 0
    const order = nodes.map((node, i) => {
      const key = keys[i] as string
      const member = found[i]
      if (member === undefined) return this.#enter(newMember(node, key, places[entered++] as Place))
      if (this.#rekey(member, key) || member.node !== node) this.#ordered.note(member)
      member.node = node
      return member
    })
    this.#ordered.replace(order)
    return left
  }

  // Those of these ids that are members, which are marked by index. Most stand behind the one before, and are not looked up.
  #find(ids: readonly string[], stays: Uint8Array): (Member<N> | undefined)[] {
    const { list } = this
    const joined = new Set<string>()
    let next = 0
    return ids.map((id) => {
      const member = list[next]?.id === id ? list[next] : this.#byId.get(id)
      if (member === undefined ? joined.has(id) : stays[member.index] === 1) throw new DuplicateNodeError(id)
      if (member === undefined) joined.add(id)
      else {
        stays[member.index] = 1
        next = member.index + 1
      }
      return member
    })
  }

  /**
   * Lets some go and takes in others, who get their places; the last ones get those that are left empty. All others keep
   * their index, and so their place in turns.
   * @param joined of which none is a member, with their ids
   */
  change(left: readonly Member<N>[], joined: readonly Joined<N>[]): void {
    const list: (Member<N> | undefined)[] = this.list.slice()
    for (const { index } of left) list[index] = undefined
    const entered = this.#newMembers(joined)
    for (const { id } of left) this.remove(id)
    for (const member of entered) this.#enter(member)
    this.#ordered.replace(taken(list, entered))
  }

  /**
   * Takes over a change of another thread's members, which were the same as these before it.
   * @param runs where the members after it come from, by index: see `MemberChange`
   * @returns those who left
   */
  rearrange(runs: Uint32Array, joined: readonly N[]): Member<N>[] {
    const { list } = this
    const entered = this.#newMembers(joined.map((node) => ({ id: idOf(node), node })))
    const stays = new Uint8Array(list.length)
    const order: Member<N>[] = []
    let next = 0
    for (let i = 0; i < runs.length; i += 2) {
      const from = runs[i] as number
      const count = runs[i + 1] as number
      if (from === JOINED)
        for (const end = next + count; next < end; next++) order.push(entered[next] as Member<N>)
      else for (let at = from; at < from + count; at++) order.push(list[at] as Member<N>)
      if (from !== JOINED) stays.fill(1, from, from + count)
    }
    const left = list.filter((_, i) => stays[i] === 0)
    for (const { id } of left) this.remove(id)
    for (const member of entered) this.#enter(member)
    this.#ordered.replace(order)
    return left
  }

  /** Takes in that members got a slot of the table later than they came. Returns whether there are any. */
  seated(places: readonly Place[]): boolean {
    let any = false
    for (const place of places) {
      const member = this.#byId.get(place.id)
      if (member === undefined || member.slot !== NO_SLOT) continue
      Object.assign(member, { place, slot: place.slot, generation: place.generation })
      this.#bySlot.set(place.slot, member)
      this.#ordered.note(member)
      any = true
    }
    return any
  }

  /** Takes another element for a member of the same id. */
  renew(member: Member<N>, node: N): void {
    const key = this.#keyOf(node, member.id)
    member.node = node
    this.#rekey(member, key)
    this.#note(member)
  }

  /** Takes in how whoever found a member ranks it. False where it was so before. */
  rank(member: Member<N>, { tier, part }: Rank): boolean {
    if (member.tier === tier && member.part === part) return false
    this.#standings.leave(member)
    member.tier = tier
    member.part = part
    this.#standings.enter(member)
    this.#note(member)
    return true
  }

  /** Takes the key that another thread found for a member. */
  rekey(member: Member<N>, key: string): void {
    if (this.#rekey(member, key)) this.#note(member)
  }

  /** Takes an order of this process. False where it was so before. */
  order(member: Member<N>, order: MemberOrder): boolean {
    if (member.order === order) return false
    member.order = order
    this.update(member)
    return true
  }

  /** Takes what a node told of itself; what is left out stays. False where it is what it told before. */
  tell(member: Member<N>, { state, weight, maxInFlight }: Told): boolean {
    const { told } = member
    const next = {
      state: state ?? told.state,
      weight: weight ?? told.weight,
      maxInFlight: maxInFlight ?? told.maxInFlight,
    }
    if (next.state === told.state && next.weight === told.weight && next.maxInFlight === told.maxInFlight) {
      return false
    }
    member.told = next
    this.update(member)
    return true
  }

  /** Takes in what was changed of a member's standing. */
  update(member: Member<N>): void {
    this.#restood?.add(member)
    if (this.#standings.update(member)) this.#note(member)
  }

  /** Those that may stand in another way than at the last call, which began to note them; none at the first call. */
  takeRestood(): ReadonlySet<Member<N>> {
    const restood = this.#restood
    this.#restood = new Set()
    return restood ?? this.#restood
  }

  /** Decides who may be picked, after all changes. */
  settle(): void {
    if (!this.#standings.settle(this.#byId.values())) return
    for (const member of this.#byId.values()) this.#note(member)
  }

  clear(): void {
    for (const id of [...this.#byId.keys()]) this.remove(id)
    this.settle()
  }

  // Its grade depends on the weight of its key.
  #rekey(member: Member<N>, key: string): boolean {
    if (member.key === key) return false
    member.key = key
    this.#standings.update(member)
    this.#restood?.add(member)
    return true
  }

  #newMembers(joined: readonly Joined<N>[]): Member<N>[] {
    // Keys first: one that is not valid leaves the members as they were.
    const keys = joined.map(({ id, node }) => this.#keyOf(node, id))
    const places = this.#places.claimAll(joined.map(({ id }) => id))
    return joined.map(({ node }, i) => newMember(node, keys[i] as string, places[i] as Place))
  }

  #enter(member: Member<N>): Member<N> {
    this.#byId.set(member.id, member)
    this.#standings.enter(member)
    // It may have left a moment ago, and have the same place again.
    this.#restood?.add(member)
    if (member.slot !== NO_SLOT) this.#bySlot.set(member.slot, member)
    return member
  }

  #note(member: Member<N>): void {
    this.#ordered.note(member)
    this.#restood?.add(member)
  }
}

interface Joined<N> {
  readonly id: string
  readonly node: N
}
