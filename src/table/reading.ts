import * as layout from './layout.js'
import type { TableMemory } from './memory.js'

/** What became of a reading that was offered to the table. */
export type WriteResult =
  /** It is the slot's reading now. */
  | 'stored'
  /** The slot has a sample that was taken later. */
  | 'older'
  /** The slot belongs to another node now, or to none. */
  | 'left'

// A BigInt is split by way of memory: twice as fast as by shifts, since these allocate.
const whole = new BigUint64Array(1)
const halves = new Uint32Array(whole.buffer)

// Where the parts of a reading lie in its two halves: the time is the upper half and the top bits of the lower one.
const { VALUE_BITS, TAG_BITS } = layout
const VALUE_MASK = (1 << VALUE_BITS) - 1
const TAG_MASK = (1 << TAG_BITS) - 1
const TIME_SHIFT = VALUE_BITS + TAG_BITS
const LOW_TIMES = 1 << (32 - TIME_SHIFT)

function timeOf(low: number, high: number): number {
  return high * LOW_TIMES + (low >>> TIME_SHIFT)
}

function tagOf(low: number): number {
  return (low >>> VALUE_BITS) & TAG_MASK
}

/** A time that a reading can hold. */
export function clamped(time: number): number {
  return Math.min(Math.max(time, 0), layout.TIME_MAX)
}

function readingIndex(slot: number): number {
  return (layout.slotWord(slot) + layout.CPU_WORD) / 2
}

/** One reading, taken out of the table at one moment. Reused: copy what is to be kept. */
export interface MutableReading {
  /** Table time of the sample, ms. */
  time: number
  tag: number
  /** CPU in 1/1000 percentage points, or -1 where there is none. */
  value: number
}

/** Reads a slot's CPU reading into `into`. A slot that the table does not have gives no reading. */
export function readReading(memory: TableMemory, slot: number, into: MutableReading): void {
  if (slot === layout.NO_SLOT || !memory.has(slot)) {
    into.time = 0
    into.tag = -1
    into.value = -1
    return
  }
  decodeReading(Atomics.load(memory.readings, readingIndex(slot)), into)
}

/** Takes the word of a reading apart. */
export function decodeReading(word: bigint, into: MutableReading): void {
  whole[0] = word
  const low = halves[0] as number
  into.time = timeOf(low, halves[1] as number)
  into.tag = tagOf(low)
  into.value = (low & VALUE_MASK) - 1
}

/** The word of a reading, as the layout has it. `value` -1: none. */
export function encodeReading(time: number, tag: number, value: number): bigint {
  const sampled = clamped(time)
  halves[0] = ((sampled % LOW_TIMES) << TIME_SHIFT) | (tag << VALUE_BITS) | (value + 1)
  halves[1] = Math.floor(sampled / LOW_TIMES)
  return whole[0] as bigint
}

/**
 * Offers a reading to a slot; the sample taken last stays, and of two taken at once the one that came last.
 * Safe on any thread; seen by picks after the next publication.
 * @param generation the slot generation that the writer was told of
 * @param time table time of the sample, ms
 * @param value CPU, 0 to 100,000
 */
export function writeReading(
  memory: TableMemory,
  slot: number,
  generation: number,
  time: number,
  value: number,
): WriteResult {
  if (!memory.isOf(slot, generation)) return 'left'
  const index = readingIndex(slot)
  const tag = layout.readingTag(generation)
  const word = encodeReading(time, tag, value)
  const sampled = clamped(time)
  for (;;) {
    const before = Atomics.load(memory.readings, index)
    whole[0] = before
    const low = halves[0] as number
    if (tagOf(low) !== tag) return 'left'
    if ((low & VALUE_MASK) !== 0 && timeOf(low, halves[1] as number) > sampled) return 'older'
    if (Atomics.compareExchange(memory.readings, index, before, word) === before) return 'stored'
  }
}

/** Makes everything written so far visible to the picks of every thread: one step of the generation. */
export function publish(memory: TableMemory): void {
  Atomics.add(memory.header, layout.GENERATION_WORD, 1)
}
