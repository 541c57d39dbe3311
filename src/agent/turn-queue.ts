import type { Clock } from '../clock.js'
import type { Arrival } from '../meter/arrival.js'
import { QueueMeter } from '../meter/meter.js'
import { checkMeterOptions } from '../meter/options.js'
import { processClock } from '../process-clock.js'

/**
 * How long work waits for this thread's event loop, by a {@link QueueMeter} of the `queueDelay`.
 *
 * A request that is read waits for nothing more: its handler starts at once. What waits are those that are not read yet,
 * until the loop is through with its turn. So of the requests of one turn the first is measured, from its arrival to
 * the start of the next turn, without holding it up: that is what one which came right behind it has waited. It costs a
 * look at the clock and an immediate a turn, however many requests come in it.
 */
export class TurnQueue {
  readonly #meter: QueueMeter
  readonly #clock: Clock
  #measuring = false
  // The arrival that is worked on for as long as anything is in flight, so that the meter knows an idle process.
  #working: Arrival | undefined

  constructor(clock: Clock) {
    this.#clock = clock
    this.#meter = new QueueMeter(checkMeterOptions({}), clock)
  }

  /** ms that work waits; undefined once it is closed. */
  get delay(): number | undefined {
    return this.#meter.closed ? undefined : this.#meter.value
  }

  /**
   * A request arrived.
   * @param isBusy whether anything is in flight when the next turn starts
   */
  arrive(isBusy: () => boolean): void {
    if (this.#measuring || this.#meter.closed) return
    this.#measuring = true
    const arrival = this.#meter.arrive()
    const started = (): void => {
      this.#measuring = false
      arrival.start()
      if (this.#working === undefined && isBusy()) this.#working = arrival
      else arrival.end()
    }
    if (this.#clock === processClock) setImmediate(started)
    else this.#clock.setTimeout(started, 0)
  }

  /** Nothing is in flight any more. */
  rest(): void {
    this.#working?.end()
    this.#working = undefined
  }

  close(): void {
    this.#meter.close()
  }
}
