import { COUNT_BITS, IN_FLIGHT_WORD, MAGIC_WORD, NO_SLOT, slotWord } from '../../table/layout.js'
import type { TableMemory } from '../../table/memory.js'

// Of this module's own: what is imported is no constant to the compiler, but looked up each time.
const BITS = COUNT_BITS

/** Requests in flight at some nodes, by index, as they are when they are asked for. */
export class Flights {
  /** The table. A view from before it grew still shows the slots that it had. */
  readonly words: Int32Array
  /**
   * For each node the place of its word, and what that is where none are in flight: with other upper bits it counts those of
   * another node. A word of the header that never has the tag 0 stands for no slot.
   */
  readonly places: Int32Array

  /** @param slots of the nodes, or `NO_SLOT` */
  constructor(memory: TableMemory, slots: Uint32Array, generations: Uint32Array) {
    this.places = new Int32Array(2 * slots.length)
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i] as number
      const has = slot !== NO_SLOT && memory.has(slot)
      this.places[2 * i] = has ? slotWord(slot) + IN_FLIGHT_WORD : MAGIC_WORD
      this.places[2 * i + 1] = has ? (generations[i] as number) << BITS : 0
    }
    this.words = memory.words
  }

  /** 0 where the node has no slot, or its slot belongs to another node now. */
  at(index: number): number {
    const { places } = this
    // A plain read: one word can't be torn, a count of a moment ago does as well, and an atomic one costs five times as much.
    const count = (this.words[places[index << 1] as number] as number) ^ (places[(index << 1) | 1] as number)
    return count >>> BITS === 0 ? count : 0
  }
}
