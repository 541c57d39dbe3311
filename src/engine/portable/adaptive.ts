import type { AdaptiveAlgorithm } from '../../algorithms/algorithm.js'
import { type Learner, MEMBER_UP, type MemberArrays, NOT_ELIGIBLE } from '../engine.js'
import type { Flights } from './flights.js'
import type { Generator } from './generator.js'
import { placesBefore, valuesAt } from './kept.js'
import type { Dice, Plan } from './plan.js'

/** Responses of a node over which its cost is learned. */
const MEMORY = 128
/** Responses that the mean of all nodes counts as, in each node's cost. */
const PRIOR = 5
/** Part of the way that a share of errors goes at each response. */
const ERROR_GAIN = 1 / 8
/** Time constant with which a share of errors fades, ms. */
const FORGIVING = 5_000
/** A node's cost is at most so many times the mean. */
const WITHIN = 10
/** Difference of two scores that counts as none, where this process sends all that the nodes get. */
const BAND = 0.2
/** What this process is taken to send of what the nodes get, where no report says. */
const OWN_SHARE = 0.25
/** Time constant over which that share is taken from reports, ms. */
const SMOOTHING = 10_000
/** The shortest response time that is told from none, ms. */
const SHORTEST = 1e-3
/** All members are compared where there are at most so many, */
const ALL = 16
/** else those of the least cost, */
const CHEAPEST = 4
/** those that ran empty last, */
const EMPTIED = 8
/** and some at random. */
const DRAWN = 4

/** What an adaptive core knows of its members, and how it draws. The contract in `engine.ts` says what it does. */
export class Adaptive implements Plan, Learner {
  band = new Uint32Array(0)
  length = 0
  readonly #fading: number
  readonly #errorCost: number
  #members: MemberArrays | undefined
  #flights: Flights | undefined
  // By member, kept as long as it stays.
  #loads = new Float64Array(0)
  #times = new Float64Array(0)
  #errors = new Float64Array(0)
  #ahead = new Float64Array(0)
  #cost = new Float64Array(0)
  #up = new Uint8Array(0)
  #meanCost = 1
  #refreshed: number | undefined
  #ownInFlight = 0
  #allInFlight = 0
  #scatter = BAND * OWN_SHARE
  readonly #cheapest: number[] = []
  readonly #emptied: number[] = []
  #oldest = 0
  readonly #candidates = new Uint32Array(Math.max(ALL, CHEAPEST + EMPTIED + DRAWN))
  readonly #scores = new Float64Array(this.#candidates.length)

  constructor({ fading, errorCost }: AdaptiveAlgorithm) {
    this.#fading = fading
    this.#errorCost = errorCost
  }

  /** Takes over the members; those that stay keep what is known of them. */
  setMembers(members: MemberArrays, flights: Flights): void {
    const places = placesBefore(this.#members, members)
    const kept = (values: Float64Array) => valuesAt(places, values, 0)
    this.#loads = kept(this.#loads)
    this.#times = kept(this.#times)
    this.#errors = kept(this.#errors)
    this.#ahead = kept(this.#ahead)
    this.#cost = kept(this.#cost)
    for (const [i, place] of places.entries()) if (place < 0) this.#learn(i)
    this.#members = members
    this.#flights = flights
    this.#up = Uint8Array.from(members.states, (state) => (state === MEMBER_UP ? 1 : 0))
    this.band = Uint32Array.from(members.states.keys()).filter((i) => this.#up[i] === 1)
    this.length = this.band.length
    this.#cheapest.length = 0
    this.#emptied.length = 0
    this.#oldest = 0
  }

  /**
   * Fades what is known, and takes what reports say.
   * @param now table time, ms
   * @param spare CPU that each member has to spare, 0-1; NaN where that is not known
   * @param reported requests in flight at each member; NaN where that is not known
   */
  refresh(now: number, spare: Float64Array, reported: Float64Array): void {
    const elapsed = Math.max(0, now - (this.#refreshed ?? now))
    this.#refreshed = now
    this.#fade(elapsed, spare)
    this.#share(elapsed, reported)
    this.#order()
  }

  /** What one request costs at each member, ms; `NOT_ELIGIBLE` where it is not up. */
  fillValues(values: Float64Array): void {
    for (let i = 0; i < values.length; i++)
      values[i] = this.#up[i] === 1 ? (this.#cost[i] as number) : NOT_ELIGIBLE
  }

  draw({ generator }: Dice): number {
    const { band, length } = this
    const candidates = this.#candidates
    let count = 0
    if (length <= ALL) for (; count < length; count++) candidates[count] = band[count] as number
    else {
      for (const i of this.#cheapest) candidates[count++] = i
      for (const i of this.#emptied) candidates[count++] = i
      for (let k = 0; k < DRAWN; k++) candidates[count++] = band[generator.below(length)] as number
    }
    return this.#best(count, generator)
  }

  fill(into: Uint32Array, dice: Dice): void {
    for (let k = 0; k < into.length; k++) {
      const i = this.draw(dice)
      this.sent(i)
      into[k] = i
    }
  }

  share(): number {
    return 1 / this.length
  }

  /** A draw without some members; -1 where no one is left. */
  drawExcluding(excluded: ReadonlySet<number>, { generator }: Dice): number {
    const left = this.band.filter((i) => !excluded.has(i))
    if (left.length === 0) return -1
    const candidates = this.#candidates
    let count = 0
    if (left.length <= ALL) for (; count < left.length; count++) candidates[count] = left[count] as number
    else {
      for (const i of this.#cheapest) if (!excluded.has(i)) candidates[count++] = i
      for (const i of this.#emptied) if (!excluded.has(i)) candidates[count++] = i
      for (let k = 0; k < DRAWN; k++) candidates[count++] = left[generator.below(left.length)] as number
    }
    return this.#best(count, generator)
  }

  sent(i: number): void {
    this.#ahead[i] = (this.#ahead[i] as number) + 1
  }

  ended(i: number, left: number, ok: boolean, latency: number): void {
    if (left === 0 && this.length > ALL && this.#up[i] === 1) {
      this.#emptied[this.#oldest] = i
      this.#oldest = (this.#oldest + 1) % EMPTIED
    }
    const errors = this.#errors[i] as number
    this.#errors[i] = errors + ERROR_GAIN * ((ok ? 0 : 1) - errors)
    if (ok) {
      const keep = 1 - 1 / MEMORY
      this.#loads[i] = (this.#loads[i] as number) * keep + (left + 1)
      this.#times[i] = (this.#times[i] as number) * keep + Math.max(latency, SHORTEST)
    }
    this.#learn(i)
  }

  // The least score, or at random among those within the band of it.
  #best(count: number, generator: Generator): number {
    const candidates = this.#candidates
    const scores = this.#scores
    const ahead = this.#ahead
    const cost = this.#cost
    const flights = this.#flights as Flights
    let least = Number.POSITIVE_INFINITY
    for (let k = 0; k < count; k++) {
      const i = candidates[k] as number
      const score = (flights.at(i) + (ahead[i] as number) + 1) * (cost[i] as number)
      scores[k] = score
      least = Math.min(least, score)
    }
    const most = least * (1 + this.#scatter)
    // Those that count as equals move to the front; written each time, since a branch would be guessed wrong too often.
    let alike = 0
    for (let k = 0; k < count; k++) {
      candidates[alike] = candidates[k] as number
      alike += (scores[k] as number) <= most ? 1 : 0
    }
    return candidates[alike > 1 ? generator.below(alike) : 0] as number
  }

  #learn(i: number): void {
    const cost = ((this.#times[i] as number) + PRIOR * this.#meanCost) / ((this.#loads[i] as number) + PRIOR)
    this.#cost[i] = cost * (1 + this.#errorCost * (this.#errors[i] as number))
  }

  #fade(elapsed: number, spare: Float64Array): void {
    const keep = this.#fading / (this.#fading + elapsed)
    const keepErrors = FORGIVING / (FORGIVING + elapsed)
    const count = this.#loads.length
    let loads = 0
    let times = 0
    let least = Number.POSITIVE_INFINITY
    for (let i = 0; i < count; i++) {
      this.#loads[i] = (this.#loads[i] as number) * keep
      this.#times[i] = (this.#times[i] as number) * keep
      this.#errors[i] = (this.#errors[i] as number) * keepErrors
      loads += this.#loads[i] as number
      times += this.#times[i] as number
      if (this.#up[i] === 1) least = Math.min(least, (this.#ahead[i] as number) * (this.#cost[i] as number))
    }
    // One of them fades to nothing before the other: then nothing is known any more, and a cost of 0 would divide by it.
    const isKnown = loads > 0 && times > 0
    if (isKnown) this.#meanCost = times / loads
    const meanSpare = meanOf(spare)
    for (let i = 0; i < count; i++) {
      const ahead = Math.max(0, (this.#ahead[i] as number) * (this.#cost[i] as number) - least)
      if (isKnown) {
        this.#times[i] = Math.min(
          this.#times[i] as number,
          WITHIN * this.#meanCost * (this.#loads[i] as number),
        )
        this.#learn(i)
      } else {
        const known = spare[i] as number
        this.#cost[i] = 1 / (Number.isNaN(known) ? meanSpare : known)
      }
      this.#ahead[i] = ahead / (this.#cost[i] as number)
    }
  }

  // What this process has in flight, of what the nodes have.
  #share(elapsed: number, reported: Float64Array): void {
    let own = 0
    let all = 0
    for (let i = 0; i < reported.length; i++) {
      const known = reported[i] as number
      if (Number.isNaN(known)) continue
      own += (this.#flights as Flights).at(i)
      all += known
    }
    const gain = elapsed / (SMOOTHING + elapsed)
    this.#ownInFlight = this.#ownInFlight + gain * (own - this.#ownInFlight)
    this.#allInFlight = this.#allInFlight + gain * (all - this.#allInFlight)
    const ownShare = this.#allInFlight > 0 ? Math.min(1, this.#ownInFlight / this.#allInFlight) : OWN_SHARE
    this.#scatter = BAND * ownShare
  }

  // The members of the least cost, the first of equals first.
  #order(): void {
    const cheapest = this.#cheapest
    cheapest.length = 0
    if (this.length <= ALL) return
    const costOf = (place: number) => this.#cost[cheapest[place] as number] as number
    for (const i of this.band) {
      const cost = this.#cost[i] as number
      let place = cheapest.length
      while (place > 0 && cost < costOf(place - 1)) place--
      if (place >= CHEAPEST) continue
      cheapest.splice(place, 0, i)
      if (cheapest.length > CHEAPEST) cheapest.pop()
    }
  }
}

// The mean of what is known; 1 where nothing is.
function meanOf(values: Float64Array): number {
  let sum = 0
  let count = 0
  for (const value of values) {
    if (Number.isNaN(value)) continue
    sum += value
    count++
  }
  return count === 0 ? 1 : sum / count
}
