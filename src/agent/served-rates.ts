/** More slices follow the time more finely, and cost more to add up. */
const SLICES = 20

/** Requests a second and errors a second. */
export interface Rates {
  readonly qps: number
  readonly eps: number
}

/**
 * Counts over a sliding window, in a ring of 20 slices of equal length: O(1) for each thing that is counted, no timer.
 * The slice that is being filled and the 19 before it make up the window, so it is 95 to 100 % of its length, and rates are
 * over just the time that these cover.
 */
export class ServedRates {
  readonly #start: number
  /** Of one slice, ms. */
  readonly #width: number
  readonly #served = new Float64Array(SLICES)
  readonly #failed = new Float64Array(SLICES)
  // Since the start. The slice that is filled now.
  #slice = 0

  /**
   * @param window ms
   * @param now when counting starts, ms
   */
  constructor(window: number, now: number) {
    this.#start = now
    this.#width = window / SLICES
  }

  /** Counts a request that ended now. */
  add(failed: boolean, now: number): void {
    this.#turnTo(now)
    const place = this.#slice % SLICES
    this.#served[place] = (this.#served[place] ?? 0) + 1
    if (failed) this.#failed[place] = (this.#failed[place] ?? 0) + 1
  }

  /** The rates now. In the first slice they are over its whole length: one request in the first ms is not 1,000 a second. */
  rates(now: number): Rates {
    this.#turnTo(now)
    const from = this.#start + Math.max(0, this.#slice - SLICES + 1) * this.#width
    const seconds = Math.max(this.#width, now - from) / 1000
    let served = 0
    let failed = 0
    for (let place = 0; place < SLICES; place++) {
      served += this.#served[place] ?? 0
      failed += this.#failed[place] ?? 0
    }
    return { qps: served / seconds, eps: failed / seconds }
  }

  #turnTo(now: number): void {
    const slice = Math.floor((now - this.#start) / this.#width)
    if (slice <= this.#slice) return
    const gone = Math.min(SLICES, slice - this.#slice)
    for (let i = 0; i < gone; i++) {
      const place = (slice - i) % SLICES
      this.#served[place] = 0
      this.#failed[place] = 0
    }
    this.#slice = slice
  }
}
