import type { Report } from '../report.js'
import type { TableMemory } from '../table/memory.js'
import { type StoreResult, writeReport } from '../table/report.js'
import { sampleTime, tableTime } from '../table/table.js'

/** The slot that a node had when it was asked. */
export interface Place {
  readonly slot: number
  readonly generation: number
}

/**
 * Offers a report to the table, dated back by its age.
 * @param at when the report came, by the table's clock, ms
 */
export function storeReport(memory: TableMemory, place: Place, report: Report, at: number): StoreResult {
  const time = sampleTime(tableTime(memory, at), report.age ?? 0)
  return writeReport(memory, place.slot, place.generation, time, report)
}
