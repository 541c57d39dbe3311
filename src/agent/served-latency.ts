/** What is known of a latency falls to 1/e within this, ms: by what is served meanwhile, and where nothing is. */
const MEMORY = 1_000

/**
 * Mean latency, the last second's requests first: each counts with the weight e^-(age / 1 s). O(1) a request, no timer.
 *
 * A process that serves nothing is as slow as it was, so the mean stays for as long as requests are in flight; after that it
 * fades, since the one process that met something slow would never be tried again. A meter's `latency` does the same.
 */
export class ServedLatency {
  #sum = 0
  #count = 0
  #at = 0

  /** A request ended now and took so long, ms. */
  add(took: number, now: number): void {
    const kept = this.#count === 0 ? 0 : Math.exp((this.#at - now) / MEMORY)
    this.#sum = this.#sum * kept + took
    this.#count = this.#count * kept + 1
    this.#at = now
  }

  /**
   * What it is now, ms; undefined before the first request.
   * @param idle how long nothing has been in flight, ms
   */
  mean(idle: number): number | undefined {
    if (this.#count === 0) return undefined
    return (this.#sum / this.#count) * Math.exp(-idle / MEMORY)
  }
}
