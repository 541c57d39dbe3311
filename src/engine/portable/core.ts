import { type Algorithm, isLive } from '../../algorithms/algorithm.js'
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
import { metricOf } from '../metric-of.js'
import { MISSING, OUT } from './band.js'
import { Estimates } from './estimates.js'
import { Flights } from './flights.js'
import { Generator, type GeneratorState } from './generator.js'
import { takeMetric } from './metric-readings.js'
import { type Dice, type Plan, UniformPlan } from './plan.js'
import { fillValues, planOf } from './plan-of.js'

const NO_MEMBERS: MemberArrays = {
  slots: new Uint32Array(0),
  generations: new Uint32Array(0),
  states: new Uint8Array(0),
  weights: new Float64Array(0),
}

const NO_PLAN: Plan = new UniformPlan(new Uint32Array(0), 0)

/** An engine core in TypeScript; `engine.ts` says what it does. */
export class PortableCore implements EngineCore {
  readonly name = 'portable'
  readonly live: boolean
  readonly #memory: TableMemory
  readonly #algorithm: Algorithm
  readonly #dice: Dice
  // Where the dice were before the last fill.
  readonly #before: GeneratorState = { s0: 0, s1: 0, s2: 0, s3: 0 }
  #turnBefore = 0
  readonly #reading: MutableReading = { time: 0, tag: 0, value: 0 }
  readonly #estimates: Estimates | undefined
  // The metric's place among a slot's, for algorithms that go by one.
  readonly #metric: number
  readonly #thread: number
  #members = NO_MEMBERS
  #flights: Flights
  // Readings as they were at the last refresh: a value, MISSING or OUT.
  #raw = new Float64Array(0)
  #plan = NO_PLAN

  constructor(memory: TableMemory, algorithm: Algorithm, seed: readonly [number, number], thread: number) {
    this.#memory = memory
    this.#algorithm = algorithm
    this.live = isLive(algorithm)
    this.#metric = metricOf(memory, algorithm)
    this.#thread = thread
    this.#flights = new Flights(memory, NO_MEMBERS.slots, NO_MEMBERS.generations)
    const generator = new Generator(seed)
    this.#dice = { generator, turn: algorithm.kind === 'roundRobin' ? generator.next() : 0 }
    if (algorithm.kind === 'spareCapacity') this.#estimates = new Estimates(algorithm.smoothing)
  }

  setMembers(members: MemberArrays): void {
    this.#members = members
    this.#flights = new Flights(this.#memory, members.slots, members.generations)
    this.#estimates?.setMembers(members)
    if (this.#raw.length !== members.slots.length) this.#raw = new Float64Array(members.slots.length)
  }

  refresh(now: number, view: View): void {
    const { facts, values } = view
    // The generation first: what is published while we read is then read again.
    facts[FACT_GENERATION] = Atomics.load(this.#memory.header, GENERATION_WORD)
    facts[FACT_NEXT_EXPIRY] = Number.POSITIVE_INFINITY
    facts[FACT_FRESH] = 0
    if (this.#algorithm.kind === 'powerOfTwo') {
      takeMetric(this.#memory, this.#metric, this.#members, this.#algorithm.ttl, now, this.#raw, facts)
    } else if ('ttl' in this.#algorithm) this.#takeReadings(this.#algorithm.ttl, now, facts)
    else this.#takeStates()
    fillValues(this.#algorithm, this.#raw, values)
    this.#plan = planOf(this.#algorithm, this.#raw, this.#raw.length, this.#flights, this.#thread)
    facts[FACT_BAND] = this.#plan.length
  }

  fill(into: Uint32Array): number {
    copyState(this.#dice.generator, this.#before)
    this.#turnBefore = this.#dice.turn
    if (this.#plan.length === 0) return 0
    this.#plan.fill(into, this.#dice)
    return into.length
  }

  pick(): number {
    return this.#plan.length === 0 ? -1 : this.#plan.draw(this.#dice)
  }

  rewind(kept: number): void {
    this.#dice.generator.restore(this.#before)
    this.#dice.turn = this.#turnBefore
    for (let i = 0; i < kept; i++) this.#plan.draw(this.#dice)
  }

  pickExcluding(excluded: Uint32Array): number {
    if (this.#algorithm.kind === 'roundRobin') return this.#nextInTurn(new Set(excluded))
    const raw = this.#raw.slice()
    for (const index of excluded) if (index < raw.length) raw[index] = OUT
    const plan = planOf(this.#algorithm, raw, raw.length, this.#flights, this.#thread)
    return plan.length === 0 ? -1 : plan.draw(this.#dice)
  }

  fillShares(shares: Float64Array): void {
    const plan = this.#plan
    shares.fill(0)
    for (let i = 0; i < plan.length; i++) shares[plan.band[i] as number] = plan.share(i)
  }

  #nextInTurn(excluded: ReadonlySet<number>): number {
    const { band, length } = this.#plan
    for (let i = 0; i < length; i++) {
      const place = (this.#dice.turn + i) % length
      const index = band[place] as number
      if (excluded.has(index)) continue
      this.#dice.turn = place + 1
      return index
    }
    return -1
  }

  #takeStates(): void {
    const { states } = this.#members
    for (let i = 0; i < states.length; i++) this.#raw[i] = states[i] === MEMBER_UP ? 0 : OUT
  }

  #takeReadings(ttl: number, now: number, facts: Float64Array): void {
    const { slots, generations, states } = this.#members
    const raw = this.#raw
    const reading = this.#reading
    let oldest = Number.POSITIVE_INFINITY
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
      raw[i] = this.#estimates?.update(i, reading.value, reading.time) ?? reading.value
      fresh++
      if (reading.time < oldest) oldest = reading.time
    }
    facts[FACT_NEXT_EXPIRY] = oldest + ttl + 1
    facts[FACT_FRESH] = fresh
  }
}

function copyState(from: GeneratorState, to: GeneratorState): void {
  to.s0 = from.s0
  to.s1 = from.s1
  to.s2 = from.s2
  to.s3 = from.s3
}
