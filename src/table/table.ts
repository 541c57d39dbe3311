import type { Clock } from '../clock.js'
import type { Report } from '../report.js'
import * as layout from './layout.js'
import { createMemory, type TableMemory } from './memory.js'
import { encodeReading, publish } from './reading.js'
import { clearRegistration } from './registration.js'
import { clearReport, type StoreResult, writeReport } from './report.js'

/** A node that the table holds a slot for. */
export interface Entry {
  readonly id: string
  readonly slot: number
  /** The slot's generation while it belongs to this node. */
  readonly generation: number
  /** Balancers that have the node as a member. */
  references: number
}

/**
 * One slot a node, for every balancer and every thread that shares the table. Slots are given out on the thread that
 * made the table; any thread may read and write readings through the memory.
 */
export class Table {
  readonly memory: TableMemory
  readonly clock: Clock
  /** Steps whenever a node gets a slot or gives one back. */
  version = 0
  readonly #entries = new Map<string, Entry>()
  // First in, first out: a slot rests as long as possible, so that tags take longest to come round.
  readonly #free: number[] = []
  #freeHead = 0
  #used = 0

  constructor(clock: Clock, mostSlots?: number) {
    this.clock = clock
    this.memory = createMemory(clock.now(), mostSlots)
  }

  /** The nodes that have a slot, in the order in which they got it. */
  places(): IterableIterator<Entry> {
    return this.#entries.values()
  }

  /** How many nodes have a slot. */
  get size(): number {
    return this.#entries.size
  }

  find(id: string): Entry | undefined {
    return this.#entries.get(id)
  }

  /** Table time now, ms. */
  now(): number {
    return tableTime(this.memory, this.clock.now())
  }

  /** Gives the node a slot, or adds a reference to the one that it has. Throws TableError where the table is full. */
  claim(id: string): Entry {
    const known = this.#entries.get(id)
    if (known !== undefined) {
      known.references++
      return known
    }
    const slot = this.#takeSlot()
    const generation = Atomics.load(this.memory.words, layout.slotWord(slot)) >>> 0
    const entry: Entry = { id, slot, generation, references: 1 }
    this.#entries.set(id, entry)
    this.version++
    // Whoever took this node for an unknown one has to look again.
    publish(this.memory)
    return entry
  }

  /** Takes one reference back; with the last one the slot is emptied and may serve another node. */
  unclaim(entry: Entry): void {
    entry.references--
    if (entry.references > 0 || this.#entries.get(entry.id) !== entry) return
    this.#entries.delete(entry.id)
    this.version++
    this.#empty(entry)
    this.#free.push(entry.slot)
    this.publish()
  }

  /**
   * Offers a report of the node; see `writeReport`.
   * @param time table time of the sample, ms
   */
  write(entry: Entry, time: number, report: Report): StoreResult {
    return writeReport(this.memory, entry.slot, entry.generation, time, report)
  }

  /** Makes everything written so far visible to the picks of every thread. */
  publish(): void {
    publish(this.memory)
  }

  #takeSlot(): number {
    // Untouched slots first, so that those given back rest longer.
    if (this.#used < this.memory.capacity) return this.#used++
    if (this.#freeHead < this.#free.length) {
      const slot = this.#free[this.#freeHead++] as number
      if (this.#freeHead > 1024 && this.#freeHead * 2 > this.#free.length) {
        this.#free.splice(0, this.#freeHead)
        this.#freeHead = 0
      }
      return slot
    }
    this.memory.grow()
    return this.#used++
  }

  // The new tags shut out whoever still holds the old generation: late reports, late releases, meters.
  #empty(entry: Entry): void {
    const word = layout.slotWord(entry.slot)
    const { words, readings } = this.memory
    const generation = (entry.generation + 1) >>> 0
    Atomics.store(words, word + layout.SLOT_GENERATION_WORD, generation | 0)
    Atomics.store(readings, (word + layout.CPU_WORD) / 2, encodeReading(0, layout.readingTag(generation), -1))
    clearReport(this.memory, entry.slot, generation)
    clearRegistration(this.memory, entry.slot, generation)
    Atomics.store(words, word + layout.IN_FLIGHT_WORD, (layout.countTag(generation) << layout.COUNT_BITS) | 0)
  }
}

/** Table time of a moment of the table's clock. */
export function tableTime(memory: TableMemory, clockTime: number): number {
  return Math.floor(clockTime - memory.epoch) + layout.TIME_BIAS
}

/** Table time of a sample that was `age` ms old at table time `now`. */
export function sampleTime(now: number, age: number): number {
  return Math.max(0, now - Math.ceil(age))
}

/** Options of `createTable`. */
export interface TableOptions {
  /** Where time comes from; default the process's monotonic clock. */
  clock?: Clock
  /** Most nodes that the table can ever hold, 1 to 1,048,576; default 262,144. Address space only. */
  maxNodes?: number
}
