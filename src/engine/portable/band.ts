import { CPU_MAX } from '../../table/layout.js'
import { NOT_ELIGIBLE } from '../engine.js'

/** What a member without a reading counts as where no one has one: any value, since it is the same for all. */
export const ALL_MISSING = CPU_MAX / 2

/** Stands for "no fresh reading" among raw readings: below whatever a table can hold. */
export const MISSING = -Number.MAX_VALUE

/** Stands for "not up" among raw readings: below `MISSING`. */
export const OUT = Number.NEGATIVE_INFINITY

/**
 * What a missing reading counts as: 1/1000 percentage points, or `NOT_ELIGIBLE`.
 * @param raw readings: a value, `MISSING` or `OUT`
 * @param count how many there are
 */
export function substitute(missing: number | 'mean' | 'exclude', raw: Float64Array, count: number): number {
  if (typeof missing === 'number') return missing
  let fresh = 0
  let sum = 0
  for (let i = 0; i < count; i++) {
    const value = raw[i] as number
    if (value < 0) continue
    fresh++
    sum += value
  }
  if (fresh === 0) return ALL_MISSING
  return missing === 'mean' ? Math.floor(sum / fresh + 0.5) : NOT_ELIGIBLE
}

/**
 * Lists those that may be picked, in order: the least, and who is within `threshold` of it.
 * @param missing what a missing reading counts as, or `NOT_ELIGIBLE`
 * @returns how many there are
 */
export function fillBand(
  raw: Float64Array,
  count: number,
  missing: number,
  threshold: number,
  band: Uint32Array,
): number {
  let least = NOT_ELIGIBLE
  for (let i = 0; i < count; i++) {
    const value = effective(raw[i] as number, missing)
    if (value < least) least = value
  }
  if (least === NOT_ELIGIBLE) return 0
  const most = least + threshold
  let length = 0
  for (let i = 0; i < count; i++) {
    // Written each time and kept by stepping on: a branch would be guessed wrong half of the time.
    band[length] = i
    length += effective(raw[i] as number, missing) <= most ? 1 : 0
  }
  return length
}

/** What a reading counts as: itself, what a missing one counts as, or `NOT_ELIGIBLE` where it is out. */
export function effective(raw: number, missing: number): number {
  return raw >= 0 ? raw : raw === MISSING ? missing : NOT_ELIGIBLE
}
