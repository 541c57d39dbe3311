import type { WeightOf } from '../algorithms/weights.js'
import { MEMBER_OUT, MEMBER_UP, type MemberArrays } from '../engine/engine.js'
import { NO_SLOT } from '../table/layout.js'
import { type Member, newMember, type Place } from './member.js'
import { JOINED } from './member-changes.js'
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
  readonly #weightOf: WeightOf
  readonly #keyOf: KeyOf
  readonly #standings: Standings
  readonly #byId = new Map<string, Member<N>>()
  readonly #bySlot = new Map<number, Member<N>>()
  // By index, and those who left since the last look: they are not in `#byId`.
  #order: Member<N>[] = []
  #list: readonly Member<N>[] = []
  #nodes: readonly N[] = Object.freeze([])
  // Made when it is asked for.
  #available: readonly N[] | undefined
  #arrays: MemberArrays
  #stale = false

  /**
   * @param weightOf the fixed weight of a node by its key, at least 0
   * @param keyOf the key of a node; its id unless it has another. Throws BadNodeError
   */
  constructor(places: Places, weightOf: WeightOf, keyOf: KeyOf = (_node, id) => id) {
    this.#places = places
    this.#keyOf = keyOf
    this.#weightOf = weightOf
    this.#standings = new Standings(weightOf)
    this.#arrays = arraysOf([], weightOf)
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
    return this.#stale
  }

  /** The members, by index. */
  get list(): readonly Member<N>[] {
    this.#sync()
    return this.#list
  }

  /** The members in no order that counts: without making anything anew. */
  all(): Iterable<Member<N>> {
    return this.#byId.values()
  }

  /** Their nodes, by index: frozen, another array after each change. */
  get nodes(): readonly N[] {
    this.#sync()
    return this.#nodes
  }

  /** The nodes of those that may be picked, by index: another array after each change. */
  get available(): readonly N[] {
    this.#sync()
    this.#available ??= Object.freeze(this.#list.flatMap(({ up, node }) => (up ? [node] : [])))
    return this.#available
  }

  get arrays(): MemberArrays {
    this.#sync()
    return this.#arrays
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
    this.#sync()
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
    this.#order.push(this.#enter(newMember(node, key, place as Place)))
    this.#stale = true
    return true
  }

  /** False where no such node is a member. */
  remove(id: string): boolean {
    const member = this.#byId.get(id)
    if (member === undefined) return false
    this.#byId.delete(id)
    if (this.#bySlot.get(member.slot) === member) this.#bySlot.delete(member.slot)
    this.#standings.leave(member)
    this.#places.unclaim(member.place)
    this.#stale = true
    return true
  }

  /**
   * Makes these the members, in this order. Those that stay keep place, standing and counts.
   * @param ids of the nodes, each once
   */
  set(nodes: readonly N[], ids: readonly string[]): void {
    const next = new Map<string, Member<N>>()
    // Keys first: one that is not valid leaves the members as they were.
    const keys = nodes.map((node, i) => this.#keyOf(node, ids[i] as string))
    const places = this.#places.claimAll(ids.filter((id) => !this.#byId.has(id)))
    let entered = 0
    nodes.forEach((node, i) => {
      const id = ids[i] as string
      next.set(id, this.#byId.get(id) ?? newMember(node, keys[i] as string, places[entered++] as Place))
    })
    for (const id of [...this.#byId.keys()]) if (!next.has(id)) this.remove(id)
    for (const [id, member] of next) if (!this.#byId.has(id)) this.#enter(member)
    this.#order = nodes.map((node, i) => {
      const member = next.get(ids[i] as string) as Member<N>
      member.node = node
      this.#rekey(member, keys[i] as string)
      return member
    })
    this.#stale = true
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
    this.#order = taken(list, entered)
    this.#stale = true
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
    this.#order = order
    this.#stale = true
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
      any = true
    }
    if (any) this.#stale = true
    return any
  }

  /** Takes another element for a member of the same id. */
  renew(member: Member<N>, node: N): void {
    const key = this.#keyOf(node, member.id)
    member.node = node
    this.#rekey(member, key)
    this.#stale = true
  }

  /** Takes in how whoever found a member ranks it. False where it was so before. */
  rank(member: Member<N>, { tier, part }: Rank): boolean {
    if (member.tier === tier && member.part === part) return false
    this.#standings.leave(member)
    member.tier = tier
    member.part = part
    this.#standings.enter(member)
    this.#stale = true
    return true
  }

  /** Takes the key that another thread found for a member. */
  rekey(member: Member<N>, key: string): void {
    if (this.#rekey(member, key)) this.#stale = true
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
    if (this.#standings.update(member)) this.#stale = true
  }

  /** Decides who may be picked, after all changes. */
  settle(): void {
    if (this.#standings.settle(this.#byId.values())) this.#stale = true
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
    if (member.slot !== NO_SLOT) this.#bySlot.set(member.slot, member)
    return member
  }

  #sync(): void {
    if (!this.#stale) return
    this.#stale = false
    if (this.#order.length > this.#byId.size) {
      this.#order = this.#order.filter((member) => this.#byId.get(member.id) === member)
    }
    const list = this.#order.slice()
    for (let i = 0; i < list.length; i++) (list[i] as Member<N>).index = i
    this.#list = list
    this.#available = undefined
    this.#nodes = Object.freeze(this.#list.map((member) => member.node))
    this.#arrays = arraysOf(this.#list, this.#weightOf)
  }
}

interface Joined<N> {
  readonly id: string
  readonly node: N
}

/** What engines read of these places; all are up but those of members that may not be picked, and of weight 0. */
export function arraysOf(
  list: readonly (Place & { readonly key?: string; readonly up?: boolean })[],
  weightOf: WeightOf,
): MemberArrays {
  const slots = new Uint32Array(list.length)
  const generations = new Uint32Array(list.length)
  const states = new Uint8Array(list.length)
  const weights = new Float64Array(list.length).fill(1)
  for (const [i, { id, key = id, slot, generation, up = true }] of list.entries()) {
    const weight = weightOf(key)
    slots[i] = slot
    generations[i] = generation
    states[i] = up && weight > 0 ? MEMBER_UP : MEMBER_OUT
    if (weight > 0) weights[i] = weight
  }
  return { slots, generations, states, weights }
}
