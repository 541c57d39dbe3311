import { TableError } from '../errors.js'
import { VERSION } from '../version.js'
import * as layout from './layout.js'

/** A table's memory: shared between threads where the platform allows it, plain where it does not. */
export type TableBuffer = SharedArrayBuffer | ArrayBuffer

/** Memory of so many bytes, which may grow. Browsers without cross-origin isolation have no SharedArrayBuffer. */
export function allocate(bytes: number, most: number): TableBuffer {
  return typeof SharedArrayBuffer === 'function'
    ? new SharedArrayBuffer(bytes, { maxByteLength: most })
    : new ArrayBuffer(bytes, { maxByteLength: most })
}

function canGrow(buffer: TableBuffer): boolean {
  return 'growable' in buffer ? buffer.growable : buffer.resizable === true
}

// Of this module's own: what is imported is no constant to the compiler, but looked up each time.
const HEADER_WORDS = layout.HEADER_WORDS
const SLOT_WORDS = layout.SLOT_BYTES / 4

function bytesFor(slots: number): number {
  return layout.HEADER_BYTES + slots * layout.SLOT_BYTES
}

// Doubling, then steps of 1,024: growth copies nothing, so small steps cost nothing and waste no memory.
function nextCapacity(capacity: number, most: number): number {
  return Math.min(most, capacity < 1024 ? capacity * 2 : capacity + 1024)
}

const FIRST_CAPACITY = 64

/** Keeps account of which threads use the named metrics of a table that several processes have. */
export interface NameUse {
  /** This thread uses the metric of this number among the named ones from now on. */
  use(named: number): void
  /** It does not. */
  drop(named: number): void
  /**
   * Frees the metrics that no thread uses.
   * @param name the one that there is no room for
   * @throws TableError where there is none
   */
  reclaim(name: string): void
}

/**
 * Views over a table's buffer for one thread. The buffer grows in place, so its address never changes; the views have
 * fixed lengths (length-tracking ones are twenty times slower to read) and are made anew when a slot lies beyond them.
 */
export class TableMemory {
  readonly buffer: TableBuffer
  /** The header alone; stays valid for ever. */
  readonly header: Int32Array
  /** The header in 64-bit words; stays valid for ever. */
  readonly headerPairs: BigUint64Array
  /** Clock time that table time is counted from, ms. */
  readonly epoch: number
  readonly mostSlots: number
  /**
   * Whether another thread may count requests in flight in this memory: then they are counted atomically, which costs a quarter
   * of a lease.
   */
  countsAreShared = true
  /**
   * Where the memory is a file's or another thread's: the requests in flight that this thread counted, two words a slot: the
   * count, and the slot generation that it is of. With these they can be taken back when the process is killed or the thread
   * terminated.
   */
  ledger: Int32Array | undefined
  /** Where the memory is a file's: which of its named metrics this thread uses. */
  names: NameUse | undefined
  /** Called when the views were made anew, for more slots. */
  onGrown: (() => void) | undefined
  /** What the memory belongs to, kept with it. */
  keeper: unknown
  /** All words, by `slotWord`. Replaced when the table has grown: read it anew for each use. */
  words: Int32Array
  /** The same memory in 64-bit words: a slot's CPU reading is at `(slotWord(slot) + CPU_WORD) / 2`. */
  readings: BigUint64Array
  #bytes: Uint8Array

  /** Attaches to memory that `createMemory` made, on this thread or another. */
  constructor(buffer: TableBuffer) {
    this.buffer = buffer
    if (buffer.byteLength < layout.HEADER_BYTES) {
      throw new TableError(`a table's memory has at least ${layout.HEADER_BYTES} bytes`, buffer.byteLength)
    }
    this.header = new Int32Array(buffer, 0, layout.HEADER_WORDS)
    this.headerPairs = new BigUint64Array(buffer, 0, layout.HEADER_WORDS / 2)
    checkWord(this.header, layout.MAGIC_WORD, layout.MAGIC, 'magic')
    checkVersion(this.header)
    checkWord(this.header, layout.HEADER_BYTES_WORD, layout.HEADER_BYTES, 'header size')
    checkWord(this.header, layout.SLOT_BYTES_WORD, layout.SLOT_BYTES, 'slot size')
    this.mostSlots = (this.header[layout.MOST_SLOTS_WORD] as number) >>> 0
    this.epoch = new Float64Array(buffer, layout.EPOCH_WORD * 4, 1)[0] as number
    this.words = new Int32Array(0)
    this.readings = new BigUint64Array(0)
    this.#bytes = new Uint8Array(0)
    this.attach()
    if (this.capacity > this.mostSlots) {
      throw new TableError(`the table says that it has ${this.capacity} slots of at most ${this.mostSlots}`)
    }
  }

  /** Slots that the table has room for now; only grows. */
  get capacity(): number {
    return Atomics.load(this.header, layout.CAPACITY_WORD) >>> 0
  }

  /** Slots that the views have: no more than there is room for. */
  get slots(): number {
    return (this.words.length - HEADER_WORDS) / SLOT_WORDS
  }

  /** The buffer, for another thread that will count requests in it. */
  share(): TableBuffer {
    this.countsAreShared = true
    return this.buffer
  }

  /** The whole memory as bytes, for the native engine: another object after the table has grown. */
  bytes(): Uint8Array {
    this.attach()
    return this.#bytes
  }

  /** Whether `slot` can be read and written through the views; takes up growth by another thread. */
  has(slot: number): boolean {
    return (slot + 1) * SLOT_WORDS + HEADER_WORDS <= this.words.length || this.#hasGrownTo(slot)
  }

  #hasGrownTo(slot: number): boolean {
    this.attach()
    return (slot + 1) * SLOT_WORDS + HEADER_WORDS <= this.words.length
  }

  /**
   * Whether a slot is the one of this generation. The other words of a slot have only a few bits of that, which come round
   * after 512 or 4,096 nodes: a thread that writes for a node that may have left long ago looks here first.
   */
  isOf(slot: number, generation: number): boolean {
    return (
      slot !== layout.NO_SLOT &&
      this.has(slot) &&
      Atomics.load(this.words, layout.slotWord(slot) + layout.SLOT_GENERATION_WORD) === (generation | 0)
    )
  }

  /** Makes room for more slots. Picks go on meanwhile: nothing moves. For the thread that owns the table. */
  grow(): void {
    const capacity = this.capacity
    const next = nextCapacity(capacity, this.mostSlots)
    if (next === capacity) {
      throw new TableError(
        `the table is full: it holds at most ${this.mostSlots} nodes (createTable({ maxNodes }))`,
      )
    }
    if ('growable' in this.buffer) this.buffer.grow(bytesFor(next))
    else this.buffer.resize(bytesFor(next))
    Atomics.store(this.header, layout.CAPACITY_WORD, next)
    this.attach()
  }

  private attach(): void {
    const bytes = bytesFor(this.capacity)
    if (bytes > this.buffer.byteLength)
      throw new TableError('the table says that it is larger than its memory')
    if (bytes === this.#bytes.length) return
    this.words = new Int32Array(this.buffer, 0, bytes / 4)
    this.readings = new BigUint64Array(this.buffer, 0, bytes / 8)
    this.#bytes = new Uint8Array(this.buffer, 0, bytes)
    this.onGrown?.()
  }
}

function checkVersion(header: Int32Array): void {
  const found = header[layout.VERSION_WORD]
  if (found === layout.VERSION) return
  throw new TableError(
    `its table has layout version ${found}, and idlest ${VERSION} has version ${layout.VERSION}: all that share a table need the same version of idlest`,
    found,
  )
}

function checkWord(header: Int32Array, word: number, expected: number, what: string): void {
  if (header[word] !== expected) {
    throw new TableError(
      `this memory is not a table of this version: ${what} is not ${expected}`,
      header[word],
    )
  }
}

/**
 * Makes the memory of an empty table.
 * @param epoch the clock's time now, ms
 * @param mostSlots most nodes that it can ever hold; address space is reserved, memory is not
 */
export function createMemory(epoch: number, mostSlots: number = layout.DEFAULT_MOST_SLOTS): TableMemory {
  let capacity = Math.min(FIRST_CAPACITY, mostSlots)
  let buffer = allocate(bytesFor(capacity), bytesFor(mostSlots))
  if (!canGrow(buffer)) {
    // An engine without growable buffers gets all its slots at once.
    capacity = mostSlots
    buffer = allocate(bytesFor(capacity), bytesFor(mostSlots))
  }
  begin(buffer, epoch, mostSlots, capacity)
  const memory = new TableMemory(buffer)
  // Nobody else has it yet.
  memory.countsAreShared = false
  return memory
}

/** What the memory of an empty table begins with; the rest is zero. */
export function firstBytes(epoch: number, mostSlots: number, capacity: number): Uint8Array {
  const buffer = new ArrayBuffer(layout.HEADER_BYTES)
  begin(buffer, epoch, mostSlots, capacity)
  return new Uint8Array(buffer)
}

function begin(buffer: TableBuffer, epoch: number, mostSlots: number, capacity: number): void {
  const header = new Int32Array(buffer, 0, layout.HEADER_WORDS)
  header[layout.MAGIC_WORD] = layout.MAGIC
  header[layout.VERSION_WORD] = layout.VERSION
  header[layout.HEADER_BYTES_WORD] = layout.HEADER_BYTES
  header[layout.SLOT_BYTES_WORD] = layout.SLOT_BYTES
  header[layout.MOST_SLOTS_WORD] = mostSlots
  header[layout.CAPACITY_WORD] = capacity
  new Float64Array(buffer, layout.EPOCH_WORD * 4, 1)[0] = epoch
}
