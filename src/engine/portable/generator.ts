/** State of a generator: four unsigned 32-bit words, as signed ones where JavaScript likes it so. */
export interface GeneratorState {
  s0: number
  s1: number
  s2: number
  s3: number
}

// Where the second seed word's stream starts: apart from the first's for small seeds.
const SECOND_STREAM = 0x6a09e667

function splitmix32(state: number): number {
  let t = state ^ (state >>> 16)
  t = Math.imul(t, 0x21f0aaad)
  t ^= t >>> 15
  t = Math.imul(t, 0x735a2d97)
  return t ^ (t >>> 15)
}

/**
 * The generator of both engines: xoshiro128++ (Blackman and Vigna, 2019), seeded by two runs of a 32-bit splitmix.
 * 32-bit steps alone, which both languages do exactly.
 */
export class Generator implements GeneratorState {
  s0: number
  s1: number
  s2: number
  s3: number

  /** @param seed two unsigned 32-bit numbers, low word first */
  constructor(seed: readonly [number, number]) {
    const low = seed[0] | 0
    const high = seed[1] ^ SECOND_STREAM
    this.s0 = splitmix32((low + 0x9e3779b9) | 0)
    this.s1 = splitmix32((low + 0x9e3779b9 * 2) | 0)
    this.s2 = splitmix32((high + 0x9e3779b9) | 0)
    this.s3 = splitmix32((high + 0x9e3779b9 * 2) | 0)
    if ((this.s0 | this.s1 | this.s2 | this.s3) === 0) this.s0 = 1
  }

  /** The next unsigned 32-bit number. */
  next(): number {
    const s1 = this.s1
    const s2 = this.s2 ^ this.s0
    const s3 = this.s3 ^ s1
    const sum = (this.s0 + this.s3) | 0
    const result = (((sum << 7) | (sum >>> 25)) + this.s0) >>> 0
    this.s1 = s1 ^ s2
    this.s0 ^= s3
    this.s2 = s2 ^ (s1 << 9)
    this.s3 = (s3 << 11) | (s3 >>> 21)
    return result
  }

  /** A number from 0 to n - 1: `floor(u32 * n / 2^32)`, exact in a double for n < 2^21. */
  below(n: number): number {
    return Math.floor((this.next() * n) / 4_294_967_296)
  }

  /** Takes over another state. */
  restore(state: GeneratorState): void {
    this.s0 = state.s0
    this.s1 = state.s1
    this.s2 = state.s2
    this.s3 = state.s3
  }
}
