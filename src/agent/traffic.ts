import * as v from 'valibot'
import type { Clock } from '../clock.js'
import { checkOptions, clockSchema, milliseconds, options } from '../options.js'
import { processClock } from '../process-clock.js'
import type { Report } from '../report.js'
import { ServedLatency } from './served-latency.js'
import { ServedRates } from './served-rates.js'
import type { ReportPart } from './source.js'
import { TurnQueue } from './turn-queue.js'

export interface TrafficOptions {
  /** How far back `qps` and `eps` look, ms; at least 100. Default 10,000. */
  readonly window?: number | undefined
  /** The process's monotonic clock by default. */
  readonly clock?: Clock | undefined
}

/** What was counted since the start; the counters go on. */
export interface TrafficCounters {
  /** Requests that began. */
  begun: number
  /** Requests that ended, however they did. */
  ended: number
  /** Those of them that failed. */
  failed: number
  /** Responses that took a report along. */
  reports: number
  /** Responses that should have, but there was no report yet. */
  withoutReport: number
  /** Responses that should have, but the report could not be written as a header. */
  badReports: number
}

/** The parts of a report that tell of requests. */
export type TrafficReport = Pick<Report, 'inFlight' | 'qps' | 'eps' | 'latency' | 'queueDelay'>

/** A request that is being served. */
export interface ServedRequest {
  /**
   * It is over. Counts once: does nothing when called again.
   * @param failed whether it failed; default false
   * @param timed whether the time it took says how long a request takes here; default: where it did not fail. What fails
   * may fail at once, and a node that fails fast is not a fast node.
   */
  end(failed?: boolean, timed?: boolean): void
}

const trafficOptions = options({
  window: v.optional(milliseconds(100), 10_000),
  clock: v.optional(clockSchema),
})

/** Rates and times are told to a thousandth: nobody measures them any finer, and each digit is sent with each report. */
function thousandth(value: number): number {
  return Math.round(value * 1000) / 1000
}

/**
 * Counts the requests that this process serves: how many are in flight, how many a second end and fail, how long they
 * take and how long work waits. What counts them calls `begin()` when a request arrives, and `end()` on what it gives when
 * it is over; the middleware does both.
 *
 * It has nothing to say before it knows that it will be told of requests, by `open()` or the first `begin()`: a process in
 * which nothing counts must not pass for an idle one.
 */
export class Traffic {
  /** Counts since the start; they go on. */
  readonly counters: TrafficCounters = {
    begun: 0,
    ended: 0,
    failed: 0,
    reports: 0,
    withoutReport: 0,
    badReports: 0,
  }
  /** @internal What all its times are by. */
  readonly clock: Clock
  readonly #window: number
  readonly #latency = new ServedLatency()
  readonly #isBusy = (): boolean => this.inFlight > 0
  #rates: ServedRates | undefined
  #queue: TurnQueue | undefined
  // When the last request ended.
  #endedAt = 0
  #closed = false

  /** @internal throws OptionError */
  constructor(given: TrafficOptions = {}) {
    const { window, clock = processClock } = checkOptions('', given, trafficOptions)
    this.#window = window
    this.clock = clock
  }

  /** Requests that began and have not ended. */
  get inFlight(): number {
    return this.counters.begun - this.counters.ended
  }

  /** @internal Starts counting: what it reports from now on is true also while no request comes. Safe to call again. */
  open(): this {
    if (this.#rates !== undefined) return this
    this.#rates = new ServedRates(this.#window, this.clock.now())
    this.#queue = new TurnQueue(this.clock)
    if (this.#closed) this.#queue.close()
    return this
  }

  /** A request arrived. */
  begin(): ServedRequest {
    if (this.#queue === undefined) this.open()
    this.counters.begun++
    this.#queue?.arrive(this.#isBusy)
    return new CountedRequest(this, this.clock.now())
  }

  /**
   * What it says now; nothing before it counts.
   * - `inFlight`: those that have not ended
   * - `qps`, `eps`: requests that ended, and that failed, a second over the last `window` ms
   * - `latency`: mean ms from begin to end over about the last second; once nothing is in flight it fades
   * - `queueDelay`: ms that work waits before it starts; left out once it is closed
   */
  report(): TrafficReport {
    if (this.#rates === undefined) return {}
    const now = this.clock.now()
    const { inFlight } = this
    const { qps, eps } = this.#rates.rates(now)
    const report: TrafficReport = { inFlight, qps: thousandth(qps), eps: thousandth(eps) }
    const latency = this.#latency.mean(inFlight > 0 ? 0 : now - this.#endedAt)
    if (latency !== undefined) report.latency = thousandth(latency)
    const delay = this.#queue?.delay
    if (delay !== undefined) report.queueDelay = thousandth(delay)
    return report
  }

  /** @internal The same, as a source of an agent's report: nothing in it is older than the meter's last look, a tenth of a second. */
  part(): ReportPart {
    return { report: this.report(), age: 0 }
  }

  /** @internal Ends its timer, and so what it knows of the queue delay; requests are counted on. Safe to call again. */
  close(): void {
    this.#closed = true
    this.#queue?.close()
  }

  /** @internal */
  [Symbol.dispose](): void {
    this.close()
  }

  /** @internal */
  onEnd(began: number, failed: boolean, timed: boolean): void {
    const now = this.clock.now()
    this.counters.ended++
    if (failed) this.counters.failed++
    this.#rates?.add(failed, now)
    if (timed) this.#latency.add(now - began, now)
    this.#endedAt = now
    if (this.inFlight === 0) this.#queue?.rest()
  }
}

class CountedRequest implements ServedRequest {
  readonly #traffic: Traffic
  readonly #began: number
  #over = false

  constructor(traffic: Traffic, began: number) {
    this.#traffic = traffic
    this.#began = began
  }

  end(failed = false, timed = !failed): void {
    if (this.#over) return
    this.#over = true
    this.#traffic.onEnd(this.#began, failed, timed)
  }
}
