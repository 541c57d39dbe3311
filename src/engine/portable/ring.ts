import { murmur3Triple } from '../../keys/murmur3.js'
import type { RingArrays } from '../key-tables.js'
import { slices } from './slices.js'

const DIGIT_BITS = 11
const DIGITS = 2 ** DIGIT_BITS
const HASH_BITS = 32
const MOST_INDEX_BITS = 24

/** Builds a ring, with a pause after each slice; `key-tables.ts` says what it is. */
export function* buildRing(hashes: Uint32Array, counts: Uint32Array): Generator<void, RingArrays> {
  const length = counts.reduce((sum, count) => sum + count, 0)
  let points = new Uint32Array(2 * length)
  let node = 0
  let copy = 0
  yield* slices(length, (from, to) => {
    for (let i = from; i < to; i++) {
      while (copy === (counts[node] as number)) {
        node++
        copy = 0
      }
      points[2 * i] = murmur3Triple(hashes[2 * node] as number, copy++, hashes[2 * node + 1] as number)
      points[2 * i + 1] = node
    }
  })
  let other = new Uint32Array(2 * length)
  // A radix sort: it leaves points with one hash in the order of their nodes, in which they were made.
  for (let shift = 0; shift < HASH_BITS; shift += DIGIT_BITS) {
    yield* sortByDigit(points, other, shift)
    const sorted = other
    other = points
    points = sorted
  }
  return { points, index: yield* indexOf(points, length) }
}

function* sortByDigit(from: Uint32Array, to: Uint32Array, shift: number): Generator<void, void> {
  const length = from.length / 2
  const places = new Uint32Array(DIGITS + 1)
  const digitOf = (i: number): number => ((from[2 * i] as number) >>> shift) & (DIGITS - 1)
  yield* slices(length, (first, end) => {
    for (let i = first; i < end; i++) (places[digitOf(i) + 1] as number)++
  })
  for (let digit = 0; digit < DIGITS; digit++) {
    places[digit + 1] = (places[digit + 1] as number) + (places[digit] as number)
  }
  yield* slices(length, (first, end) => {
    for (let i = first; i < end; i++) {
      const digit = digitOf(i)
      const place = places[digit] as number
      places[digit] = place + 1
      to[2 * place] = from[2 * i] as number
      to[2 * place + 1] = from[2 * i + 1] as number
    }
  })
}

function* indexOf(points: Uint32Array, length: number): Generator<void, Uint32Array> {
  // One or two points a bucket: half as many of them would be another look at the points, twice as many fill the cache.
  const bits = Math.min(MOST_INDEX_BITS, Math.max(1, HASH_BITS - 1 - Math.clz32(Math.max(0, length - 1))))
  const shift = HASH_BITS - bits
  const index = new Uint32Array(2 ** bits)
  let i = 0
  yield* slices(index.length, (from, to) => {
    for (let bucket = from; bucket < to; bucket++) {
      while (i < length && (points[2 * i] as number) >>> shift < bucket) i++
      index[bucket] = i
    }
  })
  return index
}
