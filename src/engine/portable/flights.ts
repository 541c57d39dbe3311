import { inFlight } from '../../table/in-flight.js'
import { NO_SLOT } from '../../table/layout.js'
import type { TableMemory } from '../../table/memory.js'

/** Requests in flight at some nodes, by index, as they are when they are asked for. */
export class Flights {
  readonly #memory: TableMemory
  readonly #slots: Uint32Array
  readonly #generations: Uint32Array

  /** @param slots of the nodes, or `NO_SLOT` */
  constructor(memory: TableMemory, slots: Uint32Array, generations: Uint32Array) {
    this.#memory = memory
    this.#slots = slots
    this.#generations = generations
  }

  at(index: number): number {
    const slot = this.#slots[index] as number
    return slot === NO_SLOT ? 0 : inFlight(this.#memory, slot, this.#generations[index] as number)
  }
}
