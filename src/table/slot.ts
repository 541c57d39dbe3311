import * as layout from './layout.js'
import type { TableMemory } from './memory.js'
import { encodeReading } from './reading.js'
import { clearRegistration } from './registration.js'
import { clearReport } from './report.js'

/**
 * Empties a slot for its next node.
 * @param generation the slot generation of that: the new tags shut out whoever still holds the old one, such as late reports,
 * late releases and meters
 */
export function emptySlot(memory: TableMemory, slot: number, generation: number): void {
  const word = layout.slotWord(slot)
  const { words, readings } = memory
  Atomics.store(words, word + layout.SLOT_GENERATION_WORD, generation | 0)
  Atomics.store(readings, (word + layout.CPU_WORD) / 2, encodeReading(0, layout.readingTag(generation), -1))
  clearReport(memory, slot, generation)
  clearRegistration(memory, slot, generation)
  Atomics.store(words, word + layout.IN_FLIGHT_WORD, (layout.countTag(generation) << layout.COUNT_BITS) | 0)
}
