import type { Clock, TimerHandle } from './clock.js'

/**
 * Runs something soon after it is asked to, but not more often than each `spacing` ms: at once where the last run is so
 * long ago, else once, by a timer.
 */
export class Spaced {
  readonly #run: () => void
  readonly #clock: Clock
  readonly #spacing: number
  readonly #mostShare: number
  #earliest = Number.NEGATIVE_INFINITY
  #timer: TimerHandle
  #waiting = false
  #closed = false

  /**
   * @param spacing ms; 0: each time at once
   * @param mostShare the share of the time that runs may take, above 0 to 1: after one that took long the next waits, but
   * with a spacing of 0
   */
  constructor(run: () => void, clock: Clock, spacing: number, mostShare = 1) {
    this.#run = run
    this.#mostShare = spacing === 0 ? 1 : mostShare
    this.#clock = clock
    this.#spacing = spacing
  }

  /** Asks for a run. It may come within this call. */
  soon(): void {
    if (this.#waiting || this.#closed) return
    const now = this.#clock.now()
    const wait = this.#earliest - now
    if (wait > 0) {
      this.#waiting = true
      this.#timer = this.#clock.setTimeout(() => this.#runNow(this.#clock.now()), wait)
    } else this.#runNow(now)
  }

  /** Runs no more, also what was asked for. */
  close(): void {
    this.#closed = true
    if (this.#waiting) this.#clock.clearTimeout(this.#timer)
    this.#waiting = false
  }

  #runNow(now: number): void {
    this.#waiting = false
    this.#earliest = now + this.#spacing
    this.#run()
    if (this.#mostShare === 1) return
    const took = this.#clock.now() - now
    this.#earliest = Math.max(this.#earliest, now + took / this.#mostShare)
  }
}
