import type { Clock } from '../clock.js'
import { OptionError } from '../errors.js'
import { MOST_WEIGHT, type NodeState, type Report } from '../report.js'
import { MAX_VALUE } from '../reports/values.js'
import { type Background, startBackground } from './background.js'
import { Measures } from './measures.js'
import { type NamedCounters, NamedMetrics, type NamedValue } from './named-metrics.js'
import type { CheckedAgentOptions } from './options.js'
import type { SamplingCounters } from './sampling.js'
import { meterSource, type ReportSource } from './source.js'
import { Traffic, type TrafficCounters } from './traffic.js'

/**
 * Samples in the background and knows the whole report at any time, for all servers of an agent: they answer from
 * memory, and none waits for a sample.
 */
export class Reporter {
  readonly #clock: Clock
  readonly #interval: number
  /** What middleware counts. */
  readonly traffic: Traffic
  readonly #measures: Measures
  readonly #named = new NamedMetrics()
  readonly #sources: readonly ReportSource[]
  readonly #listeners = new Set<() => void>()
  #background: Background | undefined
  #state: NodeState = 'up'
  #weight: number | undefined
  #maxInFlight: number | undefined

  /** It samples nothing before {@link start}. */
  constructor(options: CheckedAgentOptions) {
    const { sampleTimeout, sampleInterval, clock, meters, named, weight, maxInFlight } = options
    this.#clock = clock
    this.#interval = sampleInterval
    this.#measures = new Measures({ ...options, timeout: sampleTimeout, source: 'agent' })
    this.traffic = new Traffic({ clock, window: options.trafficWindow })
    // Where two say the same, the later source counts.
    this.#sources = [this.traffic, meterSource(meters), this.#named]
    for (const [name, value] of Object.entries(named)) this.#named.set(name, value)
    this.#weight = weight
    this.#maxInFlight = maxInFlight
  }

  get counters(): {
    readonly sampling: SamplingCounters
    readonly traffic: TrafficCounters
    readonly named: NamedCounters
  } {
    return {
      sampling: this.#measures.counters,
      traffic: this.traffic.counters,
      named: this.#named.counters,
    }
  }

  /** What it says of taking work. */
  get state(): NodeState {
    return this.#state
  }

  /**
   * The whole report as it is now. Its age is that of its oldest part, ms. Before the first sample undefined; but a
   * state other than `up` is told at once, without any load.
   */
  report(): Report | undefined {
    const last = this.#background?.last()
    if (last === undefined) return this.#state === 'up' ? undefined : { ...this.told(), age: 0 }
    const parts = this.#sources.map((source) => source.part())
    const named = [last.report, ...parts.map(({ report }) => report)].flatMap((report) =>
      Object.entries(report.named ?? {}),
    )
    const report: Report = Object.assign({}, last.report, ...parts.map((part) => part.report), this.told())
    if (named.length > 0) report.named = Object.fromEntries(named)
    // A report has one age, and no part of it may pass for fresher than it is. A microsecond is as fine as an age needs to be.
    const age = Math.max(0, this.#clock.now() - last.at, ...parts.map((part) => part.age))
    report.age = Math.round(age * 1000) / 1000
    return report
  }

  /** What it says beside its load: state, weight and limit, as far as they are set; known before the first sample too. */
  told(): Report {
    // All of it each time: who hears of this agent for the first time must know it, and so must those who knew the one
    // before it at this address.
    const told: Report = { state: this.#state }
    if (this.#weight !== undefined) told.weight = this.#weight
    if (this.#maxInFlight !== undefined) told.maxInFlight = this.#maxInFlight
    return told
  }

  /** Takes no new work and finishes what it has. */
  drain(): void {
    this.#enter('drain')
  }

  /** Is out for maintenance. */
  maint(): void {
    this.#enter('maint')
  }

  /** Is ill. */
  down(): void {
    this.#enter('down')
  }

  /** Takes work again. */
  ready(): void {
    this.#enter('up')
  }

  /**
   * @param percent of its usual weight, 0-25,600: 50 counts half, 200 twice; undefined: no longer reported
   * @throws OptionError
   */
  setWeight(percent: number | undefined): void {
    this.#weight = amount('weight', percent, MOST_WEIGHT)
    this.#changed()
  }

  /**
   * @param most requests in flight that it takes from one process; 0: no limit; undefined: says nothing of it any more
   * @throws OptionError
   */
  setMaxInFlight(most: number | undefined): void {
    this.#maxInFlight = amount('maxInFlight', most, MAX_VALUE)
    this.#changed()
  }

  /**
   * Sets a metric of the user's own.
   * @param value a number, which stays until it is set anew, or a function, called in each sample; undefined takes it out
   * @throws OptionError for a bad name, or what is neither; a bad number is counted, and left out
   */
  set(name: string, value: NamedValue | undefined): void {
    this.#named.set(name, value)
  }

  /**
   * Calls `listener` after each sample, whether it could be used or not, and at once when state, weight or limit
   * changed. It must not throw.
   * @returns ends that
   */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Starts the sampling.
   * @returns resolves after the first sample, or after the second if the first had no value; never rejects
   */
  start(): Promise<void> {
    this.#background ??= startBackground({
      take: () => this.#take(),
      interval: this.#interval,
      clock: this.#clock,
      onSample: () => this.#changed(),
    })
    return this.#background.begun
  }

  /** Ends the sampling; what is known stays. */
  stop(): void {
    this.#background?.stop()
    this.traffic.close()
  }

  async #take(): Promise<Report | undefined> {
    const report = await this.#measures.take()
    for (const source of this.#sources) source.sample?.()
    return report
  }

  #enter(state: NodeState): void {
    if (this.#state === state) return
    this.#state = state
    this.#changed()
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}

function amount(option: string, value: number | undefined, max: number): number | undefined {
  if (value === undefined || (typeof value === 'number' && value >= 0 && value <= max)) return value
  throw new OptionError(option, value, `a number from 0 to ${max}, or undefined`)
}
