import * as v from 'valibot'
import { OptionError } from '../errors.js'
import { hasFields } from '../fields.js'
import { HASH_NAMES, type HashName } from '../keys/key-hash.js'
import { oneOf } from '../options.js'
import type { Weights } from './algorithm.js'

/** Points that one node may have on a ring. */
export const MOST_POINTS = 100_000

/** Cells that a Maglev table may have: the greatest prime number below 2^24. */
export const MOST_CELLS = 16_777_213

const MOST_WEIGHT = 1e12

export const hashOption = v.optional(oneOf(HASH_NAMES), 'murmur3')

export const weightsOption = v.optional(v.custom<Weights>(hasFields, 'an object of weights by node id'))

/**
 * Checks fixed weights, and gives a copy that nobody can change. Throws OptionError.
 * @param path what they are called, for messages
 */
export function checkedWeights(
  path: string,
  weights: Weights | undefined,
  most = MOST_WEIGHT,
): Weights | undefined {
  if (weights === undefined) return undefined
  for (const [id, weight] of Object.entries(weights)) {
    if (!isWeight(weight, most)) throw new OptionError(`${path}.${id}`, weight, `a number from 0 to ${most}`)
  }
  return Object.freeze({ ...weights })
}

export function isHashName(value: unknown): value is HashName {
  return HASH_NAMES.some((name) => name === value)
}

/** Whether these are weights, or none. */
export function isKeyWeights(value: unknown, most = MOST_WEIGHT): boolean {
  return (
    value === undefined ||
    (hasFields(value) && Object.values(value).every((weight) => isWeight(weight, most)))
  )
}

/** A prime number of cells that is not too large. */
export function isTableSize(value: unknown): value is number {
  return typeof value === 'number' && value >= 3 && value <= MOST_CELLS && isPrime(value)
}

function isWeight(value: unknown, most: number): boolean {
  return typeof value === 'number' && value >= 0 && value <= most
}

function isPrime(value: number): boolean {
  if (!Number.isInteger(value) || value % 2 === 0) return false
  for (let factor = 3; factor * factor <= value; factor += 2) if (value % factor === 0) return false
  return true
}
