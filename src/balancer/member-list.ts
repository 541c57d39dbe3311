import type { WeightOf } from '../algorithms/weights.js'
import type { MemberArrays } from '../engine/engine.js'
import type { Member, Place } from './member.js'
import { arraysOf, copiedArrays, putInto } from './member-arrays.js'
import type { NodeLike } from './node.js'

/** More than these leave the list together. */
const TAKEN_OUT_ONE_BY_ONE = 16

/**
 * Members in the order in which they are picked by index, and the arrays that others read of them: made anew when they are
 * next asked for, by copying the ones before and looking at those alone that changed. One of ten thousand often does.
 */
export class MemberList<N extends NodeLike> {
  readonly #weightOf: WeightOf
  // May have members that left, where `#hasGone`.
  #order: Member<N>[] = []
  #list: readonly Member<N>[] = []
  #plainNodes: readonly N[] = []
  #places: readonly Place[] = []
  // These two are made when they are asked for.
  #nodes: readonly N[] | undefined
  #available: readonly N[] | undefined
  #arrays: MemberArrays
  #stale = false
  // Since the arrays were made: who left, whether some of them are in `#order`, and who changed and stays.
  readonly #left = new Set<Member<N>>()
  #hasGone = false
  readonly #changed = new Set<Member<N>>()

  constructor(weightOf: WeightOf) {
    this.#weightOf = weightOf
    this.#arrays = arraysOf([], weightOf)
  }

  /** Whether the arrays are out of date. */
  get stale(): boolean {
    return this.#stale
  }

  get list(): readonly Member<N>[] {
    this.sync()
    return this.#list
  }

  /** Their nodes: frozen. */
  get nodes(): readonly N[] {
    this.sync()
    this.#nodes ??= Object.freeze(this.#plainNodes.slice())
    return this.#nodes
  }

  /** The same, not frozen. Change nothing in it. */
  get plainNodes(): readonly N[] {
    this.sync()
    return this.#plainNodes
  }

  /** The nodes of those that may be picked: frozen. */
  get available(): readonly N[] {
    this.sync()
    this.#available ??= Object.freeze(this.#list.flatMap(({ up, node }) => (up ? [node] : [])))
    return this.#available
  }

  get places(): readonly Place[] {
    this.sync()
    return this.#places
  }

  get arrays(): MemberArrays {
    this.sync()
    return this.#arrays
  }

  push(member: Member<N>): void {
    this.#order.push(member)
    this.#stale = true
  }

  /** Takes out a member. A few are taken out at once; of many each would have to be looked for, and move all behind it. */
  takeOut(member: Member<N>): void {
    this.#stale = true
    this.#changed.delete(member)
    this.#left.add(member)
    const from = member.index < 0 ? this.#order.length - 1 : member.index
    const place = this.#left.size > TAKEN_OUT_ONE_BY_ONE ? -1 : this.#order.lastIndexOf(member, from)
    if (place < 0) this.#hasGone = true
    else this.#order.splice(place, 1)
  }

  /** Takes another order of members: all that are there now, and none else. */
  replace(order: Member<N>[]): void {
    this.#order = order
    this.#hasGone = false
    this.#stale = true
  }

  /** Takes in that something of a member changed that the arrays have. */
  note(member: Member<N>): void {
    this.#changed.add(member)
    this.#stale = true
  }

  /** Brings arrays and indices up to date. */
  sync(): void {
    if (!this.#stale) return
    this.#stale = false
    if (this.#hasGone) this.#order = this.#order.filter((member) => !this.#left.has(member))
    this.#hasGone = false
    this.#left.clear()
    const before = this.#list
    const list = this.#order.slice()
    // Those that are added come in order, so that the arrays have no holes.
    const nodes = this.#plainNodes.slice(0, list.length)
    const places = this.#places.slice(0, list.length)
    const arrays = copiedArrays(this.#arrays, list.length)
    const take = (i: number, member: Member<N>) => {
      nodes[i] = member.node
      places[i] = member.place
      putInto(arrays, i, member, this.#weightOf)
    }
    for (let i = 0; i < list.length; i++) {
      const member = list[i] as Member<N>
      if (member === before[i]) continue
      member.index = i
      take(i, member)
    }
    for (const member of this.#changed) take(member.index, member)
    this.#changed.clear()
    this.#list = list
    this.#plainNodes = nodes
    this.#places = places
    this.#nodes = undefined
    this.#available = undefined
    this.#arrays = arrays
  }
}
