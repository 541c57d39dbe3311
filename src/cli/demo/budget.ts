/** Time over which a budget that could not be used is made up for, ms; as long as a period of a cgroup's quota. */
const MADE_UP = 100

/** CPU time that may be used: it comes in at a steady rate, and is spent by those who work. */
export class Budget {
  /** CPU ms that may be used now; below zero where more was used. */
  level = 0
  /** CPU ms that were forfeited though there was work: the system was late to let this process run. */
  lost = 0
  readonly #rate: number
  readonly #idleMost: number
  #at: number

  /**
   * @param rate CPU ms a ms
   * @param idleMost CPU ms that are kept while there is no work
   * @param now ms
   */
  constructor(rate: number, idleMost: number, now: number) {
    this.#rate = rate
    this.#idleMost = idleMost
    this.#at = now
  }

  /** Takes in what came since the last time. `working`: whether there was work for it. */
  accrue(now: number, working: boolean): void {
    this.level += (now - this.#at) * this.#rate
    this.#at = now
    const most = working ? Math.max(this.#idleMost, MADE_UP * this.#rate) : this.#idleMost
    if (this.level <= most) return
    if (working) this.lost += this.level - most
    this.level = most
  }

  spend(ms: number): void {
    this.level -= ms
  }

  /** How long it takes until `ms` may be used, ms. */
  waitFor(ms: number): number {
    return this.level >= ms ? 0 : (ms - this.level) / this.#rate
  }
}
