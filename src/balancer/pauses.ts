import type { Clock } from '../clock.js'

/** How often it is looked whether this process still runs, ms, while requests are in flight. */
const PERIOD = 100
/** A look that comes later than this, ms, and so many times as late as looks have been, is taken for a pause. */
const LEAST = 50
const TIMES_USUAL = 8
/** Nobody looks where no request has begun for so long, ms. */
const IDLE = 60_000

/**
 * Notices when this process stood still: its event loop was blocked, it was stopped, or its machine was suspended. What was in
 * flight then took long for no fault of a node.
 */
export class Pauses {
  readonly #clock: Clock
  readonly #isBusy: () => boolean
  // When the next look is due; not at all while nothing is in flight.
  #due = Number.POSITIVE_INFINITY
  // A look after this is late.
  #limit = Number.POSITIVE_INFINITY
  #end = Number.NEGATIVE_INFINITY
  #usual = 0
  #last = 0

  /** @param isBusy whether requests are in flight */
  constructor(clock: Clock, isBusy: () => boolean) {
    this.#clock = clock
    this.#isBusy = isBusy
  }

  /** Begins to look, where it does not yet; called as a request begins. */
  watch(now: number): void {
    this.#last = now
    if (this.#due === Number.POSITIVE_INFINITY) this.#start(now)
  }

  /** Whether the process has stood still since `start`, clock time, ms. */
  since(start: number, now: number): boolean {
    // Responses can be handled before the timer.
    if (now > this.#limit) this.#paused(now)
    // An end that lies ahead is of a clock that told a wrong time once.
    return start < this.#end && this.#end <= now
  }

  #start(now: number): void {
    this.#expect(now)
    this.#clock.setTimeout(this.#look, PERIOD)
  }

  #expect(now: number): void {
    this.#due = now + PERIOD
    this.#limit = this.#due + Math.max(LEAST, TIMES_USUAL * this.#usual)
  }

  readonly #look = (): void => {
    const now = this.#clock.now()
    if (now > this.#limit) this.#paused(now)
    this.#usual += (Math.max(0, now - this.#due) - this.#usual) / 16
    this.#due = Number.POSITIVE_INFINITY
    this.#limit = Number.POSITIVE_INFINITY
    if (this.#isBusy() && now - this.#last < IDLE) this.#start(now)
  }

  #paused(now: number): void {
    this.#end = now
    // The timer is on its way; the pause is over.
    this.#expect(now)
  }
}
