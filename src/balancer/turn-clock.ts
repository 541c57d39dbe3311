import type { Clock } from '../clock.js'
import { processClock } from '../process-clock.js'

/**
 * Tells the time as of the current turn of the event loop: a real clock is looked at once a turn, since a look takes
 * longer than a pick. What a turn of this process takes is no node's fault, so that latencies are the better for it.
 */
export class TurnClock {
  readonly #clock: Clock
  readonly #keeps: boolean
  #now = 0
  #isKept = false

  /** @param clock one of the user's own is asked each time */
  constructor(clock: Clock) {
    this.#clock = clock
    this.#keeps = clock === processClock
  }

  /** Clock time, ms. */
  now(): number {
    if (this.#isKept) return this.#now
    this.#now = this.#clock.now()
    if (this.#keeps) {
      this.#isKept = true
      // Not unreferenced: the event loop would sleep first, and show the time of before to what wakes it.
      setImmediate(this.#forget)
    }
    return this.#now
  }

  readonly #forget = (): void => {
    this.#isKept = false
  }
}
