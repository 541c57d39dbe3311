/** Answers that the estimate is the median of. */
const KEPT = 32

/**
 * What a server tells of its latency: the median of its last answers, each scaled from the number that its request found in
 * flight to the number that is there now. Prequal's servers take the median of recent requests that found about as many; a
 * simulated server that sees 50 requests a second has too few of those, and one that had a long queue would go on telling
 * of it when it is idle, until somebody picks it nevertheless.
 */
export class LatencyEstimate {
  readonly #cores: number
  // A ring of latencies a place in the queue.
  readonly #last = new Float64Array(KEPT)
  #count = 0
  #median: number | undefined

  constructor(cores: number) {
    this.#cores = cores
  }

  /** A request was answered that had found so many in flight, itself not counted; `latency` in ms. */
  add(found: number, latency: number): void {
    this.#last[this.#count++ % KEPT] = latency / this.#places(found)
    this.#median = undefined
  }

  /** The estimate with so many in flight, ms; undefined where nothing was answered yet. */
  at(inFlight: number): number | undefined {
    if (this.#count === 0) return undefined
    this.#median ??= this.#findMedian()
    return this.#median * this.#places(inFlight)
  }

  // Those that a core serves at once do not wait for each other.
  #places(inFlight: number): number {
    return Math.max(inFlight + 1, this.#cores)
  }

  #findMedian(): number {
    const known = this.#last.slice(0, Math.min(this.#count, KEPT)).sort()
    return known[Math.floor(known.length / 2)] as number
  }
}
