import type { MemberArrays } from '../engine.js'

/** Slot and slot generation of a member in one number, exact: slots are below 2^20. */
export function keyOf(members: MemberArrays, i: number): number {
  return (members.slots[i] as number) * 2 ** 32 + (members.generations[i] as number)
}

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
    const before = this.#members
    const known = new Map<number, number>()
    if (before !== undefined) for (let i = 0; i < before.slots.length; i++) known.set(keyOf(before, i), i)
    const values = new Float64Array(members.slots.length)
    const times = new Float64Array(members.slots.length).fill(Number.NEGATIVE_INFINITY)
    for (let i = 0; i < members.slots.length; i++) {
      const place = known.get(keyOf(members, i))
      if (place === undefined) continue
      values[i] = this.#values[place] as number
      times[i] = this.#times[place] as number
    }
    this.#values = values
    this.#times = times
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
