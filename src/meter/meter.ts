import type { Clock, TimerHandle } from '../clock.js'
import { BadReportError } from '../errors.js'
import { processClock } from '../process-clock.js'
import type { Report } from '../report.js'
import { type Arrival, type ArrivalOwner, MeteredArrival } from './arrival.js'
import { type CheckedMeterOptions, checkMeterOptions, type MeterOptions } from './options.js'

/** What a meter says, and how old that is. */
export interface MeterSample {
  /** The metric's name in a report. */
  readonly metric: string
  /** 0 to `upper`. */
  readonly value: number
  /** ms since the meter's last update; it grows once the meter is closed, or its thread hangs. */
  readonly age: number
}

/** What a meter did so far. */
export interface MeterCounters {
  /** Requests that arrived. */
  arrived: number
  /** Values that were taken: from requests, or by `record`. */
  recorded: number
  /** Values that came too late: the meter was closed, or its node is another's. */
  refused: number
  /** Looks of its own, each `update` ms. */
  looks: number
}

/** Node.js counts a timer's time in whole milliseconds, so that an idle process's come up to so late, ms. */
const TIMER_GRAIN = 2

/** What a latency keeps of itself at each look without a request: half of it is gone after 0.7 s of looks 100 ms apart. */
const FADE = 0.9

/**
 * Least wait that is told while a request is worked on, ms: so that a process with nothing to do, which says 0, goes first.
 * With `#lookWhenDry` it took a quarter (80 % load) to two thirds (40 %) off the mean wait of 8 simulated workers.
 */
const BUSY = 0.001

/**
 * Measures how long work waits in this process: made by `meter`, or by a balancer's `meter(node)`.
 *
 * It says what the last request met. On its own it looks each `update` ms: where no request came meanwhile it says how
 * late that look itself was, or how long the oldest request has been waiting, if that is longer. So an idle process falls to 0,
 * and one that hangs or takes up no work rises though no request gets to tell. When the last request has ended and the
 * next turn of the event loop brings no other, it says 0 without waiting for the next look; while it works it says at least 0.001.
 */
export interface Meter {
  /** The metric's name in a report. */
  readonly metric: string
  /** What it did so far; the counters go on. */
  readonly counters: MeterCounters
  /** What it says now: 0 to `upper`. */
  readonly value: number
  /** Whether it measures no more. */
  readonly closed: boolean
  /** What it says, for a report. */
  sample(): MeterSample
  /**
   * A request arrived. Call `start()` on what is returned when its work starts, and `end()` when it is over, or given up.
   *
   * @param age ms since it arrived, where it did so before this call, such as in a message from another thread; default 0
   * @throws BadReportError for an age that is no finite number
   */
  arrive(age?: number): Arrival
  /**
   * Takes a value that you measured yourself.
   *
   * @param value of the metric, such as ms of waiting; below 0 counts as 0, since clocks of two threads are a little apart
   * @returns false where it is refused: the meter is closed, or its node is another's
   * @throws BadReportError for what is no finite number
   */
  record(value: number): boolean
  /**
   * Runs work as a request of its own: it arrives now and starts in the next turn of the event loop, behind what has
   * arrived before it. So what the loop is late by is measured too, which a handler that starts at once never sees.
   *
   * @param age ms since it arrived, as for `arrive`: a thread reads its messages only when it has time; default 0
   * @throws BadReportError (rejects) for an age that is no finite number
   */
  run<T>(work: () => T | PromiseLike<T>, age?: number): Promise<T>
  /** Stops measuring. Returns false where it had stopped. */
  close(): boolean
  /** As `close`, for `using`. */
  [Symbol.dispose](): void
}

/** A meter of a queue of this process. */
export class QueueMeter implements Meter, ArrivalOwner {
  readonly metric: string
  readonly counters: MeterCounters = { arrived: 0, recorded: 0, refused: 0, looks: 0 }
  protected readonly clock: Clock
  readonly #upper: number
  readonly #update: number
  readonly #counts: boolean
  readonly #wholes: boolean
  // What the oldest is looked for in: those that wait, or where whole requests are measured those that have not ended.
  readonly #open = new Set<MeteredArrival>()
  #value: number
  #at: number
  #recorded = false
  // Requests whose work has started and not ended.
  #working = 0
  #looking = false
  #due = 0
  #timer: TimerHandle
  #closed = false

  constructor({ metric, upper, update }: CheckedMeterOptions, clock: Clock) {
    this.metric = metric
    this.clock = clock
    this.#upper = upper
    this.#update = update
    this.#counts = metric === 'inFlight'
    this.#wholes = metric === 'latency'
    this.#value = upper
    this.#at = clock.now()
    this.#arm()
  }

  get value(): number {
    return this.#value
  }

  get closed(): boolean {
    return this.#closed
  }

  sample(): MeterSample {
    return { metric: this.metric, value: this.#value, age: Math.max(0, this.clock.now() - this.#at) }
  }

  arrive(age = 0): Arrival {
    const arrival = new MeteredArrival(this, this.clock.now() - amount('age', age))
    if (this.#closed) return arrival
    this.counters.arrived++
    this.#open.add(arrival)
    if (this.#counts) this.#take(this.#open.size)
    return arrival
  }

  record(value: number): boolean {
    return this.#take(amount(this.metric, value))
  }

  async run<T>(work: () => T | PromiseLike<T>, age = 0): Promise<T> {
    const arrival = this.arrive(age)
    try {
      await this.#nextTurn()
      arrival.start()
      return await work()
    } finally {
      arrival.end()
    }
  }

  close(): boolean {
    if (this.#closed) return false
    this.#closed = true
    this.clock.clearTimeout(this.#timer)
    this.#open.clear()
    return true
  }

  [Symbol.dispose](): void {
    this.close()
  }

  onStart(arrival: MeteredArrival): void {
    this.#working++
    if (this.#counts || this.#wholes || !this.#open.delete(arrival)) return
    this.#take(Math.max(BUSY, this.clock.now() - arrival.at))
  }

  onEnd(arrival: MeteredArrival, started: boolean): void {
    if (started) this.#working--
    if (this.#open.delete(arrival)) {
      if (this.#counts) this.#take(this.#open.size)
      else if (this.#wholes) this.#take(this.clock.now() - arrival.at)
    }
    if (!this.#wholes && this.#value > 0 && this.#isDry()) this.#lookWhenDry()
  }

  /**
   * Called after each update.
   * @param now by the clock, ms
   * @returns whether the value counts
   */
  protected updated(_now: number): boolean {
    return true
  }

  #take(value: number): boolean {
    if (this.#closed || !this.#set(value, this.clock.now())) {
      this.counters.refused++
      return false
    }
    this.counters.recorded++
    this.#recorded = true
    return true
  }

  #set(value: number, now: number): boolean {
    this.#value = Math.min(this.#upper, value)
    this.#at = now
    return this.updated(now)
  }

  #isDry(): boolean {
    return this.#working === 0 && this.#open.size === 0
  }

  // The last request is over. Where a turn of the loop brings no other, a newcomer would not wait: that is said at once,
  // since nobody comes to a process that looks full.
  #lookWhenDry(): void {
    if (this.#looking || this.#closed) return
    this.#looking = true
    const { recorded } = this.counters
    const look = () => {
      this.#looking = false
      if (this.#closed || !this.#isDry() || this.counters.recorded !== recorded) return
      this.#set(0, this.clock.now())
    }
    // Not unreferenced: the event loop would sleep first.
    if (this.clock === processClock) setImmediate(look)
    else this.clock.setTimeout(look, 0)
  }

  #arm(): void {
    this.#due = this.clock.now() + this.#update
    this.#timer = this.clock.setTimeout(() => this.#look(), this.#update)
  }

  #look(): void {
    const now = this.clock.now()
    const least = this.#counts
      ? this.#open.size
      : Math.max(this.#lateness(now), this.#oldest(now), this.#busy())
    const value = Math.max(this.#recorded ? this.#value : this.#kept(), least)
    this.#recorded = false
    this.counters.looks++
    this.#set(value, now)
    if (!this.#closed) this.#arm()
  }

  // What an earlier request met is worth when no other came. An idle server is as slow as it was, so latency stays; but it fades,
  // since the one server that met something slow would never be tried again.
  #kept(): number {
    return this.#wholes ? this.#value * FADE : 0
  }

  #lateness(now: number): number {
    const late = now - this.#due
    return late < TIMER_GRAIN ? 0 : late
  }

  #busy(): number {
    return this.#working > 0 && !this.#wholes ? BUSY : 0
  }

  // Those that were told with an age are out of order, so all are looked at.
  #oldest(now: number): number {
    let age = 0
    for (const { at } of this.#open) age = Math.max(age, now - at)
    return age
  }

  // What runs in an injected clock's time waits in it too.
  #nextTurn(): Promise<void> {
    return new Promise((resolve) => {
      if (this.clock === processClock) setImmediate(resolve)
      else this.clock.setTimeout(resolve, 0)
    })
  }
}

function amount(field: string, value: number): number {
  if (!Number.isFinite(value)) throw new BadReportError(field, value, 'a finite number')
  return Math.max(0, value)
}

/** What samples say, as a report without an age. */
export function reportOf(samples: readonly MeterSample[]): Report {
  const report: Report = {}
  const named: [string, number][] = []
  for (const { metric, value } of samples) {
    if (metric === 'queueDelay' || metric === 'latency' || metric === 'inFlight') report[metric] = value
    else named.push([metric, value])
  }
  // fromEntries defines properties: a metric called `__proto__` stays a metric.
  if (named.length > 0) report.named = Object.fromEntries(named)
  return report
}

/**
 * Makes a meter of this process's own queue, for `createAgent({ meters: [queue] })`. It keeps no process alive.
 *
 * @example
 * ```ts
 * const queue = meter({ metric: 'queueDelay' })
 * http.createServer((request, response) => queue.run(() => handle(request, response))).listen(8080)
 * await createAgent({ port: 9000, meters: [queue] })
 * ```
 * @throws OptionError
 */
export function meter(options: MeterOptions = {}): Meter {
  const { clock = processClock, ...checked } = checkMeterOptions(options)
  return new QueueMeter(checked, clock)
}
