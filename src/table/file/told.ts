import type { PlacedTold } from '../../poller/told.js'
import type { NodeState } from '../../report.js'
import * as table from '../layout.js'
import type { TableMemory } from '../memory.js'
import type { Seat } from './directory.js'
import * as layout from './layout.js'
import type { TableFile } from './table-file.js'

const STATES: readonly NodeState[] = ['up', 'drain', 'maint', 'down']
const STATE_BITS = 3
const STATE_MASK = (1 << STATE_BITS) - 1
const TAG_MASK = (1 << table.TAG_BITS) - 1
const LIMIT_SHIFT = STATE_BITS + table.TAG_BITS
const LIMIT_MASK = (1 << table.COUNT_BITS) - 1

const whole = new BigUint64Array(1)
const halves = new Uint32Array(whole.buffer)
const single = new Float32Array(1)
const singleBits = new Uint32Array(single.buffer)

function encode({ generation, state, weight, maxInFlight }: PlacedTold): bigint {
  const stateBits = state === undefined ? 0 : STATES.indexOf(state) + 1
  const limit = maxInFlight === undefined ? 0 : Math.min(Math.floor(maxInFlight), LIMIT_MASK - 1) + 1
  halves[0] = (limit << LIMIT_SHIFT) | (table.readingTag(generation) << STATE_BITS) | stateBits
  single[0] = weight ?? Number.NaN
  halves[1] = weight === undefined ? 0 : ~(singleBits[0] as number)
  return whole[0] as bigint
}

function decode(word: bigint, { slot, generation }: Seat): PlacedTold | undefined {
  whole[0] = word
  const low = halves[0] as number
  if (((low >>> STATE_BITS) & TAG_MASK) !== table.readingTag(generation)) return undefined
  const state = STATES[(low & STATE_MASK) - 1]
  const limit = low >>> LIMIT_SHIFT
  const high = halves[1] as number
  singleBits[0] = ~high
  const weight = single[0] as number
  if (state === undefined && limit === 0 && high === 0) return undefined
  return {
    slot,
    generation,
    ...(state === undefined ? {} : { state }),
    ...(high === 0 || !(weight >= 0) ? {} : { weight }),
    ...(limit === 0 ? {} : { maxInFlight: limit - 1 }),
  }
}

/**
 * What nodes told of themselves last, for those processes that don't poll. One 64-bit word a slot: bits 63-32 the weight in
 * single precision, all bits inverted (0: none), bits 31-12 most in flight plus 1 (0: none), bits 11-3 the slot generation's
 * low 9 bits, bits 2-0 the state (0: none).
 */
export class ToldWords {
  readonly #header: Int32Array
  readonly #words: BigUint64Array
  readonly #memory: TableMemory
  // What this thread knows already.
  readonly #known = new Map<number, bigint>()
  #seen: number | undefined

  constructor(file: TableFile) {
    this.#memory = file.memory
    this.#header = new Int32Array(file.shared, 0, layout.SHARED_HEADER_BYTES / 4)
    this.#words = new BigUint64Array(file.shared, layout.SHARED_HEADER_BYTES, file.shape.nodes)
  }

  /** Tells the other processes. A field that is left out is as it was. */
  tell(list: readonly PlacedTold[]): void {
    if (list.length === 0) return
    for (const told of list) this.#tell(told)
    Atomics.add(this.#header, layout.TOLD_VERSION_WORD, 1)
  }

  /** What was told of these nodes since the last time. */
  look(seats: Iterable<Seat>): PlacedTold[] {
    const version = Atomics.load(this.#header, layout.TOLD_VERSION_WORD)
    if (version === this.#seen) return []
    this.#seen = version
    const news: PlacedTold[] = []
    for (const seat of seats) {
      // It waits for a slot.
      if (seat.slot === table.NO_SLOT) continue
      const word = Atomics.load(this.#words, seat.slot)
      if (this.#known.get(seat.slot) === word) continue
      this.#known.set(seat.slot, word)
      const told = decode(word, seat)
      if (told !== undefined) news.push(told)
    }
    return news
  }

  /** What was told of the node in this slot is news again. */
  forget(slot: number): void {
    this.#known.delete(slot)
    this.#seen = undefined
  }

  /** Forgets what the last node of a slot told. Alone, before the slot is another node's. */
  clear(slot: number): void {
    Atomics.store(this.#words, slot, 0n)
    this.#known.delete(slot)
  }

  #tell(told: PlacedTold): void {
    const { slot, generation } = told
    // The tag of the word comes round after 512 nodes.
    if (!this.#memory.isOf(slot, generation)) return
    for (;;) {
      const before = Atomics.load(this.#words, slot)
      const next = encode({ ...decode(before, { ...told, id: '' }), ...told })
      if (Atomics.compareExchange(this.#words, slot, before, next) !== before) continue
      this.#known.set(slot, next)
      return
    }
  }
}
