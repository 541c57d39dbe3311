import type { Servers } from './servers.js'

/** Samples of a run at most: enough to tell growth from noise, and 10 MB for 10,000 servers. */
const MOST_SAMPLES = 256

/** Growth of a backlog below this share of all requests is taken for noise. */
const LEAST_GROWTH = 0.001

/** The requests at each server over the run: shows whether a queue grows as long as requests come. */
export class Backlog {
  readonly #servers: Servers
  readonly #spacing: number
  readonly #samples: Uint32Array[] = []
  #arrivals = 0

  /** @param requests of the whole run */
  constructor(servers: Servers, requests: number) {
    this.#servers = servers
    this.#spacing = Math.ceil(requests / MOST_SAMPLES)
  }

  /** A request arrives. */
  arrival(): void {
    if (this.#arrivals++ % this.#spacing > 0) return
    this.#samples.push(Uint32Array.from(this.#servers.list, ({ inFlight }) => inFlight))
  }

  /**
   * Whether the backlog stayed within bounds. Only servers count that had no core free since the first quarter: a
   * server that is idle at times is not overloaded, however much its load swings. The backlog grew if those had more
   * requests throughout the last quarter than at any time in the second, by 0.1 % of all requests.
   */
  get settled(): boolean {
    const samples = this.#samples
    const quarter = Math.floor(samples.length / 4)
    if (quarter === 0) return true
    const later = samples.slice(quarter)
    const full = this.#servers.list.flatMap(({ cores }, i) =>
      later.every((sample) => (sample[i] as number) >= cores) ? [i] : [],
    )
    const backlog = later.map((sample) => full.reduce((sum, i) => sum + (sample[i] as number), 0))
    const growth = Math.min(...backlog.slice(-quarter)) - Math.max(...backlog.slice(0, quarter))
    return growth < LEAST_GROWTH * this.#arrivals
  }
}
