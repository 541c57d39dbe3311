import type { RingArrays } from '../../engine/key-tables.js'
import { slices } from '../../engine/portable/slices.js'
import { murmur3Triple } from '../../keys/murmur3.js'

const HASH_BITS = 32
const MOST_INDEX_BITS = 24

/**
 * Builds a ring, with a pause after each slice. This is its exact meaning, which both engines follow; `KeyTables` in
 * `src/engine/key-tables.ts` has the words.
 *
 * Node i has `counts[i]` points. The hash of point j is MurmurHash3_x86_32, seed 0, of the 12 bytes of `hashes[2i]`, j,
 * `hashes[2i + 1]`, little-endian. Points are in the order of their hashes. Points with the same hash are in the order of
 * their nodes, so that the first node has it. The index has `2^bits` entries,
 * `bits = min(24, max(1, ceil(log2(points)) - 1))`: entry b is the number of points whose hash is below
 * `b * 2^(32 - bits)`. A hash finds the first point whose hash is not below it, else the first of all.
 */
export function* buildRing(hashes: Uint32Array, counts: Uint32Array): Generator<void, RingArrays> {
  const length = counts.reduce((sum, count) => sum + count, 0)
  const made = new Uint32Array(2 * length)
  let node = 0
  let copy = 0
  yield* slices(length, (from, to) => {
    for (let i = from; i < to; i++) {
      while (copy === (counts[node] as number)) {
        node++
        copy = 0
      }
      made[2 * i] = murmur3Triple(hashes[2 * node] as number, copy++, hashes[2 * node + 1] as number)
      made[2 * i + 1] = node
    }
  })
  const shift = HASH_BITS - indexBits(length)
  const index = yield* indexOf(made, shift)
  return { points: yield* inOrder(made, index, shift), index }
}

// One or two points a bucket: half as many buckets would be another look at the points, twice as many fill the cache.
function indexBits(points: number): number {
  const bits = HASH_BITS - 1 - Math.clz32(Math.max(0, points - 1))
  return Math.min(MOST_INDEX_BITS, Math.max(1, bits))
}

function* indexOf(points: Uint32Array, shift: number): Generator<void, Uint32Array> {
  // How many points there are in each bucket, then below it.
  const index = new Uint32Array(2 ** (HASH_BITS - shift))
  yield* slices(points.length / 2, (from, to) => {
    for (let i = from; i < to; i++) (index[(points[2 * i] as number) >>> shift] as number)++
  })
  let below = 0
  yield* slices(index.length, (from, to) => {
    for (let bucket = from; bucket < to; bucket++) {
      const count = index[bucket] as number
      index[bucket] = below
      below += count
    }
  })
  return index
}

// Puts points into their buckets, and these in order: hashes are spread evenly, so that there is little to do in one.
// They come in the order of their nodes, and those with one hash are left in it.
function* inOrder(points: Uint32Array, index: Uint32Array, shift: number): Generator<void, Uint32Array> {
  const ends = index.slice()
  const sorted = new Uint32Array(points.length)
  yield* slices(points.length / 2, (from, to) => {
    for (let i = from; i < to; i++) {
      const hash = points[2 * i] as number
      const bucket = hash >>> shift
      const first = 2 * (index[bucket] as number)
      const end = ends[bucket] as number
      ends[bucket] = end + 1
      let place = 2 * end
      for (; place > first && (sorted[place - 2] as number) > hash; place -= 2) {
        sorted[place] = sorted[place - 2] as number
        sorted[place + 1] = sorted[place - 1] as number
      }
      sorted[place] = hash
      sorted[place + 1] = points[2 * i + 1] as number
    }
  })
  return sorted
}
