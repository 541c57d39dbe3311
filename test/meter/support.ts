import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

/** A clock of a thread that can be kept busy: time passes, and timers that fall due meanwhile fire late. */
export class BusyClock extends VirtualClock {
  #blocked = 0

  override now(): number {
    return super.now() + this.#blocked
  }

  /** The thread does nothing but work for so long, ms. */
  block(ms: number): void {
    this.#blocked += ms
  }
}
