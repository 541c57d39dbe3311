import { CPU_MAX } from '../../table/layout.js'
import type { MemberArrays } from '../engine.js'
import { placesBefore, valuesAt } from './kept.js'

/** What a pick costs before it is known, 1/1000 percentage points. */
const FIRST_COST = 1_000
/** The least that a pick is taken to cost. */
const LEAST_COST = 0.001
/** Samples a member over which the cost is learned: then what came before counts half. */
const SAMPLES = 8

/**
 * Own picks of each member since its reading, and what one of them adds to a reading. Learned as the CPU of all members
 * over the picks that were made between their readings: if others send as this balancer does, a pick of its own stands
 * for theirs too.
 */
export class OwnSends {
  /** What one pick adds to its node's CPU, 1/1000 percentage points. */
  cost: number
  readonly #learns: boolean
  // Kept as long as the member stays.
  #sent = new Float64Array(0)
  #times = new Float64Array(0)
  #members: MemberArrays | undefined
  #cpuSum = 0
  #sentSum = 0
  #samples = 0

  /** @param cost of a pick, 1/1000 percentage points; true: learned */
  constructor(cost: number | true) {
    this.#learns = cost === true
    this.cost = cost === true ? FIRST_COST : cost
  }

  setMembers(members: MemberArrays): void {
    const places = placesBefore(this.#members, members)
    this.#sent = valuesAt(places, this.#sent, 0)
    this.#times = valuesAt(places, this.#times, Number.NEGATIVE_INFINITY)
    this.#members = members
  }

  /** Takes a fresh reading of a member: a later one than before has its picks in it. */
  take(i: number, cpu: number, time: number): void {
    const last = this.#times[i] as number
    if (time <= last) return
    if (last !== Number.NEGATIVE_INFINITY) {
      this.#cpuSum += cpu
      this.#sentSum += this.#sent[i] as number
      this.#samples++
    }
    this.#sent[i] = 0
    this.#times[i] = time
  }

  /** Learns what a pick costs, once all readings were taken. */
  learn(): void {
    if (this.#learns && this.#sentSum > 0) {
      this.cost = Math.min(Math.max(this.#cpuSum / this.#sentSum, LEAST_COST), CPU_MAX)
    }
    if (this.#samples >= SAMPLES * this.#sent.length) {
      this.#cpuSum /= 2
      this.#sentSum /= 2
      this.#samples /= 2
    }
  }

  /** Counts a pick. */
  count(i: number): void {
    this.#sent[i] = (this.#sent[i] as number) + 1
  }

  /** What the picks since its reading add to a member's CPU, 1/1000 percentage points. */
  load(i: number): number {
    return (this.#sent[i] as number) * this.cost
  }
}
