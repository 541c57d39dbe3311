import { encode, encoded } from './utf8.js'
import { wordAt } from './word-at.js'

const C1 = 0xcc9e2d51
const C2 = 0x1b873593

function scrambled(block: number): number {
  const k = Math.imul(block, C1)
  return Math.imul((k << 15) | (k >>> 17), C2)
}

function taken(hash: number, block: number): number {
  const h = hash ^ scrambled(block)
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0
}

function finished(hash: number, length: number): number {
  let h = hash ^ length
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

/**
 * MurmurHash3_x86_32 (Appleby, 2011) of the first `length` bytes; signed, as all hashes here: an unsigned one from 2^31 on
 * would be put on the heap.
 */
export function murmur3Bytes(bytes: Uint8Array, length: number, seed: number): number {
  const whole = length & ~3
  let hash = seed | 0
  for (let i = 0; i < whole; i += 4) hash = taken(hash, wordAt(bytes, i))
  let tail = 0
  for (let i = length - 1; i >= whole; i--) tail = (tail << 8) | (bytes[i] as number)
  return finished(hash ^ scrambled(tail), length)
}

/** The same of a text as UTF-8. */
export function murmur3Text(text: string, seed: number): number {
  const { length } = text
  const whole = length & ~3
  let hash = seed | 0
  let units = 0
  for (let i = 0; i < whole; i += 4) {
    const a = text.charCodeAt(i)
    const b = text.charCodeAt(i + 1)
    const c = text.charCodeAt(i + 2)
    const d = text.charCodeAt(i + 3)
    units |= a | b | c | d
    hash = taken(hash, a | (b << 8) | (c << 16) | (d << 24))
  }
  let tail = 0
  for (let i = length - 1; i >= whole; i--) {
    const unit = text.charCodeAt(i)
    units |= unit
    tail = (tail << 8) | unit
  }
  // Not ASCII after all. Looked at once, in the end: nearly all keys are.
  if (units > 0x7f) {
    const written = encode(text)
    return murmur3Bytes(encoded(), written, seed)
  }
  return finished(hash ^ scrambled(tail), length)
}

/** The same of two 32-bit words, little-endian. In one piece: a pick by a number has no room for more calls to be inlined. */
export function murmur3Pair(first: number, second: number, seed: number): number {
  let k = Math.imul(first, C1)
  let h = seed ^ Math.imul((k << 15) | (k >>> 17), C2)
  h = (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0
  k = Math.imul(second, C1)
  h ^= Math.imul((k << 15) | (k >>> 17), C2)
  h = (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) ^ 8
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

/** The same of three 32-bit words, little-endian, with the seed 0. */
export function murmur3Triple(first: number, second: number, third: number): number {
  return finished(taken(taken(taken(0, first), second), third), 12)
}
