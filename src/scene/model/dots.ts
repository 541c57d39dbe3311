/** A dot: the last of so many requests to one server. */
export interface Dot {
  readonly server: number
  /** Which balancer sent it, from 0. */
  readonly balancer: number
  /** When, ms of virtual time. */
  readonly time: number
}

/** Dots that wait to be taken; of more, the oldest are dropped. */
const MOST_DOTS = 10_000

/** Makes a dot of every so many requests to a server. */
export class Dots {
  readonly #each: number
  readonly #counts: number[]
  #waiting: Dot[] = []

  /** @param each requests that a dot stands for */
  constructor(servers: number, each: number) {
    this.#each = each
    this.#counts = new Array<number>(servers).fill(0)
  }

  sent(server: number, balancer: number, time: number): void {
    const count = (this.#counts[server] as number) + 1
    this.#counts[server] = count % this.#each
    if (count < this.#each) return
    this.#waiting.push({ server, balancer, time })
    if (this.#waiting.length >= 2 * MOST_DOTS) this.#waiting = this.#waiting.slice(-MOST_DOTS)
  }

  /** The dots since this was last called, in the order of time. */
  take(): readonly Dot[] {
    const taken = this.#waiting
    this.#waiting = []
    return taken.length > MOST_DOTS ? taken.slice(-MOST_DOTS) : taken
  }
}
