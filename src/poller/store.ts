import type { Report } from '../report.js'
import { toMilli } from '../table/layout.js'
import type { TableMemory } from '../table/memory.js'
import { type WriteResult, writeReading } from '../table/reading.js'
import { sampleTime, tableTime } from '../table/table.js'

/** What became of a report: as of a reading, or `empty` where it had no CPU to store. */
export type StoreResult = WriteResult | 'empty'

/** The slot that a node had when it was asked. */
export interface Place {
  readonly slot: number
  readonly generation: number
}

/**
 * Offers a report's reading to the table, dated back by its age.
 * @param at when the report came, by the table's clock, ms
 */
export function storeReport(memory: TableMemory, place: Place, report: Report, at: number): StoreResult {
  if (report.cpu === undefined) return 'empty'
  const time = sampleTime(tableTime(memory, at), report.age ?? 0)
  return writeReading(memory, place.slot, place.generation, time, toMilli(report.cpu))
}
