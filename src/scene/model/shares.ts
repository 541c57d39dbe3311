import { RUN_LENGTH } from './inputs.js'

/** The largest share of the requests of one window that one server got. */
export interface WorstShare {
  /** 0-1. */
  readonly share: number
  readonly server: number
}

/** Requests that a window is to have: of fewer, one server gets nearly all now and then by chance. */
const FEWEST = 20

/** Finds the worst window: the one in which one server got the largest share. */
export class WorstWindow {
  /** Undefined before the first window is over. */
  worst: WorstShare | undefined
  /** Length of a window, ms. */
  readonly length: number
  readonly #counts: Float64Array
  #total = 0
  #end: number

  /**
   * @param interval of the reports, ms: a window is as long, or as many of them as are needed for 20 requests, but not
   *   longer than a run
   * @param rate requests per ms
   */
  constructor(servers: number, interval: number, rate: number) {
    this.length = Math.min(interval * Math.ceil(FEWEST / (rate * interval)), RUN_LENGTH)
    this.#counts = new Float64Array(servers)
    this.#end = this.length
  }

  /** A request goes to a server; times in order. */
  sent(server: number, time: number): void {
    this.goOn(time)
    this.#counts[server] = (this.#counts[server] as number) + 1
    this.#total++
  }

  /** Closes the windows that are over by a time, ms. */
  goOn(time: number): void {
    while (time >= this.#end) {
      for (const [server, count] of this.#counts.entries()) {
        const share = count / this.#total
        if (share > (this.worst?.share ?? 0)) this.worst = { share, server }
      }
      this.#counts.fill(0)
      this.#total = 0
      this.#end += this.length
    }
  }
}
