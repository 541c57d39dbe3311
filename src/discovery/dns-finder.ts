import type { Resolver } from 'node:dns/promises'
import type { Clock, TimerHandle } from '../clock.js'
import { BackOff } from '../poller/back-off.js'
import { type DnsLook, DnsLookup, type DnsNode, type DnsTarget } from './dns-lookup.js'
import { DnsProblem, type DnsResolver, ownResolver, problemOf } from './dns-records.js'
import type { Finder, Look } from './finder.js'
import { keptOf } from './found.js'

export interface DnsFinderOptions {
  readonly target: DnsTarget
  /** Longest time between two lookups, ms. */
  readonly interval: number
  /** Least time between the starts of two, ms. */
  readonly minInterval: number
  /** Longest time of one, ms. */
  readonly timeout: number
  /** Undefined: Node.js's own. */
  readonly resolver: DnsResolver | undefined
  readonly clock: Clock
  readonly onLook: (look: Look<DnsNode>) => void
}

/** How far a wait is from what it would be, at most, as a share of it: whoever shares a cache would ask at the same moment. */
const JITTER = 0.1

/** Looks a name up when its records' time is over, or when it is asked to. */
export class DnsFinder implements Finder {
  readonly #options: DnsFinderOptions
  readonly #lookup: DnsLookup
  readonly #backOff: BackOff
  #own: Resolver | undefined
  #nodes: readonly DnsNode[] = []
  #timer: TimerHandle
  // Ends the lookup in progress.
  #under: AbortController | undefined
  #isStopped = true
  #started = Number.NEGATIVE_INFINITY
  #due = Number.NEGATIVE_INFINITY

  constructor(options: DnsFinderOptions) {
    this.#options = options
    this.#lookup = new DnsLookup(options.target)
    const { minInterval, interval } = options
    const growth = { first: minInterval, factor: 1.6, longest: interval, jitter: 0.2 }
    this.#backOff = new BackOff(growth, Math.random)
  }

  start(): void {
    this.#isStopped = false
    const { clock } = this.#options
    const wait = this.#due - clock.now()
    if (wait > 0) this.#lookIn(wait)
    else this.#look()
  }

  hasten(): void {
    // What is on its way is fresh enough.
    if (this.#isStopped || this.#under !== undefined) return
    const { clock, minInterval } = this.#options
    const earliest = this.#started + minInterval
    if (earliest >= this.#due) return
    const wait = earliest - clock.now()
    if (wait > 0) this.#lookIn(wait)
    else this.#look()
  }

  stop(): void {
    this.#isStopped = true
    this.#options.clock.clearTimeout(this.#timer)
    this.#under?.abort()
    this.#under = undefined
    this.#own?.cancel()
  }

  close(): void {
    this.stop()
  }

  #lookIn(wait: number): void {
    const { clock } = this.#options
    clock.clearTimeout(this.#timer)
    this.#due = clock.now() + wait
    this.#timer = clock.setTimeout(() => this.#look(), wait)
  }

  async #look(): Promise<void> {
    const { clock, minInterval, onLook } = this.#options
    clock.clearTimeout(this.#timer)
    const under = new AbortController()
    this.#under = under
    this.#started = clock.now()
    const { nodes, problems, ttl } = await this.#ask(under)
    // It was stopped meanwhile, and may have been started again.
    if (this.#under !== under) return
    this.#under = undefined
    const wait = nodes === undefined ? this.#afterProblem() : this.#afterAnswer(ttl)
    this.#lookIn(Math.max(wait, this.#started + minInterval - clock.now()))
    if (nodes !== undefined) this.#nodes = keptOf(this.#nodes, nodes)
    onLook({ nodes: nodes && this.#nodes, problems })
  }

  #afterProblem(): number {
    // The next one looks which servers there are.
    this.#own = undefined
    return this.#backOff.next()
  }

  #afterAnswer(ttl: number): number {
    this.#backOff.reset()
    const jitter = JITTER * Math.random()
    return Math.min(ttl * (1 + jitter), this.#options.interval * (1 - jitter))
  }

  async #ask(under: AbortController): Promise<DnsLook> {
    const { clock, timeout, target, resolver } = this.#options
    const { hostname, port } = target
    const timer = clock.setTimeout(() => {
      under.abort(new DnsProblem('timeout', `no answer for ${hostname} within ${timeout} ms`))
      this.#own?.cancel()
    }, timeout)
    const { signal } = under
    const ended = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
    try {
      const used = resolver ?? this.#ownResolver()
      return await Promise.race([this.#lookup.look(used, signal), ended])
    } catch (error) {
      const { kind, message } = problemOf(hostname, port === undefined ? 'SRV' : 'A', error)
      return { nodes: undefined, problems: [{ kind, reason: message, error }], ttl: 0 }
    } finally {
      clock.clearTimeout(timer)
    }
  }

  #ownResolver(): Resolver {
    this.#own ??= ownResolver(this.#options.timeout)
    return this.#own
  }
}
