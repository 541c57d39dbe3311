import * as v from 'valibot'
import { HASH_NAMES, type HashName } from '../keys/key-hash.js'
import { oneOf } from '../options.js'

/** Gives a node's key, a string of 1 to 1,024 characters. */
export type NodeKey<N = never> = (node: N) => string

/** Points that one node may have on a ring. */
export const MOST_POINTS = 100_000

/** Points that a ring may have: a gibibyte and a half while it is built. */
export const MOST_RING_POINTS = 2 ** 27

/** Cells that a Maglev table may have: the greatest prime number below 2^24. */
export const MOST_CELLS = 16_777_213

export const hashOption = v.optional(oneOf(HASH_NAMES), 'murmur3')

export function isHashName(value: unknown): value is HashName {
  return HASH_NAMES.some((name) => name === value)
}

/** A prime number of cells that is not too large. */
export function isTableSize(value: unknown): value is number {
  return typeof value === 'number' && value >= 3 && value <= MOST_CELLS && isPrime(value)
}

function isPrime(value: number): boolean {
  if (!Number.isInteger(value) || value % 2 === 0) return false
  for (let factor = 3; factor * factor <= value; factor += 2) if (value % factor === 0) return false
  return true
}
