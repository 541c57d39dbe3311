import type { Algorithm } from '../../algorithms/algorithm.js'
import { GENERATION_WORD, readingTag } from '../../table/layout.js'
import type { TableMemory } from '../../table/memory.js'
import { type MutableReading, readReading } from '../../table/reading.js'
import {
  type EngineCore,
  FACT_BAND,
  FACT_FRESH,
  FACT_GENERATION,
  FACT_NEXT_EXPIRY,
  MEMBER_UP,
  type MemberArrays,
  type View,
} from '../engine.js'
import { effective, fillBand, MISSING, OUT, substitute } from './band.js'
import { Generator, type GeneratorState } from './generator.js'

const NO_MEMBERS: MemberArrays = {
  slots: new Uint32Array(0),
  generations: new Uint32Array(0),
  states: new Uint8Array(0),
}

/** An engine core in TypeScript; `engine.ts` says what it does. */
export class PortableCore implements EngineCore {
  readonly name = 'portable'
  readonly #memory: TableMemory
  readonly #algorithm: Algorithm
  readonly #threshold: number
  readonly #generator: Generator
  readonly #before: GeneratorState = { s0: 0, s1: 0, s2: 0, s3: 0 }
  readonly #reading: MutableReading = { time: 0, tag: 0, value: 0 }
  #members = NO_MEMBERS
  // Readings as they were at the last refresh: a value, MISSING or OUT.
  #raw = new Int32Array(0)
  #band = new Uint32Array(0)
  #bandLength = 0

  constructor(memory: TableMemory, algorithm: Algorithm, seed: readonly [number, number]) {
    this.#memory = memory
    this.#algorithm = algorithm
    this.#threshold = algorithm.kind === 'random' ? 0 : algorithm.threshold
    this.#generator = new Generator(seed)
  }

  setMembers(members: MemberArrays): void {
    this.#members = members
    this.#bandLength = 0
    const { length } = members.slots
    if (this.#raw.length !== length) {
      this.#raw = new Int32Array(length)
      this.#band = new Uint32Array(length)
    }
  }

  refresh(now: number, view: View): void {
    // The generation first: what is published while we read is then read again.
    view.facts[FACT_GENERATION] = Atomics.load(this.#memory.header, GENERATION_WORD)
    view.facts[FACT_NEXT_EXPIRY] = Number.POSITIVE_INFINITY
    view.facts[FACT_FRESH] = 0
    if (this.#algorithm.kind === 'random') this.#takeStates()
    else this.#takeReadings(this.#algorithm.ttl, now, view.facts)
    const raw = this.#raw
    const missing = this.#missing(raw)
    for (let i = 0; i < raw.length; i++) view.values[i] = effective(raw[i] as number, missing)
    this.#bandLength = fillBand(raw, raw.length, missing, this.#threshold, this.#band)
    view.facts[FACT_BAND] = this.#bandLength
  }

  fill(into: Uint32Array): number {
    const generator = this.#generator
    copyState(generator, this.#before)
    const length = this.#bandLength
    if (length === 0) return 0
    const band = this.#band
    for (let i = 0; i < into.length; i++) into[i] = band[generator.below(length)] as number
    return into.length
  }

  rewind(kept: number): void {
    this.#generator.restore(this.#before)
    for (let i = 0; i < kept; i++) this.#generator.next()
  }

  pickExcluding(excluded: Uint32Array): number {
    const raw = this.#raw.slice()
    for (const index of excluded) if (index < raw.length) raw[index] = OUT
    const band = new Uint32Array(raw.length)
    const length = fillBand(raw, raw.length, this.#missing(raw), this.#threshold, band)
    return length === 0 ? -1 : (band[this.#generator.below(length)] as number)
  }

  #takeStates(): void {
    const { states } = this.#members
    for (let i = 0; i < states.length; i++) this.#raw[i] = states[i] === MEMBER_UP ? 0 : OUT
  }

  #takeReadings(ttl: number, now: number, facts: Float64Array): void {
    const { slots, generations, states } = this.#members
    const raw = this.#raw
    const reading = this.#reading
    let nextExpiry = Number.POSITIVE_INFINITY
    let fresh = 0
    for (let i = 0; i < slots.length; i++) {
      if (states[i] !== MEMBER_UP) {
        raw[i] = OUT
        continue
      }
      readReading(this.#memory, slots[i] as number, reading)
      if (
        reading.value < 0 ||
        reading.tag !== readingTag(generations[i] as number) ||
        now - reading.time > ttl
      ) {
        raw[i] = MISSING
        continue
      }
      raw[i] = reading.value
      fresh++
      if (reading.time < nextExpiry) nextExpiry = reading.time
    }
    facts[FACT_NEXT_EXPIRY] = nextExpiry + ttl + 1
    facts[FACT_FRESH] = fresh
  }

  #missing(raw: Int32Array): number {
    return this.#algorithm.kind === 'random' ? 0 : substitute(this.#algorithm.missing, raw, raw.length)
  }
}

function copyState(from: GeneratorState, to: GeneratorState): void {
  to.s0 = from.s0
  to.s1 = from.s1
  to.s2 = from.s2
  to.s3 = from.s3
}
