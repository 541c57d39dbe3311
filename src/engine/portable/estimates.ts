import type { MemberArrays } from '../engine.js'
import { placesBefore, valuesAt } from './kept.js'

/**
 * A smoothed reading for each member: a first-order lag, by the implicit Euler step, so that it is a matter of time and
 * not of how often samples come. Kept as long as the member stays.
 */
export class Estimates {
  readonly #smoothing: number
  #values = new Float64Array(0)
  #times = new Float64Array(0)
  #members: MemberArrays | undefined

  /** @param smoothing time constant, ms; 0: none */
  constructor(smoothing: number) {
    this.#smoothing = smoothing
  }

  /** Takes over the members; those that stay keep their estimates. */
  setMembers(members: MemberArrays): void {
    if (this.#smoothing === 0) return
    const places = placesBefore(this.#members, members)
    this.#values = valuesAt(places, this.#values, 0)
    this.#times = valuesAt(places, this.#times, Number.NEGATIVE_INFINITY)
    this.#members = members
  }

  /** Takes a fresh reading of a member, and gives the estimate. */
  update(i: number, value: number, time: number): number {
    if (this.#smoothing === 0) return value
    const last = this.#times[i] as number
    const before = this.#values[i] as number
    if (time <= last) return before
    const step = time - last
    const estimate =
      last === Number.NEGATIVE_INFINITY
        ? value
        : before + (value - before) * (step / (this.#smoothing + step))
    this.#values[i] = estimate
    this.#times[i] = time
    return estimate
  }
}
