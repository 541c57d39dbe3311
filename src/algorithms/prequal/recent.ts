import { RECENT } from './constants.js'

/** The last values of something, for their quantiles. */
export class Recent {
  // In the order in which they came, a ring; and in ascending order.
  readonly #values = new Float64Array(RECENT)
  readonly #sorted = new Float64Array(RECENT)
  #count = 0
  #next = 0

  add(value: number): void {
    const sorted = this.#sorted
    let place = this.#count
    if (place === RECENT) {
      const out = this.#values[this.#next] as number
      place = sorted.indexOf(out)
      // The gap moves up to where the value belongs, or below down to it.
      for (; place + 1 < RECENT && (sorted[place + 1] as number) < value; place++) {
        sorted[place] = sorted[place + 1] as number
      }
    } else this.#count++
    for (; place > 0 && (sorted[place - 1] as number) > value; place--) {
      sorted[place] = sorted[place - 1] as number
    }
    sorted[place] = value
    this.#values[this.#next] = value
    this.#next = (this.#next + 1) % RECENT
  }

  /** The value at `floor(quantile * count)` of them in ascending order; Infinity where that is beyond the last. */
  quantile(quantile: number): number {
    const place = Math.floor(quantile * this.#count)
    return place < this.#count ? (this.#sorted[place] as number) : Number.POSITIVE_INFINITY
  }
}
