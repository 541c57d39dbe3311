import { encode, encoded } from './utf8.js'
import { wordAt } from './word-at.js'

const P1 = 0x9e3779b1
const P2 = 0x85ebca77
const P3 = 0xc2b2ae3d
const P4 = 0x27d4eb2f
const P5 = 0x165667b1

/** Bytes that are taken at a time, by four lanes. */
const STRIPE = 16

function rotated(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits))
}

function lane(sum: number, word: number): number {
  return Math.imul(rotated((sum + Math.imul(word, P2)) | 0, 13), P1)
}

function withWord(hash: number, word: number): number {
  return Math.imul(rotated((hash + Math.imul(word, P3)) | 0, 17), P4)
}

function withByte(hash: number, byte: number): number {
  return Math.imul(rotated((hash + Math.imul(byte, P5)) | 0, 11), P1)
}

function finished(hash: number): number {
  let h = Math.imul(hash ^ (hash >>> 15), P2)
  h = Math.imul(h ^ (h >>> 13), P3)
  return h ^ (h >>> 16)
}

/** XXH32 (Collet, 2012) of the first `length` bytes; signed, as all hashes here. */
export function xxh32Bytes(bytes: Uint8Array, length: number, seed: number): number {
  let hash = (seed + P5) | 0
  let i = 0
  if (length >= STRIPE) {
    let a = (seed + P1 + P2) | 0
    let b = (seed + P2) | 0
    let c = seed | 0
    let d = (seed - P1) | 0
    for (; i + STRIPE <= length; i += STRIPE) {
      a = lane(a, wordAt(bytes, i))
      b = lane(b, wordAt(bytes, i + 4))
      c = lane(c, wordAt(bytes, i + 8))
      d = lane(d, wordAt(bytes, i + 12))
    }
    hash = (rotated(a, 1) + rotated(b, 7) + rotated(c, 12) + rotated(d, 18)) | 0
  }
  hash = (hash + length) | 0
  for (; i + 4 <= length; i += 4) hash = withWord(hash, wordAt(bytes, i))
  for (; i < length; i++) hash = withByte(hash, bytes[i] as number)
  return finished(hash)
}

/** The same of a text as UTF-8. */
export function xxh32Text(text: string, seed: number): number {
  const length = encode(text)
  return xxh32Bytes(encoded(), length, seed)
}

/** The same of two 32-bit words, little-endian. */
export function xxh32Pair(first: number, second: number, seed: number): number {
  return finished(withWord(withWord((seed + P5 + 8) | 0, first), second))
}
