import { COUNT_BITS, COUNT_MASK, countTag, IN_FLIGHT_WORD, NO_SLOT, slotWord } from '../../table/layout.js'
import type { TableMemory } from '../../table/memory.js'

/** Never the tag of a slot: these have 12 bits. */
const NO_TAG = -1

/** Requests in flight at some nodes, by index, as they are when they are asked for. */
export class Flights {
  // A view from before the table grew still shows the slots that it had.
  readonly #words: Int32Array
  readonly #places: Int32Array
  readonly #tags: Int32Array

  /** @param slots of the nodes, or `NO_SLOT` */
  constructor(memory: TableMemory, slots: Uint32Array, generations: Uint32Array) {
    this.#places = new Int32Array(slots.length)
    this.#tags = new Int32Array(slots.length).fill(NO_TAG)
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i] as number
      if (slot === NO_SLOT || !memory.has(slot)) continue
      this.#places[i] = slotWord(slot) + IN_FLIGHT_WORD
      this.#tags[i] = countTag(generations[i] as number)
    }
    this.#words = memory.words
  }

  /** 0 where the node has no slot, or its slot belongs to another node now. */
  at(index: number): number {
    // A plain read: one word can't be torn, a count of a moment ago does as well, and an atomic one costs five times as much.
    const word = this.#words[this.#places[index] as number] as number
    return word >>> COUNT_BITS === this.#tags[index] ? word & COUNT_MASK : 0
  }
}
