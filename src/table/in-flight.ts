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

// The tag of the in-flight word comes round after 4,096 nodes. The slot's own generation, one word before, does not.
function isSlotOf(words: Int32Array, index: number, generation: number): boolean {
  const own = generation | 0
  return words[index - 1] === own || Atomics.load(words, index - 1) === own
}

/**
 * Counts one more request in flight at a slot's node. False, and nothing is counted, where the slot belongs to another
 * node now or the count is at its most (1,048,575).
 */
export function enterFlight(memory: TableMemory, slot: number, generation: number): boolean {
  if (!memory.has(slot)) return false
  const { words } = memory
  const index = inFlightIndex(slot)
  if (!isSlotOf(words, index, generation)) return false
  if (memory.countsAreShared) return enterShared(memory, slot, index, generation)
  const word = words[index] as number
  const enters = mayEnter(word, generation)
  if (enters) words[index] = word + 1
  return enters
}

// On its own, so that the compiler inlines what goes before it.
function enterShared(memory: TableMemory, slot: number, index: number, generation: number): boolean {
  const { words } = memory
  // Read plainly first, at a tenth of the cost: the exchange tells what the word really is. Only what was read atomically refuses.
  let word = words[index] as number
  if (!mayEnter(word, generation)) word = Atomics.load(words, index)
  while (mayEnter(word, generation)) {
    const found = Atomics.compareExchange(words, index, word, (word + 1) | 0)
    if (found === word) {
      // No call from the exchange to here: a thread that is terminated ends at one.
      const { ledger } = memory
      if (ledger !== undefined) {
        const cell = 2 * slot
        // What is there of another generation counts no more.
        if (ledger[cell + 1] !== (generation | 0)) {
          ledger[cell] = 0
          ledger[cell + 1] = generation
        }
        ledger[cell] = (ledger[cell] as number) + 1
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
  if (!isSlotOf(words, index, generation)) return -1
  if (memory.countsAreShared) return leaveShared(memory, slot, index, generation)
  const word = words[index] as number
  if (!mayLeave(word, generation)) return -1
  words[index] = word - 1
  return (word & MASK) - 1
}

function leaveShared(memory: TableMemory, slot: number, index: number, generation: number): number {
  const { words } = memory
  let word = words[index] as number
  if (!mayLeave(word, generation)) word = Atomics.load(words, index)
  while (mayLeave(word, generation)) {
    const found = Atomics.compareExchange(words, index, word, (word - 1) | 0)
    if (found === word) {
      const { ledger } = memory
      if (ledger !== undefined) {
        const cell = 2 * slot
        const own = ledger[cell] as number
        if (ledger[cell + 1] === (generation | 0) && own > 0) ledger[cell] = own - 1
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
 * @param slots look at no more than the first so many
 */
export function takeBack(memory: TableMemory, ledger: Int32Array, slots: number = ledger.length / 2): void {
  for (let slot = 0; slot < slots && memory.has(slot); slot++) {
    const cell = 2 * slot
    if (ledger[cell] === 0) continue
    // First: what is taken back twice would be another thread's.
    const counted = Atomics.exchange(ledger, cell, 0)
    const generation = ledger[cell + 1] as number
    const { words } = memory
    const index = inFlightIndex(slot)
    if (!isSlotOf(words, index, generation)) continue
    let word = Atomics.load(words, index)
    while (mine(word, generation)) {
      const left = Math.max(0, (word & MASK) - counted)
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
