import { BadKeyError } from '../errors.js'
import { isUint8Array } from '../typed-array.js'
import { murmur3Bytes, murmur3Pair, murmur3Text } from './murmur3.js'
import { xxh32Bytes, xxh32Pair, xxh32Text } from './xxh32.js'

/** What a node can be picked by. */
export type Key = string | number | Uint8Array

/**
 * A hash function by name: MurmurHash3_x86_32 or XXH32. Both mix the upper bits well, by which a ring is looked up; that
 * can't be said of FNV-1a, whose last byte hardly reaches them.
 */
export type HashName = 'murmur3' | 'xxh32'

/** The names of the hash functions, all of 32 bits. */
export const HASH_NAMES = ['murmur3', 'xxh32'] as const satisfies readonly HashName[]

// All give signed numbers.
interface HashFunction {
  text(text: string, seed: number): number
  bytes(bytes: Uint8Array, length: number, seed: number): number
  pair(low: number, high: number, seed: number): number
}

const FUNCTIONS: { readonly [K in HashName]: HashFunction } = {
  murmur3: { text: murmur3Text, bytes: murmur3Bytes, pair: murmur3Pair },
  xxh32: { text: xxh32Text, bytes: xxh32Bytes, pair: xxh32Pair },
}

/** Seeds of the two hashes of an id. */
const FIRST_SEED = 0
const SECOND_SEED = 0x9e3779b9

const double = new Float64Array(1)
// Signed ones: those from 2^31 on would be put on the heap.
const words = new Int32Array(double.buffer)

/**
 * Hashes keys, all with the seed 0: a string as its UTF-8, half a surrogate pair as U+FFFD; bytes as they are; a finite
 * number as the 8 bytes of its double, little-endian, -0 as 0. So the number 1 and the string '1' are different keys.
 */
export class KeyHash {
  readonly #function: HashFunction

  constructor(name: HashName) {
    this.#function = FUNCTIONS[name]
  }

  /** An unsigned 32-bit number. Throws BadKeyError. */
  of(key: Key): number {
    return this.signed(key) >>> 0
  }

  /** The same as a signed one, which is never put on the heap. */
  signed(key: Key): number {
    if (typeof key === 'string') return this.#function.text(key, FIRST_SEED)
    if (typeof key === 'number') {
      if (!Number.isFinite(key)) throw new BadKeyError(key)
      double[0] = key + 0
      return this.#function.pair(words[0] as number, words[1] as number, FIRST_SEED)
    }
    if (isUint8Array(key)) return this.#function.bytes(key, key.length, FIRST_SEED)
    throw new BadKeyError(key)
  }

  /** The two hashes of a node's id: 64 bits, so that no two nodes are likely to share them. */
  ofId(id: string): readonly [number, number] {
    return [this.#function.text(id, FIRST_SEED) >>> 0, this.#function.text(id, SECOND_SEED) >>> 0]
  }
}
