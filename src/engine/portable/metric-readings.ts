import type { TableMemory } from '../../table/memory.js'
import { type MutableMetric, readMetric, reportTime } from '../../table/report.js'
import { FACT_FRESH, FACT_NEXT_EXPIRY, MEMBER_UP, type MemberArrays } from '../engine.js'
import { MISSING, OUT } from './band.js'

/** What members say of one metric, as long as it is fresh. */
export class MetricReadings {
  readonly #memory: TableMemory
  readonly #metric: number
  readonly #ttl: number
  // Reused.
  readonly #sample: MutableMetric = { time: 0, value: 0 }

  /** @param metric its place among a slot's */
  constructor(memory: TableMemory, metric: number, ttl: number) {
    this.#memory = memory
    this.#metric = metric
    this.#ttl = ttl
  }

  /** Fills `raw` with the values, `MISSING` or `OUT`, and tells the facts. */
  take(members: MemberArrays, now: number, raw: Float64Array, facts: Float64Array): void {
    const { states } = members
    const sample = this.#sample
    let oldest = Number.POSITIVE_INFINITY
    let fresh = 0
    for (let i = 0; i < states.length; i++) {
      if (states[i] !== MEMBER_UP) {
        raw[i] = OUT
      } else if (this.#read(members, i, now)) {
        raw[i] = sample.value
        fresh++
        if (sample.time < oldest) oldest = sample.time
      } else {
        raw[i] = MISSING
      }
    }
    facts[FACT_NEXT_EXPIRY] = oldest + this.#ttl + 1
    facts[FACT_FRESH] = fresh
  }

  /** The values; NaN where there is none, or the member is not up. */
  values(members: MemberArrays, now: number): Float64Array {
    const { states } = members
    const values = new Float64Array(states.length).fill(Number.NaN)
    for (let i = 0; i < values.length; i++) {
      if (states[i] === MEMBER_UP && this.#read(members, i, now)) values[i] = this.#sample.value
    }
    return values
  }

  // Whether the sample that it takes is fresh.
  #read({ slots, generations }: MemberArrays, i: number, now: number): boolean {
    const sample = this.#sample
    const slot = slots[i] as number
    const generation = generations[i] as number
    const reported = reportTime(this.#memory, slot, generation)
    if (reported < 0) return false
    readMetric(this.#memory, slot, generation, this.#metric, reported, sample)
    return !Number.isNaN(sample.value) && now - sample.time <= this.#ttl
  }
}
