/** How much of something is allowed. */
export interface Allowance {
  /** At once. */
  readonly burst: number
  /** Each second beyond that. */
  readonly rate: number
}

/** What is left of an allowance: it fills up with time, to the burst at most. */
export class Budget {
  readonly #allowance: Allowance
  #left: number
  #at: number

  /** @param now ms, by any clock that `take` is given too */
  constructor(allowance: Allowance, now: number) {
    this.#allowance = allowance
    this.#left = allowance.burst
    this.#at = now
  }

  /** Takes an amount; false, and nothing is taken, where that is more than there is. */
  take(amount: number, now: number): boolean {
    const { burst, rate } = this.#allowance
    this.#left = Math.min(burst, this.#left + ((now - this.#at) / 1_000) * rate)
    this.#at = now
    if (amount > this.#left) return false
    this.#left -= amount
    return true
  }
}
