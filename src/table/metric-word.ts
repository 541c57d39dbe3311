import * as layout from './layout.js'
import type { TableMemory } from './memory.js'

const TAG_MASK = (1n << BigInt(layout.TAG_BITS)) - 1n

/** Takes one metric out of a slot for whatever node it is: it counts as never reported. Safe on any thread. */
export function forgetMetric(memory: TableMemory, slot: number, metric: number): void {
  if (!memory.has(slot)) return
  const index = (layout.slotWord(slot) + layout.METRICS_WORD) / 2 + metric
  for (;;) {
    const before = Atomics.load(memory.readings, index)
    if (before >> 32n === 0n) return
    // The tag stays: it says whose the slot is.
    if (Atomics.compareExchange(memory.readings, index, before, before & TAG_MASK) === before) return
  }
}
