import {
  FACT_NEXT_EXPIRY,
  type Learner,
  MEMBER_UP,
  type MemberArrays,
  NOT_ELIGIBLE,
  type View,
} from '../../engine/engine.js'
import type { Flights } from '../../engine/portable/flights.js'
import { placesBefore } from '../../engine/portable/kept.js'
import { MetricReadings } from '../../engine/portable/metric-readings.js'
import type { Dice, Plan } from '../../engine/portable/plan.js'
import { METRICS } from '../../table/layout.js'
import type { TableMemory } from '../../table/memory.js'
import type { Kept } from '../definition.js'
import { calmOf } from './calm.js'
import * as constants from './constants.js'
import {
  AHEAD,
  ALL,
  BAND,
  BUSY,
  CALM,
  CHEAPEST,
  COST,
  DRAWN,
  EMPTIED,
  ERRORS,
  FAR,
  KNOWN,
  LEAST,
  LOADS,
  MEAN,
  OWN_SHARE,
  PICKED,
  REFRESH,
  SMOOTHING,
  THIN,
  TIMES,
} from './constants.js'
import { Learned } from './learned.js'
import type { AdaptiveAlgorithm } from './options.js'
import { busyCost, type Spare, spareOf, spareOfAll } from './reported.js'

// Of this module's own: what is imported is no constant to the compiler, but looked up each time.
const MOST = ALL
const AT_RANDOM = DRAWN
const IN_FLIGHT_METRIC = METRICS.indexOf('inFlight')

/** What an adaptive core knows of its members, and how it draws. The contract in `engine.ts` says what it does. */
export class Adaptive implements Plan, Learner {
  band = new Uint32Array(0)
  length = 0
  readonly #fading: number
  readonly #learned: Learned
  #members: MemberArrays | undefined
  #up = new Uint8Array(0)
  #refreshed: number | undefined
  #ownInFlight = 0
  #allInFlight = 0
  readonly #cheapest: number[] = []
  readonly #emptied: number[] = []
  #oldest = 0
  readonly #candidates = new Uint32Array(Math.max(ALL, CHEAPEST + EMPTIED + DRAWN))

  constructor({ fading, errorCost }: AdaptiveAlgorithm) {
    this.#fading = fading
    this.#learned = new Learned(errorCost)
    this.#learned.start()
  }

  /** Takes over the members; those that stay keep what is known of them. */
  setMembers(members: MemberArrays, flights: Flights): void {
    const places = placesBefore(this.#members, members)
    const before = this.#learned.known
    const known = new Float64Array(KNOWN * (places.length + 1))
    known.set(before.subarray(0, KNOWN))
    known[constants.RETRIED] = -1
    this.#learned.known = known
    for (const [i, place] of places.entries()) {
      if (place < 0) this.#learned.join(i)
      else known.set(before.subarray(KNOWN * (place + 1), KNOWN * (place + 2)), KNOWN * (i + 1))
    }
    this.#members = members
    this.#learned.flights = flights
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
    // 0 too where a clock told no number once: as in Rust, and else all would be no number for ever.
    const elapsed = Math.max(0, now - (this.#refreshed ?? now) || 0)
    this.#refreshed = now
    const all = spareOfAll(spare)
    this.#fade(elapsed)
    this.#measure()
    const ownShare = this.#share(elapsed, reported)
    this.#learned.known[CALM] = calmOf({
      cpu: all.fresh * 2 > this.length ? 1 - all.mean : undefined,
      ownShare,
      isFew: this.length <= ALL,
      known: this.#learned.known,
    })
    this.#setCosts(spare, all)
    this.#order()
    this.#findRetried()
  }

  /** Whether a cost has been learned from responses. */
  get isKnown(): boolean {
    return this.#learned.known[constants.IS_KNOWN] === 1
  }

  /** What one request costs at each member, ms; `NOT_ELIGIBLE` where it is not up. */
  fillValues(values: Float64Array): void {
    const { known } = this.#learned
    for (let i = 0; i < values.length; i++)
      values[i] = this.#up[i] === 1 ? (known[KNOWN * (i + 1) + COST] as number) : NOT_ELIGIBLE
  }

  draw({ generator }: Dice): number {
    const { band, length } = this
    const retried = this.#learned.retried()
    if (retried >= 0) return retried
    if (length <= MOST) return this.#learned.best(band, length, generator)
    const candidates = this.#candidates
    let count = 0
    for (const i of this.#cheapest) candidates[count++] = i
    for (const i of this.#emptied) candidates[count++] = i
    for (let k = 0; k < AT_RANDOM; k++) candidates[count++] = band[generator.below(length)] as number
    return this.#learned.best(candidates, count, generator)
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
    if (left.length <= ALL) return this.#learned.best(left, left.length, generator)
    const candidates = this.#candidates
    let count = 0
    for (const i of this.#cheapest) if (!excluded.has(i)) candidates[count++] = i
    for (const i of this.#emptied) if (!excluded.has(i)) candidates[count++] = i
    for (let k = 0; k < DRAWN; k++) candidates[count++] = left[generator.below(left.length)] as number
    return this.#learned.best(candidates, count, generator)
  }

  sent(i: number): void {
    this.#learned.sent(i)
  }

  setAside(i: number, count: number): void {
    this.#learned.setAside(i, count)
  }

  ended(i: number, left: number, ok: boolean, latency: number, alone: boolean): void {
    if (this.length > ALL && this.#up[i] === 1 && this.#learned.waiting(i, left) === 0) {
      this.#emptied[this.#oldest] = i
      this.#oldest = (this.#oldest + 1) % EMPTIED
    }
    this.#learned.ended(i, left, ok, latency, alone)
  }

  #fade(elapsed: number): void {
    const keep = this.#fading / (this.#fading + elapsed)
    const keepErrors = constants.FORGIVING / (constants.FORGIVING + elapsed)
    const keepPairs = constants.CALM_FADING / (constants.CALM_FADING + elapsed)
    const { known } = this.#learned
    for (const at of [constants.PAIRS, constants.PRODUCTS, constants.SQUARES]) {
      known[at] = (known[at] as number) * keepPairs
    }
    let loads = 0
    let times = 0
    known[constants.FAILING] = (known[constants.FAILING] as number) * keepErrors
    for (let at = KNOWN; at < known.length; at += KNOWN) {
      known[at + LOADS] = (known[at + LOADS] as number) * keep
      known[at + TIMES] = (known[at + TIMES] as number) * keep
      known[at + ERRORS] = (known[at + ERRORS] as number) * keepErrors
      loads += known[at + LOADS] as number
      times += known[at + TIMES] as number
    }
    // One of them fades to nothing before the other: then nothing is known any more, and a cost of 0 would divide by it.
    const isKnown = loads > 0 && times > 0
    known[constants.IS_KNOWN] = Number(isKnown)
    if (isKnown) known[MEAN] = times / loads
  }

  // How far away each member is: by its least response time, beyond that of the nearest.
  #measure(): void {
    const { known } = this.#learned
    let nearest = Number.POSITIVE_INFINITY
    for (const i of this.band) {
      const least = known[KNOWN * (i + 1) + LEAST] as number
      if (least >= 0) nearest = Math.min(nearest, least)
    }
    for (const i of this.band) {
      const at = KNOWN * (i + 1)
      const least = known[at + LEAST] as number
      const few = constants.FAR_FEW / ((known[at + LOADS] as number) + 1)
      const within = (constants.FAR_LEAST + few) * (known[MEAN] as number)
      const far = least < 0 ? 0 : constants.FAR_SHARE * Math.max(0, least - nearest - within)
      known[at + FAR] = far
      const latency = known[at + constants.LATENCY] as number
      known[at + THIN] = far > 0 ? Math.max(constants.LEAST_THIN, 1 - far / latency) : 1
    }
  }

  #setCosts(spare: Float64Array, all: Spare): void {
    const { known } = this.#learned
    const isKnown = known[constants.IS_KNOWN] === 1
    let least = Number.POSITIVE_INFINITY
    for (const i of this.band) {
      const at = KNOWN * (i + 1)
      least = Math.min(least, (known[at + AHEAD] as number) * (known[at + COST] as number))
    }
    for (const [i, own] of spare.entries()) {
      const at = KNOWN * (i + 1)
      const ahead = Math.max(0, (known[at + AHEAD] as number) * (known[at + COST] as number) - least)
      known[at + BUSY] = busyCost(own, all)
      if (isKnown) {
        const most = constants.WITHIN * (known[MEAN] as number) * (known[at + LOADS] as number)
        known[at + TIMES] = Math.min(known[at + TIMES] as number, most)
        this.#learned.learn(i)
      } else {
        known[at + COST] = 1 / (Number.isNaN(own) ? all.mean : own)
      }
      known[at + AHEAD] = ahead / (known[at + COST] as number)
    }
  }

  // The part of what the nodes have in flight that is this process's; 0 where no report says.
  #share(elapsed: number, reported: Float64Array): number {
    let own = 0
    let all = 0
    for (let i = 0; i < reported.length; i++) {
      const known = reported[i] as number
      if (Number.isNaN(known)) continue
      own += (this.#learned.flights as Flights).at(i)
      all += known
    }
    const gain = elapsed / (SMOOTHING + elapsed)
    this.#ownInFlight = this.#ownInFlight + gain * (own - this.#ownInFlight)
    this.#allInFlight = this.#allInFlight + gain * (all - this.#allInFlight)
    const isKnown = this.#allInFlight > 0
    const ownShare = isKnown ? Math.min(1, this.#ownInFlight / this.#allInFlight) : 0
    this.#learned.known[constants.SCATTER] = BAND * (isKnown ? ownShare : OWN_SHARE)
    return ownShare
  }

  // The members of the least cost, the first of equals first.
  #order(): void {
    const cheapest = this.#cheapest
    cheapest.length = 0
    if (this.length <= ALL) return
    const { known } = this.#learned
    const costOf = (index: number) => known[KNOWN * (index + 1) + COST] as number
    for (const i of this.band) {
      const cost = costOf(i)
      let place = cheapest.length
      while (place > 0 && cost < costOf(cheapest[place - 1] as number)) place--
      if (place >= CHEAPEST) continue
      cheapest.splice(place, 0, i)
      if (cheapest.length > CHEAPEST) cheapest.pop()
    }
  }

  // The member that was picked longest ago, where that is long ago and nothing is in flight there.
  #findRetried(): void {
    const { known } = this.#learned
    let last = (known[constants.PICKS] as number) - constants.RETRY * this.length
    known[constants.RETRIED] = -1
    if (known[constants.IS_KNOWN] !== 1) return
    for (const i of this.band) {
      const picked = known[KNOWN * (i + 1) + PICKED] as number
      const flights = (this.#learned.flights as Flights).at(i)
      if (picked >= last || this.#learned.waiting(i, flights) > 0) continue
      last = picked
      known[constants.RETRIED] = i
    }
  }
}

/** What `adaptive` learns, as a core keeps it. */
export class KeptCosts implements Kept {
  readonly learner: Adaptive
  readonly #inFlight: MetricReadings
  #members: MemberArrays | undefined

  constructor(memory: TableMemory, algorithm: AdaptiveAlgorithm) {
    this.learner = new Adaptive(algorithm)
    this.#inFlight = new MetricReadings(memory, IN_FLIGHT_METRIC, algorithm.ttl)
  }

  setMembers(members: MemberArrays, flights: Flights): void {
    this.#members = members
    this.learner.setMembers(members, flights)
  }

  refresh(now: number, raw: Float64Array, { values, facts }: View): void {
    if (this.#members === undefined) return
    this.learner.refresh(now, raw.map(spareOf), this.#inFlight.values(this.#members, now))
    this.learner.fillValues(values)
    facts[FACT_NEXT_EXPIRY] = now + (this.learner.isKnown ? REFRESH : constants.FIRST_REFRESH)
  }

  plan(): Plan {
    return this.learner
  }
}
