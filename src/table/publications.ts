import type { Clock } from '../clock.js'
import { Spaced } from '../spaced.js'
import type { TableMemory } from './memory.js'
import { publish } from './reading.js'

/** Default spacing of publications, ms. */
export const PUBLICATION_SPACING = 50

/**
 * Publications for reports that come one by one. Each makes all threads look at the readings anew, so those that would
 * follow within the spacing are made as one.
 */
export class Publications {
  readonly #spaced: Spaced

  /** @param spacing least time between two of them, ms; 0: each at once */
  constructor(memory: TableMemory, clock: Clock, spacing = PUBLICATION_SPACING) {
    this.#spaced = new Spaced(() => publish(memory), clock, spacing)
  }

  /** Publishes what was written: at once where the last time is `spacing` ago, else when that is so. */
  soon(): void {
    this.#spaced.soon()
  }

  /** Publishes no more. */
  close(): void {
    this.#spaced.close()
  }
}
