import type { Clock, TimerHandle } from '../clock.js'
import type { TableMemory } from '../table/memory.js'
import { publish } from '../table/reading.js'
import { eraseMetric, writeReport } from '../table/report.js'
import { tableTime } from '../table/table.js'
import { type Meter, QueueMeter, reportOf } from './meter.js'
import type { NodeMeterOptions } from './options.js'

/** What a meter of a node needs to be heard by the picks. */
export interface NodeMeterPlace {
  readonly memory: TableMemory
  readonly clock: Clock
  readonly slot: number
  readonly generation: number
  /** The metric's place among a slot's metrics. */
  readonly metric: number
  /** Whether the node is still this thread's to measure. */
  readonly holds: () => boolean
  /** Says that the thread is alive. False where the node is another's now. */
  readonly renew: () => boolean
  /** Lets go of the node's metric. False where the node was another's. */
  readonly withdraw: () => boolean
}

/**
 * A meter that writes its node's slot of the table, so that picks on every thread see it without any polling. Made by a
 * balancer's `meter(node)`.
 */
export interface NodeMeter extends Meter {
  /**
   * Stops measuring: the metric is unknown from now on, and may be measured by another thread. Returns false where the
   * node was not registered any more: the meter was closed, the node left, or another thread has it since this one hung.
   */
  close(): boolean
}

/** A meter that writes a slot. */
export class SlotMeter extends QueueMeter implements NodeMeter {
  readonly #place: NodeMeterPlace
  readonly #gap: number
  #writtenAt: number
  #waiting = false
  #timer: TimerHandle

  constructor(options: Required<NodeMeterOptions>, place: NodeMeterPlace) {
    super(options, place.clock)
    this.#place = place
    this.#gap = options.publish
    this.#writtenAt = this.clock.now()
    this.#write(this.#writtenAt)
  }

  override close(): boolean {
    if (!this.#stop()) return false
    const { memory, slot, generation, metric, holds, withdraw } = this.#place
    // While the node is still this thread's: afterwards it might be the next one's value.
    if (holds()) eraseMetric(memory, slot, generation, metric)
    const held = withdraw()
    publish(memory)
    return held
  }

  protected override updated(now: number): boolean {
    if (!this.#place.holds()) return this.#lose()
    const wait = this.#writtenAt + this.#gap - now
    if (wait <= 0) return this.#write(now)
    if (!this.#waiting) {
      this.#waiting = true
      this.#timer = this.clock.setTimeout(() => this.#write(this.clock.now()), wait)
    }
    return true
  }

  #write(now: number): boolean {
    this.clock.clearTimeout(this.#timer)
    this.#waiting = false
    this.#writtenAt = now
    const { memory, slot, generation, renew } = this.#place
    if (!renew()) return this.#lose()
    const sample = this.sample()
    writeReport(memory, slot, generation, tableTime(memory, now - sample.age), reportOf([sample]))
    publish(memory)
    return true
  }

  #lose(): false {
    this.#stop()
    this.#place.withdraw()
    return false
  }

  #stop(): boolean {
    this.clock.clearTimeout(this.#timer)
    return super.close()
  }
}
