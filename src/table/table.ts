import type { Clock } from '../clock.js'
import type { PlacedTold } from '../poller/told.js'
import type { Report } from '../report.js'
import type { Election } from './file/groups.js'
import type { FileSource } from './file/table-file.js'
import * as layout from './layout.js'
import { createMemory, type TableBuffer, type TableMemory } from './memory.js'
import { publish } from './reading.js'
import { type StoreResult, writeReport } from './report.js'
import { emptySlot } from './slot.js'

/** What another thread of this process attaches to a table with. */
export type TableSource = TableBuffer | FileSource

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
  /** @internal */
  readonly memory: TableMemory
  /** @internal */
  readonly clock: Clock
  /** @internal Steps whenever a node gets a slot or gives one back. */
  version = 0
  readonly #entries = new Map<string, Entry>()
  // First in, first out: a slot rests as long as possible, so that tags take longest to come round.
  readonly #free: number[] = []
  #freeHead = 0
  #used = 0

  /** @internal */
  constructor(clock: Clock, room?: number | TableMemory) {
    this.clock = clock
    this.memory = typeof room === 'object' ? room : createMemory(clock.now(), room)
  }

  /** What JSON has of it: not its memory. */
  toJSON(): object {
    return { nodes: this.size, capacity: this.memory.capacity }
  }

  /** What `console.log` shows: the same. */
  [Symbol.for('nodejs.util.inspect.custom')](): object {
    return this.toJSON()
  }

  /** @internal What a polling thread can attach to it with; undefined where it can't. */
  get source(): TableSource | undefined {
    const { buffer } = this.memory
    return typeof SharedArrayBuffer === 'function' && buffer instanceof SharedArrayBuffer ? buffer : undefined
  }

  /** @internal What another thread attaches to it with that will count requests in it. */
  share(): TableSource {
    return this.memory.share()
  }

  /** @internal Tells other processes that have the table what nodes told of themselves. */
  tell(_told: readonly PlacedTold[]): void {}

  /** @internal Calls `listener` with what nodes told other processes, until what is returned is called. */
  listen(_listener: (told: readonly PlacedTold[]) => void): () => void {
    return () => {}
  }

  /**
   * @internal Makes the balancers of one name choose who polls, where processes share the table; else undefined: each
   * polls.
   */
  elect(_name: string): Election | undefined {
    return undefined
  }

  /** @internal The nodes that have a slot, in the order in which they got it. */
  places(): IterableIterator<Entry> {
    return this.#entries.values()
  }

  /** How many nodes have a slot. */
  get size(): number {
    return this.#entries.size
  }

  /** @internal */
  find(id: string): Entry | undefined {
    return this.#entries.get(id)
  }

  /** @internal Table time now, ms. */
  now(): number {
    return tableTime(this.memory, this.clock.now())
  }

  /**
   * @internal Gives the node a slot, or adds a reference to the one that it has. Throws TableError where the table is
   * full.
   */
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

  /** @internal As `claim`, for many nodes: all of them, or none where it throws. */
  claimAll(ids: readonly string[]): Entry[] {
    const entries: Entry[] = []
    try {
      for (const id of ids) entries.push(this.claim(id))
    } catch (error) {
      for (const entry of entries) this.unclaim(entry)
      throw error
    }
    return entries
  }

  /**
   * @internal Calls `listener` with entries that got their slots later than they were claimed, until what is returned is
   * called: each replaces the one of its id that has none.
   */
  onSeated(_listener: (entries: readonly Entry[]) => void): () => void {
    return () => {}
  }

  /** @internal Takes one reference back; with the last one the slot is emptied and may serve another node. */
  unclaim(entry: Entry): void {
    entry.references--
    if (entry.references > 0 || this.#entries.get(entry.id) !== entry) return
    this.#entries.delete(entry.id)
    this.version++
    emptySlot(this.memory, entry.slot, (entry.generation + 1) >>> 0)
    this.#free.push(entry.slot)
    this.publish()
  }

  /**
   * @internal Offers a report of the node; see `writeReport`.
   * @param time table time of the sample, ms
   */
  write(entry: Entry, time: number, report: Report): StoreResult {
    return writeReport(this.memory, entry.slot, entry.generation, time, report)
  }

  /** @internal Makes everything written so far visible to the picks of every thread. */
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
  /** Where time comes from; default the process's monotonic clock. Not with `file`. */
  clock?: Clock | undefined
  /**
   * Most nodes that the table can ever hold, 1 to 1,048,576; default 262,144. Address space only. With `file`: default 4,096,
   * and room on the device, 650 bytes a node and 8 for each thread that uses it; the same for all who share the file.
   */
  maxNodes?: number | undefined
  /**
   * A file by which processes of one machine share the table; it is made where there is none. Best in memory, such as
   * `/dev/shm/my-service`. Linux alone, and with the native addon. Default: none, for this process alone.
   */
  file?: string | undefined
}
