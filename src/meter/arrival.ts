/** One request as a meter knows it, from its arrival on. Each must be ended, or be started where a meter measures waits. */
export interface Arrival {
  /** Its work starts now. Does nothing when called again, or after `end`. */
  start(): void
  /** It is over: done, failed, or given up before its work started. Does nothing when called again. */
  end(): void
  /** As `end`, for `using`. */
  [Symbol.dispose](): void
}

/** What becomes of arrivals. */
export interface ArrivalOwner {
  onStart(arrival: MeteredArrival): void
  onEnd(arrival: MeteredArrival, started: boolean): void
}

/** An arrival that tells its meter what happens to it, each thing once. */
export class MeteredArrival implements Arrival {
  /** When it arrived, by the meter's clock, ms. */
  readonly at: number
  readonly #owner: ArrivalOwner
  #state: 'waiting' | 'started' | 'ended' = 'waiting'

  constructor(owner: ArrivalOwner, at: number) {
    this.#owner = owner
    this.at = at
  }

  start(): void {
    if (this.#state !== 'waiting') return
    this.#state = 'started'
    this.#owner.onStart(this)
  }

  end(): void {
    if (this.#state === 'ended') return
    const started = this.#state === 'started'
    this.#state = 'ended'
    this.#owner.onEnd(this, started)
  }

  [Symbol.dispose](): void {
    this.end()
  }
}
