import { quantile } from '../../simulation/measures.js'

/** Seconds over which `p50` and `p99` are taken. */
const SECONDS = 10

/** Response times of the last seconds: what is older is forgotten, so that a long run needs no more memory than a short one. */
export class Responses {
  /** Of the last ten seconds that are over, ms; undefined where there were no responses. */
  p50: number | undefined
  p99: number | undefined
  #times = new Float64Array(1024)
  #count = 0
  // Of each of the last seconds, sorted.
  readonly #seconds: Float64Array[] = []

  /** Takes a response time, ms. */
  add(time: number): void {
    if (this.#count === this.#times.length) {
      const longer = new Float64Array(2 * this.#count)
      longer.set(this.#times)
      this.#times = longer
    }
    this.#times[this.#count++] = time
  }

  /** A second is over; gives the p99 of its response times, ms, or undefined where there were none. */
  closeSecond(): number | undefined {
    const second = this.#times.slice(0, this.#count).sort()
    this.#count = 0
    this.#seconds.push(second)
    if (this.#seconds.length > SECONDS) this.#seconds.shift()
    const all = new Float64Array(this.#seconds.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const times of this.#seconds) {
      all.set(times, at)
      at += times.length
    }
    all.sort()
    this.p50 = quantileOf(all, 0.5)
    this.p99 = quantileOf(all, 0.99)
    return quantileOf(second, 0.99)
  }
}

function quantileOf(sorted: Float64Array, q: number): number | undefined {
  return sorted.length === 0 ? undefined : quantile(sorted, q)
}
