import { type EngineAlgorithm, isLive } from '../../algorithms/algorithm.js'
import { CPU_MAX, GENERATION_WORD, METRICS } from '../../table/layout.js'
import type { TableMemory } from '../../table/memory.js'
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
import { utilizationPlaces } from '../utilization-places.js'
import { Adaptive } from './adaptive.js'
import { fillBand, OUT } from './band.js'
import { CpuReadings } from './cpu-readings.js'
import { Flights } from './flights.js'
import { Generator, type GeneratorState } from './generator.js'
import { MetricReadings } from './metric-readings.js'
import { type Dice, type Plan, UniformPlan } from './plan.js'
import { fillValues, planOf } from './plan-of.js'
import { ProbePool } from './probe-pool.js'
import { ProbedPlan } from './probed-plan.js'
import { ReportWeights } from './report-weights.js'
import { StridePlan } from './stride.js'

const NO_MEMBERS: MemberArrays = {
  slots: new Uint32Array(0),
  generations: new Uint32Array(0),
  states: new Uint8Array(0),
  weights: new Float64Array(0),
}

/** Longest time between two refreshes of an adaptive core that is picked from, ms. */
const REFRESH = 1_000
/** The least that a node has to spare, as a share. */
const LEAST_SPARE = 0.01
const IN_FLIGHT_METRIC = METRICS.indexOf('inFlight')

const NO_PLAN: Plan = new UniformPlan(new Uint32Array(0), 0)

/** An engine core in TypeScript; `engine.ts` says what it does. */
export class PortableCore implements EngineCore {
  readonly name = 'portable'
  readonly live: boolean
  readonly learner: Adaptive | undefined
  readonly #memory: TableMemory
  readonly #algorithm: EngineAlgorithm
  readonly #dice: Dice
  // Where the dice were before the last fill.
  readonly #before: GeneratorState = { s0: 0, s1: 0, s2: 0, s3: 0 }
  #turnBefore = 0
  readonly #cpu: CpuReadings | undefined
  // Of `powerOfTwo`.
  readonly #metric: MetricReadings | undefined
  // What members report of their requests in flight, for `adaptive`.
  readonly #inFlight: MetricReadings | undefined
  readonly #thread: number
  readonly #probes: ProbePool | undefined
  readonly #reportWeights: ReportWeights | undefined
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
    this.live = isLive(algorithm)
    this.#thread = thread
    this.#flights = new Flights(memory, NO_MEMBERS.slots, NO_MEMBERS.generations)
    const generator = new Generator(seed)
    // By chance: the balancers of many processes do not all begin with the same member.
    this.#dice = { generator, turn: algorithm.kind === 'roundRobin' ? generator.next() : 0 }
    if (algorithm.kind === 'adaptive') {
      this.learner = new Adaptive(algorithm)
      this.#inFlight = new MetricReadings(memory, IN_FLIGHT_METRIC, algorithm.ttl)
    }
    if (algorithm.kind === 'powerOfTwo') {
      this.#metric = new MetricReadings(memory, metricOf(memory, algorithm), algorithm.ttl)
    }
    if ('smoothing' in algorithm) {
      const { ttl, smoothing, kind } = algorithm
      const options = { ttl, smoothing, isWhole: kind === 'leastCpu' }
      this.#cpu = new CpuReadings(memory, options)
    }
    if (algorithm.kind === 'prequal') this.#probes = new ProbePool(algorithm, generator)
    if (algorithm.kind === 'weightedRoundRobin' && algorithm.weights === undefined) {
      this.#reportWeights = new ReportWeights(memory, algorithm, utilizationPlaces(memory, algorithm))
      this.#reportWeights.setMembers(NO_MEMBERS)
    }
  }

  setMembers(members: MemberArrays): void {
    this.#members = members
    this.#flights = new Flights(this.#memory, members.slots, members.generations)
    this.#cpu?.setMembers(members)
    this.#probes?.setMembers(members)
    this.#reportWeights?.setMembers(members)
    this.learner?.setMembers(members, this.#flights)
    if (this.#raw.length !== members.slots.length) this.#raw = new Float64Array(members.slots.length)
  }

  refresh(now: number, view: View): void {
    const { facts, values } = view
    // The generation first: what is published while we read is then read again.
    facts[FACT_GENERATION] = Atomics.load(this.#memory.header, GENERATION_WORD)
    facts[FACT_NEXT_EXPIRY] = Number.POSITIVE_INFINITY
    facts[FACT_FRESH] = 0
    if (this.#metric !== undefined) this.#metric.take(this.#members, now, this.#raw, facts)
    else if (this.#cpu !== undefined) this.#cpu.take(this.#members, now, this.#raw, facts)
    else if (this.#algorithm.kind === 'weightedRoundRobin') this.#takeWeights(now, facts)
    else this.#takeStates()
    if (this.#probes !== undefined) facts[FACT_NEXT_EXPIRY] = this.#probes.refresh(this.#memory, now)
    if (this.learner !== undefined && this.#inFlight !== undefined) {
      const spare = this.#raw.map(spareOf)
      this.learner.refresh(now, spare, this.#inFlight.values(this.#members, now))
      this.learner.fillValues(values)
      facts[FACT_NEXT_EXPIRY] = now + REFRESH
    } else fillValues(this.#algorithm, this.#raw, values)
    const before = this.#plan
    this.#plan = this.learner ?? this.#planOf(this.#raw)
    if (this.#plan instanceof StridePlan) this.#plan.startAfter(before, this.#dice)
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
    if (this.#probes === undefined) return Number.POSITIVE_INFINITY
    this.#probes.probed(member, inFlight, latency, time)
    return this.#probes.nextExpiry()
  }

  atRandom(): number {
    return this.#probes?.atRandom ?? 0
  }

  rewind(kept: number): void {
    this.#dice.generator.restore(this.#before)
    this.#dice.turn = this.#turnBefore
    for (let i = 0; i < kept; i++) this.#plan.draw(this.#dice)
  }

  pickExcluding(excluded: Uint32Array): number {
    if (this.#algorithm.kind === 'roundRobin') return this.#nextInTurn(new Set(excluded))
    if (this.#plan instanceof StridePlan) return this.#plan.drawExcluding(new Set(excluded), this.#dice)
    if (this.learner !== undefined) return this.learner.drawExcluding(new Set(excluded), this.#dice)
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
    return this.#reportWeights?.ignored ?? 0
  }

  #planOf(raw: Float64Array): Plan {
    if (this.#probes !== undefined) {
      const band = new Uint32Array(raw.length)
      return new ProbedPlan(band, fillBand(raw, raw.length, 0, 0, band), raw, this.#probes)
    }
    return planOf(this.#algorithm, raw, raw.length, this.#flights, this.#members.weights, this.#thread)
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

  #takeWeights(now: number, facts: Float64Array): void {
    const { states, weights } = this.#members
    const reportWeights = this.#reportWeights
    if (reportWeights !== undefined) {
      facts[FACT_FRESH] = reportWeights.refresh(now, this.#raw)
      facts[FACT_NEXT_EXPIRY] = reportWeights.nextUpdate
      return
    }
    for (let i = 0; i < states.length; i++) {
      this.#raw[i] = states[i] === MEMBER_UP ? (weights[i] as number) : OUT
    }
  }
}

// The share of its CPU that a node has to spare; NaN where that is not known.
function spareOf(cpu: number): number {
  return cpu < 0 ? Number.NaN : Math.max(LEAST_SPARE, 1 - cpu / CPU_MAX)
}

function copyState(from: GeneratorState, to: GeneratorState): void {
  to.s0 = from.s0
  to.s1 = from.s1
  to.s2 = from.s2
  to.s3 = from.s3
}
