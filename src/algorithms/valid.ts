import { CPU_MAX } from '../table/layout.js'
import { isWeights } from './weights.js'

/** Whether a value is a number of this range. */
export function isNumberFrom(
  value: unknown,
  least: number,
  most = Number.POSITIVE_INFINITY,
): value is number {
  return typeof value === 'number' && value >= least && value <= most
}

/** Whether it is a whole one. */
export function isWhole(value: unknown, least: number, most = Number.MAX_SAFE_INTEGER): value is number {
  return Number.isInteger(value) && isNumberFrom(value, least, most)
}

/** Whether it is finite and at least 0, such as a time constant. */
export function isFinitePositive(value: unknown): boolean {
  return isNumberFrom(value, 0, Number.MAX_VALUE)
}

/** Whether it is CPU, 1/1000 percentage points. */
export function isMilli(value: unknown): value is number {
  return isWhole(value, 0, CPU_MAX)
}

/** Whether it is what the option of fixed weights makes. */
export function isWeightsOption(weights: unknown): boolean {
  return weights === undefined || isWeights(weights)
}

/** Whether it is what the option `keyOf` makes. */
export function isKeyOf(keyOf: unknown): boolean {
  return keyOf === undefined || typeof keyOf === 'function'
}
