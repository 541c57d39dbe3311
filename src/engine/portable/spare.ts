import type { SpareCapacityAlgorithm } from '../../algorithms/algorithm.js'
import { CPU_MAX } from '../../table/layout.js'
import { NOT_ELIGIBLE } from '../engine.js'
import { AliasPlan } from './alias.js'
import { ALL_MISSING, MISSING } from './band.js'

/** Stands for "not eligible" among weights. */
export const NO_WEIGHT = -1

/**
 * Fills in the weights: what a node has to spare; `NO_WEIGHT` for who may not be picked.
 * @param raw CPU, `MISSING` or `OUT`
 * @param count how many there are
 * @returns their sum
 */
export function fillWeights(
  raw: Float64Array,
  count: number,
  missing: SpareCapacityAlgorithm['missing'],
  weights: Float64Array,
): number {
  let fresh = 0
  let sum = 0
  for (let i = 0; i < count; i++) {
    const value = raw[i] as number
    if (value < 0) continue
    fresh++
    sum += CPU_MAX - value
  }
  const substitute = fresh === 0 ? 1 : missing === 'mean' ? sum / fresh : NO_WEIGHT
  let total = 0
  for (let i = 0; i < count; i++) {
    const value = raw[i] as number
    const weight = value >= 0 ? CPU_MAX - value : value === MISSING ? substitute : NO_WEIGHT
    weights[i] = weight
    if (weight !== NO_WEIGHT) total += weight
  }
  return total > 0 ? total : fillEqual(weights, count)
}

/** Gives everyone who may be picked the same weight: all are full. Returns their sum. */
export function fillEqual(weights: Float64Array, count: number): number {
  let total = 0
  for (let i = 0; i < count; i++) {
    if (weights[i] === NO_WEIGHT) continue
    weights[i] = 1
    total++
  }
  return total
}

/** The plan for these weights: shares in proportion, but for the part that is shared out evenly. */
export function planByWeight(
  weights: Float64Array,
  count: number,
  total: number,
  minShare: number,
): AliasPlan {
  const band = new Uint32Array(count)
  let length = 0
  for (let i = 0; i < count; i++) if (weights[i] !== NO_WEIGHT) band[length++] = i
  const shares = new Float64Array(length)
  for (let i = 0; i < length; i++) {
    const weight = weights[band[i] as number] as number
    shares[i] = (1 - minShare) * (weight / total) + minShare / length
  }
  return new AliasPlan(band, length, shares)
}

/** What the readings count as, whole: the CPU that makes the weight, or `NOT_ELIGIBLE`. */
export function fillSpareValues(
  raw: Float64Array,
  missing: SpareCapacityAlgorithm['missing'],
  values: Float64Array,
): void {
  const weights = new Float64Array(raw.length)
  fillWeights(raw, raw.length, missing, weights)
  const anyFresh = raw.some((value) => value >= 0)
  for (let i = 0; i < raw.length; i++) {
    const weight = weights[i] as number
    if (weight === NO_WEIGHT) values[i] = NOT_ELIGIBLE
    else values[i] = anyFresh ? Math.floor(CPU_MAX - weight + 0.5) : ALL_MISSING
  }
}
