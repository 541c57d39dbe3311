import { COUNT_BITS, COUNT_MASK, IN_FLIGHT_WORD, slotWord } from './layout.js'
import type { TableMemory } from './memory.js'

// Of this module's own: what is imported is no constant to the compiler, but looked up each time.
const BITS = COUNT_BITS
const MASK = COUNT_MASK
const FIRST = slotWord(0) + IN_FLIGHT_WORD
const STEP = slotWord(1) - slotWord(0)

function inFlightIndex(slot: number): number {
  return FIRST + slot * STEP
}

function mine(word: number, generation: number): boolean {
  return (word ^ (generation << BITS)) >>> BITS === 0
}

/**
 * Counts one more request in flight at a slot's node. False, and nothing is counted, where the slot belongs to another
 * node now or the count is at its most (1,048,575).
 */
export function enterFlight(memory: TableMemory, slot: number, generation: number): boolean {
  if (!memory.has(slot)) return false
  const { words } = memory
  const index = inFlightIndex(slot)
  // Read plainly first, at a tenth of the cost: the exchange tells what the word really is. Only what was read atomically refuses.
  let word = words[index] as number
  if (!memory.countsAreShared) {
    const enters = mayEnter(word, generation)
    if (enters) words[index] = word + 1
    return enters
  }
  if (!mayEnter(word, generation)) word = Atomics.load(words, index)
  while (mayEnter(word, generation)) {
    const found = Atomics.compareExchange(words, index, word, (word + 1) | 0)
    if (found === word) {
      // No call from the exchange to here: a thread that is terminated ends at one.
      const { ledger } = memory
      if (ledger !== undefined) {
        const own = ledger[slot] as number
        // What is there of another generation counts no more.
        ledger[slot] = (own ^ (generation << BITS)) >>> BITS === 0 ? own + 1 : (generation << BITS) | 1
      }
      return true
    }
    word = found
  }
  return false
}

/**
 * Counts one less; never below zero, and never for a node that the slot no longer belongs to. Returns how many are left;
 * -1 where nothing was counted.
 */
export function leaveFlight(memory: TableMemory, slot: number, generation: number): number {
  if (!memory.has(slot)) return -1
  const { words } = memory
  const index = inFlightIndex(slot)
  let word = words[index] as number
  if (!memory.countsAreShared) {
    if (!mayLeave(word, generation)) return -1
    words[index] = word - 1
    return (word & MASK) - 1
  }
  if (!mayLeave(word, generation)) word = Atomics.load(words, index)
  while (mayLeave(word, generation)) {
    const found = Atomics.compareExchange(words, index, word, (word - 1) | 0)
    if (found === word) {
      const { ledger } = memory
      if (ledger !== undefined) {
        const own = ledger[slot] as number
        if ((own ^ (generation << BITS)) >>> BITS === 0 && (own & MASK) !== 0) ledger[slot] = own - 1
      }
      return (word & MASK) - 1
    }
    word = found
  }
  return -1
}

/**
 * Takes back the requests in flight that one thread counted, which is at it no more. `Table::take_back` of
 * `crates/core/src/table.rs` is the same.
 * @param ledger as the memory's own; emptied
 */
export function takeBack(memory: TableMemory, ledger: Int32Array): void {
  for (let slot = 0; slot < ledger.length && memory.has(slot); slot++) {
    const own = ledger[slot] as number
    if ((own & MASK) === 0) continue
    // First: what is taken back twice would be another thread's.
    ledger[slot] = 0
    const { words } = memory
    const index = inFlightIndex(slot)
    let word = Atomics.load(words, index)
    while ((word ^ own) >>> BITS === 0) {
      const left = Math.max(0, (word & MASK) - (own & MASK))
      const found = Atomics.compareExchange(words, index, word, (word & ~MASK) | left)
      if (found === word) break
      word = found
    }
  }
}

/** The count of an in-flight word. */
export function countIn(word: number): number {
  return word & MASK
}

/** Whether an in-flight word has this tag. */
export function isCountOf(word: number, tag: number): boolean {
  return word >>> BITS === tag
}

function mayEnter(word: number, generation: number): boolean {
  return mine(word, generation) && (word & MASK) !== MASK
}

function mayLeave(word: number, generation: number): boolean {
  return mine(word, generation) && (word & MASK) !== 0
}

/** Requests in flight at a slot's node; 0 where the slot belongs to another node now. */
export function inFlight(memory: TableMemory, slot: number, generation: number): number {
  if (!memory.has(slot)) return 0
  const word = Atomics.load(memory.words, inFlightIndex(slot))
  return mine(word, generation) ? word & MASK : 0
}
