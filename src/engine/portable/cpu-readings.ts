import { readingTag } from '../../table/layout.js'
import type { TableMemory } from '../../table/memory.js'
import { type MutableReading, readReading } from '../../table/reading.js'
import { FACT_FRESH, FACT_NEXT_EXPIRY, MEMBER_UP, type MemberArrays } from '../engine.js'
import { MISSING, OUT } from './band.js'
import { Estimates } from './estimates.js'

export interface CpuReadingsOptions {
  /** Oldest age of a reading that counts, ms. */
  readonly ttl: number
  /** Time constant over which readings are smoothed, ms. */
  readonly smoothing: number
  /** Whether estimates are rounded to whole numbers. */
  readonly isWhole: boolean
  /** Takes the readings too, where own picks since them count. */
}

/** What members say of their CPU, smoothed, as long as it is fresh. */
export class CpuReadings {
  readonly #memory: TableMemory
  readonly #options: CpuReadingsOptions
  readonly #estimates: Estimates
  // Reused.
  readonly #reading: MutableReading = { time: 0, tag: 0, value: 0 }

  constructor(memory: TableMemory, options: CpuReadingsOptions) {
    this.#memory = memory
    this.#options = options
    this.#estimates = new Estimates(options.smoothing)
  }

  /** Takes over the members; those that stay keep their estimates. */
  setMembers(members: MemberArrays): void {
    this.#estimates.setMembers(members)
  }

  /** Fills `raw` with the estimates, `MISSING` or `OUT`, and tells the facts. */
  take(members: MemberArrays, now: number, raw: Float64Array, facts: Float64Array): void {
    const { slots, generations, states } = members
    const { ttl, isWhole } = this.#options
    const reading = this.#reading
    let oldest = Number.POSITIVE_INFINITY
    let fresh = 0
    for (let i = 0; i < slots.length; i++) {
      if (states[i] !== MEMBER_UP) {
        raw[i] = OUT
        continue
      }
      readReading(this.#memory, slots[i] as number, reading)
      if (
        reading.value < 0 ||
        reading.tag !== readingTag(generations[i] as number) ||
        now - reading.time > ttl
      ) {
        raw[i] = MISSING
        continue
      }
      const estimate = this.#estimates.update(i, reading.value, reading.time)
      raw[i] = isWhole ? Math.floor(estimate + 0.5) : estimate
      fresh++
      if (reading.time < oldest) oldest = reading.time
    }
    facts[FACT_NEXT_EXPIRY] = oldest + ttl + 1
    facts[FACT_FRESH] = fresh
  }
}
