import { CPU_MAX } from '../../table/layout.js'
import { BUSY_COST, BUSY_GAP, BUSY_SPARE, LEAST_SPARE } from './constants.js'

/** The share of its CPU that a node has to spare, 0-1; NaN where that is not known. */
export function spareOf(cpu: number): number {
  return cpu < 0 ? Number.NaN : Math.max(LEAST_SPARE, 1 - cpu / CPU_MAX)
}

/** What reports say of all members together. */
export interface Spare {
  /** Members that have a fresh report. */
  readonly fresh: number
  /** The mean of what they have to spare, 0-1; 1 where none has a report. */
  readonly mean: number
  /** At most this is far below the others; below 0 where no member is. */
  readonly busy: number
}

/** Looks at what all members have to spare, NaN where that is not known. */
export function spareOfAll(spare: Float64Array): Spare {
  let sum = 0
  let fresh = 0
  let least = 1
  for (const value of spare) {
    if (Number.isNaN(value)) continue
    sum += value
    fresh++
    least = Math.min(least, value)
  }
  if (fresh === 0) return { fresh, mean: 1, busy: -1 }
  const busy = least > BUSY_SPARE ? -1 : Math.min(BUSY_SPARE, medianOf(spare) - BUSY_GAP)
  return { fresh, mean: sum / fresh, busy }
}

/** How many times as slow a member counts by its reports. */
export function busyCost(spare: number, { busy }: Spare): number {
  return spare <= busy ? BUSY_COST : 1
}

function medianOf(spare: Float64Array): number {
  const sorted = spare.filter((value) => !Number.isNaN(value)).sort()
  return sorted[Math.floor(sorted.length / 2)] ?? 1
}
