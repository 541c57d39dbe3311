import type { Clock } from '../clock.js'
import type { Report } from '../report.js'
import type { TableMemory } from '../table/memory.js'
import { publish } from '../table/reading.js'
import { type StoreResult, writeReport } from '../table/report.js'
import { sampleTime, tableTime } from '../table/table.js'
import type { Place } from './member.js'
import type { PickCounters } from './pick-counters.js'

type Counters = Pick<PickCounters, 'reportsStored' | 'reportsOlder' | 'reportsUnknown' | 'reportsEmpty'>

/** Takes reports that the caller has from elsewhere, and counts what became of them. */
export class ReportIntake {
  readonly #memory: TableMemory
  readonly #clock: Clock
  readonly #counters: Counters

  constructor(memory: TableMemory, clock: Clock, counters: Counters) {
    this.#memory = memory
    this.#clock = clock
    this.#counters = counters
  }

  /**
   * Stores a report, and publishes what was stored.
   * @param place of the member that it is of; undefined where there is none
   * @param report a checked one
   * @param isTold whether what it says of the node's state, weight or most requests in flight was taken
   * @returns whether any of it was taken
   */
  take(place: Place | undefined, report: Report, isTold: boolean): boolean {
    const counters = this.#counters
    if (place === undefined) {
      counters.reportsUnknown++
      return false
    }
    const result = this.store(place, report)
    if (result === 'stored') publish(this.#memory)
    if (result === 'stored' || isTold) counters.reportsStored++
    else if (result === 'empty') counters.reportsEmpty++
    else counters.reportsOlder++
    return result === 'stored' || isTold
  }

  /** Stores a report, and publishes nothing. */
  store({ slot, generation }: Place, report: Report): StoreResult {
    const time = sampleTime(tableTime(this.#memory, this.#clock.now()), report.age ?? 0)
    return writeReport(this.#memory, slot, generation, time, report)
  }
}
