import type { TableMemory } from '../../table/memory.js'
import { type MutableMetric, readMetric, reportTime } from '../../table/report.js'
import { FACT_FRESH, FACT_NEXT_EXPIRY, MEMBER_UP, type MemberArrays } from '../engine.js'
import { MISSING, OUT } from './band.js'

/** Takes what members say of one metric: fills `raw` with its values, `MISSING` or `OUT`, and tells the facts. */
export function takeMetric(
  memory: TableMemory,
  metric: number,
  members: MemberArrays,
  ttl: number,
  now: number,
  raw: Float64Array,
  facts: Float64Array,
): void {
  const { slots, generations, states } = members
  const sample: MutableMetric = { time: 0, value: 0 }
  let oldest = Number.POSITIVE_INFINITY
  let fresh = 0
  for (let i = 0; i < slots.length; i++) {
    if (states[i] !== MEMBER_UP) {
      raw[i] = OUT
      continue
    }
    raw[i] = MISSING
    const slot = slots[i] as number
    const generation = generations[i] as number
    const reported = reportTime(memory, slot, generation)
    if (reported < 0) continue
    readMetric(memory, slot, generation, metric, reported, sample)
    if (Number.isNaN(sample.value) || now - sample.time > ttl) continue
    raw[i] = sample.value
    fresh++
    if (sample.time < oldest) oldest = sample.time
  }
  facts[FACT_NEXT_EXPIRY] = oldest + ttl + 1
  facts[FACT_FRESH] = fresh
}
