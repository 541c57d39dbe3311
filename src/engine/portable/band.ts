import type { LeastCpuAlgorithm } from '../../algorithms/algorithm.js'
import { CPU_MAX } from '../../table/layout.js'
import { NOT_ELIGIBLE } from '../engine.js'

/** What a member without a reading counts as where no one has one: any value, since it is the same for all. */
const ALL_MISSING = CPU_MAX / 2

/** Stands for "no fresh reading" among raw readings. */
export const MISSING = -1

/** Stands for "not up" among raw readings. */
export const OUT = -2

/**
 * What a missing reading counts as.
 * @returns 1/1000 percentage points, or `NOT_ELIGIBLE`
 */
export function missingValue(missing: LeastCpuAlgorithm['missing'], fresh: number, sum: number): number {
  if (typeof missing === 'number') return missing
  if (fresh === 0) return ALL_MISSING
  return missing === 'mean' ? Math.floor(sum / fresh + 0.5) : NOT_ELIGIBLE
}

/**
 * Turns raw readings into effective values: a fresh one is its own value, `MISSING` what the policy says, `OUT` not
 * eligible.
 * @param count how many there are
 * @param sum of the fresh readings
 */
export function fillValues(
  raw: Int32Array,
  count: number,
  missing: LeastCpuAlgorithm['missing'],
  fresh: number,
  sum: number,
  values: Uint32Array,
): void {
  const substitute = missingValue(missing, fresh, sum)
  for (let i = 0; i < count; i++) {
    const value = raw[i] as number
    values[i] = value >= 0 ? value : value === MISSING ? substitute : NOT_ELIGIBLE
  }
}

/**
 * Lists the eligible members within `threshold` of the least, in member order.
 * @returns how many there are
 */
export function fillBand(values: Uint32Array, count: number, threshold: number, band: Uint32Array): number {
  let least = NOT_ELIGIBLE
  for (let i = 0; i < count; i++) {
    const value = values[i] as number
    if (value < least) least = value
  }
  if (least === NOT_ELIGIBLE) return 0
  const most = least + threshold
  let length = 0
  for (let i = 0; i < count; i++) {
    if ((values[i] as number) <= most) band[length++] = i
  }
  return length
}
