import type { Learner } from './engine.js'
import {
  ALONE,
  COUNT_UNIT,
  ENDED,
  EVENT_WORDS,
  EVENTS_HEADER,
  FAILED,
  MOST_EVENTS,
  SENT,
  SET_ASIDE,
} from './events-layout.js'

/** What of the addon's core has to do with events. */
export interface EventsCore {
  listen(events: Uint8Array): void
  takeEvents(): void
}

/** Tells a core what becomes of its picks, in memory that it reads at the next: a call would cost more than a pick. */
export class Events implements Learner {
  readonly #core: EventsCore
  readonly #words: Uint32Array
  readonly #latencies: Float64Array

  constructor(core: EventsCore) {
    const buffer = new SharedArrayBuffer(4 * (EVENTS_HEADER + EVENT_WORDS * MOST_EVENTS))
    this.#core = core
    this.#words = new Uint32Array(buffer)
    this.#latencies = new Float64Array(buffer)
    core.listen(new Uint8Array(buffer))
  }

  sent(index: number): void {
    this.#tell(index, SENT, 0)
  }

  ended(index: number, left: number, ok: boolean, latency: number, alone: boolean): void {
    this.#tell(index, left * COUNT_UNIT + (alone ? ALONE : 0) + (ok ? ENDED : FAILED), latency)
  }

  setAside(index: number, count: number): void {
    this.#tell(index, count * COUNT_UNIT + SET_ASIDE, 0)
  }

  #tell(index: number, what: number, latency: number): void {
    const words = this.#words
    if (words[0] === MOST_EVENTS) this.#core.takeEvents()
    const count = words[0] as number
    const at = EVENTS_HEADER + EVENT_WORDS * count
    words[at] = index
    words[at + 1] = what
    this.#latencies[at / 2 + 1] = latency
    words[0] = count + 1
  }
}
