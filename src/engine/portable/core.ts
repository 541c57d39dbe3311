import type { Kept, PortableDefinition, Readings } from '../../algorithms/definition.js'
import { definitionOf, type EngineAlgorithm, isLive } from '../../algorithms/registry.js'
import { GENERATION_WORD } from '../../table/layout.js'
import type { TableMemory } from '../../table/memory.js'
import {
  type EngineCore,
  FACT_BAND,
  FACT_FRESH,
  FACT_GENERATION,
  FACT_NEXT_EXPIRY,
  type Learner,
  type MemberArrays,
  type View,
} from '../engine.js'
import { OUT } from './band.js'
import { Flights } from './flights.js'
import { Generator, type GeneratorState } from './generator.js'
import { type Dice, type Plan, UniformPlan } from './plan.js'

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
  readonly learner: Learner | undefined
  readonly #memory: TableMemory
  readonly #algorithm: EngineAlgorithm
  readonly #definition: PortableDefinition<EngineAlgorithm>
  readonly #dice: Dice
  // Where the dice were before the last fill.
  readonly #before: GeneratorState = { s0: 0, s1: 0, s2: 0, s3: 0 }
  #turnBefore = 0
  readonly #readings: Readings
  readonly #kept: Kept | undefined
  readonly #thread: number
  #members = NO_MEMBERS
  #flights: Flights
  // Readings, or weights, as they were at the last refresh: a value, MISSING or OUT.
  #raw = new Float64Array(0)
  #plan: Plan = NO_PLAN

  constructor(
    memory: TableMemory,
    algorithm: EngineAlgorithm,
    seed: readonly [number, number],
    thread: number,
  ) {
    this.#memory = memory
    this.#algorithm = algorithm
    this.#definition = definitionOf(algorithm).portable as PortableDefinition<EngineAlgorithm>
    this.live = isLive(algorithm)
    this.#thread = thread
    this.#flights = new Flights(memory, NO_MEMBERS.slots, NO_MEMBERS.generations)
    const generator = new Generator(seed)
    // By chance: the balancers of many processes do not all begin with the same member.
    this.#dice = { generator, turn: this.#definition.takesTurns ? generator.next() : 0 }
    this.#readings = this.#definition.readings(memory, algorithm)
    this.#readings.setMembers?.(NO_MEMBERS)
    this.#kept = this.#definition.keep?.(memory, algorithm, generator)
    this.learner = this.#kept?.learner
  }

  setMembers(members: MemberArrays): void {
    this.#members = members
    this.#flights = new Flights(this.#memory, members.slots, members.generations)
    this.#readings.setMembers?.(members)
    this.#kept?.setMembers(members, this.#flights)
    if (this.#raw.length !== members.slots.length) this.#raw = new Float64Array(members.slots.length)
  }

  refresh(now: number, view: View): void {
    const { facts, values } = view
    // The generation first: what is published while we read is then read again.
    facts[FACT_GENERATION] = Atomics.load(this.#memory.header, GENERATION_WORD)
    facts[FACT_NEXT_EXPIRY] = Number.POSITIVE_INFINITY
    facts[FACT_FRESH] = 0
    this.#readings.take(this.#members, now, this.#raw, facts)
    this.#definition.fillValues(this.#algorithm, this.#raw, values)
    this.#kept?.refresh(now, this.#raw, view)
    const before = this.#plan
    this.#plan = this.#planOf(this.#raw)
    this.#plan.startAfter?.(before, this.#dice)
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

  probed(member: number, inFlight: number, latency: number, time: number): number {
    return this.#kept?.probed?.(member, inFlight, latency, time) ?? Number.POSITIVE_INFINITY
  }

  atRandom(): number {
    return this.#kept?.atRandom ?? 0
  }

  rewind(kept: number): void {
    this.#dice.generator.restore(this.#before)
    this.#dice.turn = this.#turnBefore
    for (let i = 0; i < kept; i++) this.#plan.draw(this.#dice)
  }

  pickExcluding(excluded: Uint32Array): number {
    if (this.#plan.drawExcluding !== undefined) return this.#plan.drawExcluding(new Set(excluded), this.#dice)
    const raw = this.#raw.slice()
    for (const index of excluded) if (index < raw.length) raw[index] = OUT
    const plan = this.#planOf(raw)
    return plan.length === 0 ? -1 : plan.draw(this.#dice)
  }

  fillShares(shares: Float64Array): void {
    const plan = this.#plan
    shares.fill(0)
    for (let i = 0; i < plan.length; i++) shares[plan.band[i] as number] = plan.share(i)
  }

  get ignored(): number {
    return this.#readings.ignored ?? 0
  }

  #planOf(raw: Float64Array): Plan {
    if (this.#kept !== undefined) return this.#kept.plan(raw)
    return this.#definition.plan(this.#algorithm, {
      raw,
      count: raw.length,
      flights: this.#flights,
      weights: this.#members.weights,
      thread: this.#thread,
    })
  }
}

function copyState(from: GeneratorState, to: GeneratorState): void {
  to.s0 = from.s0
  to.s1 = from.s1
  to.s2 = from.s2
  to.s3 = from.s3
}
