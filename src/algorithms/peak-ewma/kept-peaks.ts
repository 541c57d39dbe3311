import {
  FACT_NEXT_EXPIRY,
  type Learner,
  MEMBER_UP,
  type MemberArrays,
  NOT_ELIGIBLE,
  type View,
} from '../../engine/engine.js'
import type { Flights } from '../../engine/portable/flights.js'
import { placesBefore, valuesAt } from '../../engine/portable/kept.js'
import { type Loads, LowestPlan } from '../../engine/portable/lowest.js'
import { type Plan, planUniform } from '../../engine/portable/plan.js'
import type { Kept } from '../definition.js'
import { CHOICES, REFRESH } from './constants.js'
import type { PeakEwmaAlgorithm } from './options.js'

/** The peaks of the latency of each member, and the costs that they make. `index.ts` says what they are. */
export class KeptPeaks implements Kept, Learner, Loads {
  readonly #algorithm: PeakEwmaAlgorithm
  #peaks = new Float64Array(0)
  #members: MemberArrays | undefined
  #flights: Flights | undefined
  #refreshed: number | undefined

  constructor(algorithm: PeakEwmaAlgorithm) {
    this.#algorithm = algorithm
  }

  get learner(): Learner {
    return this
  }

  setMembers(members: MemberArrays, flights: Flights): void {
    const places = placesBefore(this.#members, members)
    this.#peaks = valuesAt(places, this.#peaks, this.#algorithm.initialLatency)
    this.#members = members
    this.#flights = flights
  }

  refresh(now: number, _raw: Float64Array, { values, facts }: View): void {
    const { decay } = this.#algorithm
    // 0 too where a clock gave no number once.
    const elapsed = Math.max(0, now - (this.#refreshed ?? now) || 0)
    this.#refreshed = now
    const keep = decay / (decay + elapsed)
    for (let i = 0; i < this.#peaks.length; i++) {
      const peak = (this.#peaks[i] as number) * keep
      this.#peaks[i] = peak
      values[i] = this.#members?.states[i] === MEMBER_UP ? peak : NOT_ELIGIBLE
    }
    facts[FACT_NEXT_EXPIRY] = now + REFRESH
  }

  plan(raw: Float64Array): Plan {
    const { band, length } = planUniform(raw, raw.length)
    return new LowestPlan(band, length, this, CHOICES)
  }

  at(index: number): number {
    return (this.#peaks[index] as number) * ((this.#flights as Flights).at(index) + 1)
  }

  sent(): void {}

  setAside(): void {}

  ended(index: number, _left: number, ok: boolean, latency: number): void {
    const { errorLatency } = this.#algorithm
    const sample = ok || latency > errorLatency ? latency : errorLatency
    if (sample > (this.#peaks[index] as number)) this.#peaks[index] = sample
  }
}
