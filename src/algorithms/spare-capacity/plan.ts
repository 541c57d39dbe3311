import { NOT_ELIGIBLE } from '../../engine/engine.js'
import { AliasPlan } from '../../engine/portable/alias.js'
import { ALL_MISSING, MISSING, OUT } from '../../engine/portable/band.js'
import { CPU_MAX } from '../../table/layout.js'
import type { SpareCapacityAlgorithm } from './options.js'

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

/**
 * Draws in proportion to fixed weights.
 * @param raw `OUT` for those that may not be picked
 * @param weights of all, above 0
 */
export function planByFixedWeight(raw: Float64Array, count: number, weights: Float64Array): AliasPlan {
  const eligible = new Float64Array(count)
  let total = 0
  for (let i = 0; i < count; i++) {
    const weight = raw[i] === OUT ? NO_WEIGHT : (weights[i] as number)
    eligible[i] = weight
    if (weight !== NO_WEIGHT) total += weight
  }
  return planByWeight(eligible, count, total, 0)
}
