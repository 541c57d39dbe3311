import type { Report } from '../report.js'
import type { TableMemory } from '../table/memory.js'
import { reportTime, type StoreResult, writeReport } from '../table/report.js'
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

/**
 * Whether the table has a report of the node whose sample was taken less than this ago, whoever wrote it.
 * @param silentFor ms; 0: never
 * @param now the table's clock, ms
 */
export function isFresh(memory: TableMemory, place: Place, silentFor: number, now: number): boolean {
  if (silentFor === 0) return false
  const time = reportTime(memory, place.slot, place.generation)
  return time >= 0 && tableTime(memory, now) - time < silentFor
}
