import type { WeightOf } from '../algorithms/algorithm.js'
import { MEMBER_OUT, MEMBER_UP, type MemberArrays } from '../engine/engine.js'
import { idOf, type NodeLike } from './node.js'

/** What a member is allowed. Only `up` ones are picked; `drain` finishes what it has. */
export type MemberState = 'up' | 'drain'

/** Where a member's readings and counts are in the table. */
export interface Place {
  readonly id: string
  readonly slot: number
  readonly generation: number
}

/** A node that one balancer may pick. */
export interface Member<N extends NodeLike = NodeLike> extends Place {
  /** The element that was given last. */
  node: N
  readonly place: Place
  /** As of the last look at the list. */
  index: number
  state: MemberState
  /** Picks since it became a member, but for those of the current block. */
  picks: number
  /** Leases of this balancer that are not released. */
  open: number
  /** Leases released since it became a member, and how they went. */
  released: number
  failed: number
  /** Sum of the latencies told at release, ms, and how many there were. */
  latencySum: number
  latencyCount: number
}

/** Gives nodes their places in the table and takes them back. */
export interface Places {
  claim(id: string): Place
  unclaim(place: Place): void
}

/**
 * The members of one balancer, in the order in which they are picked by index. Changes are cheap; the arrays that
 * engines read are made anew when they are next asked for.
 */
export class Members<N extends NodeLike> {
  readonly #places: Places
  readonly #weightOf: WeightOf
  readonly #byId = new Map<string, Member<N>>()
  #list: readonly Member<N>[] = []
  #nodes: readonly N[] = Object.freeze([])
  #arrays: MemberArrays
  #stale = false
  readonly #out = new Set<string>()

  /** @param weightOf the fixed weight of a node by its id, at least 0 */
  constructor(places: Places, weightOf: WeightOf) {
    this.#places = places
    this.#weightOf = weightOf
    this.#arrays = arraysOf([], weightOf)
  }

  get size(): number {
    return this.#byId.size
  }

  /** The ids of members that are not up. */
  get out(): ReadonlySet<string> {
    return this.#out
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

  get arrays(): MemberArrays {
    this.#sync()
    return this.#arrays
  }

  find(id: string): Member<N> | undefined {
    return this.#byId.get(id)
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

  /** False where the node is a member already; one that drains is up again. Throws TableError where it is full. */
  add(node: N): boolean {
    const id = idOf(node)
    const known = this.#byId.get(id)
    if (known !== undefined) return this.setState(known, 'up')
    this.#byId.set(id, newMember(node, this.#places.claim(id)))
    this.#stale = true
    return true
  }

  /** False where no such node is a member. */
  remove(id: string): boolean {
    const member = this.#byId.get(id)
    if (member === undefined) return false
    this.#byId.delete(id)
    this.#out.delete(id)
    this.#places.unclaim(member.place)
    this.#stale = true
    return true
  }

  /**
   * Makes these the members, in this order. Those that stay keep place, state and counts.
   * @param ids of the nodes, each once
   */
  set(nodes: readonly N[], ids: readonly string[]): void {
    const next = new Map<string, Member<N>>()
    try {
      nodes.forEach((node, i) => {
        const id = ids[i] as string
        next.set(id, this.#byId.get(id) ?? newMember(node, this.#places.claim(id)))
      })
    } catch (error) {
      // All or nothing: a table that is full leaves the members as they were.
      for (const [id, member] of next) if (!this.#byId.has(id)) this.#places.unclaim(member.place)
      throw error
    }
    for (const id of [...this.#byId.keys()]) if (!next.has(id)) this.remove(id)
    this.#byId.clear()
    nodes.forEach((node, i) => {
      const id = ids[i] as string
      const member = next.get(id) as Member<N>
      member.node = node
      this.#byId.set(id, member)
    })
    this.#stale = true
  }

  /** False where it was in that state. */
  setState(member: Member<N>, state: MemberState): boolean {
    if (member.state === state) return false
    if (state === 'up') this.#out.delete(member.id)
    else this.#out.add(member.id)
    member.state = state
    this.#stale = true
    return true
  }

  clear(): void {
    for (const id of [...this.#byId.keys()]) this.remove(id)
  }

  #sync(): void {
    if (!this.#stale) return
    this.#stale = false
    this.#list = [...this.#byId.values()]
    for (const [index, member] of this.#list.entries()) member.index = index
    this.#nodes = Object.freeze(this.#list.map((member) => member.node))
    this.#arrays = arraysOf(this.#list, this.#weightOf)
  }
}

function newMember<N extends NodeLike>(node: N, place: Place): Member<N> {
  return {
    id: place.id,
    slot: place.slot,
    generation: place.generation,
    node,
    place,
    index: -1,
    state: 'up',
    picks: 0,
    open: 0,
    released: 0,
    failed: 0,
    latencySum: 0,
    latencyCount: 0,
  }
}

/** What engines read of these places; all are up but those of members in another state, and of weight 0. */
export function arraysOf(
  list: readonly (Place & { readonly state?: MemberState })[],
  weightOf: WeightOf,
): MemberArrays {
  const slots = new Uint32Array(list.length)
  const generations = new Uint32Array(list.length)
  const states = new Uint8Array(list.length)
  const weights = new Float64Array(list.length).fill(1)
  for (const [i, { id, slot, generation, state = 'up' }] of list.entries()) {
    const weight = weightOf(id)
    slots[i] = slot
    generations[i] = generation
    states[i] = state === 'up' && weight > 0 ? MEMBER_UP : MEMBER_OUT
    if (weight > 0) weights[i] = weight
  }
  return { slots, generations, states, weights }
}
