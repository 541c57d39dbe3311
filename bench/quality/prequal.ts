import { Generator } from '../../dist/engine/portable/generator.js'
import type { Dispatcher, DispatcherSetting, Policy } from '../../dist/simulation/policy.js'
import { NONE } from '../../dist/simulation/requests.js'
import { Probed } from './probed.js'
import { seedWords } from './seeds.js'

/** Parameters of Prequal as published (Wydrowski et al., "Load is not what you should balance", NSDI 2024). */
export interface PrequalRules {
  /** Quantile of requests in flight above which a server is hot, 0-1. */
  readonly quantile: number
  /** Entries of the pool. */
  readonly pool: number
  /** Probes a request. */
  readonly probes: number
  /** Entries removed a request, the worst and the oldest in turn. */
  readonly removed: number
  /** Net entries that a pool should gain a request, which decides how often one is used. */
  readonly delta: number
  /** Oldest entry, ms. */
  readonly maxAge: number
}

const published: PrequalRules = { quantile: 0.84, pool: 16, probes: 3, removed: 1, delta: 1, maxAge: 1_000 }

/** What probes said lately of requests in flight, for the quantile. */
const REMEMBERED = 128

interface Entry {
  readonly server: number
  readonly at: number
  readonly latency: number
  inFlight: number
  uses: number
}

/**
 * Prequal's own rules, to compare with: hot and cold by requests in flight, then the lowest latency among the cold, or
 * the fewest in flight where all are hot; probes go out with a request and are there for the next.
 *
 * It sees what servers know by a shared record of all balancers' requests, which is exact where the network has no
 * delay.
 */
export function prequal(name: string, rules: PrequalRules = published): Policy {
  let probed: Probed | undefined
  return {
    name,
    create: (setting) => {
      probed ??= new Probed(setting.servers)
      return new Prequal(rules, probed, setting)
    },
  }
}

class Prequal implements Dispatcher {
  readonly engine = undefined
  readonly #rules: PrequalRules
  readonly #probed: Probed
  readonly #clock: DispatcherSetting['clock']
  readonly #generator: Generator
  readonly #members: number[]
  readonly #sentTo = new Map<number, number>()
  readonly #seen: number[] = []
  #pool: Entry[] = []
  #turn = 0

  constructor(rules: PrequalRules, probed: Probed, { clock, present, seed }: DispatcherSetting) {
    this.#rules = rules
    this.#probed = probed
    this.#clock = clock
    this.#generator = new Generator(seedWords(seed))
    this.#members = [...present]
  }

  begin(request: number): number {
    if (this.#members.length === 0) return NONE
    const server = this.#pick()
    this.#probed.begin(request, server)
    this.#sentTo.set(request, server)
    this.#probe()
    return server
  }

  end(request: number, ok: boolean, latency: number): void {
    this.#probed.end(request, this.#sentTo.get(request) ?? NONE, ok, latency)
    this.#sentTo.delete(request)
  }

  report(): void {}

  join(server: number): void {
    this.#members.push(server)
  }

  leave(server: number): void {
    this.#members.splice(this.#members.indexOf(server), 1)
    this.#pool = this.#pool.filter((entry) => entry.server !== server)
  }

  close(): void {}

  #pick(): number {
    const { maxAge, removed } = this.#rules
    const oldest = this.#clock.now() - maxAge
    this.#pool = this.#pool.filter(({ at }) => at >= oldest)
    if (this.#pool.length < 2) return this.#random()
    const threshold = this.#threshold()
    let best: Entry | undefined
    for (const entry of this.#pool)
      if (best === undefined || this.#better(entry, best, threshold)) best = entry
    if (best === undefined) return this.#random()
    best.inFlight++
    if (--best.uses <= 0) this.#pool.splice(this.#pool.indexOf(best), 1)
    for (let i = 0; i < removed && this.#pool.length > 0; i++) this.#remove(threshold)
    return best.server
  }

  #better(a: Entry, b: Entry, threshold: number): boolean {
    const hotA = a.inFlight > threshold
    const hotB = b.inFlight > threshold
    if (hotA !== hotB) return hotB
    return hotA ? a.inFlight < b.inFlight : a.latency < b.latency
  }

  #remove(threshold: number): void {
    if (this.#turn++ % 2 === 0) {
      this.#pool.shift()
      return
    }
    let worst = this.#pool[0] as Entry
    for (const entry of this.#pool) if (this.#better(worst, entry, threshold)) worst = entry
    this.#pool.splice(this.#pool.indexOf(worst), 1)
  }

  #threshold(): number {
    const sorted = [...this.#seen].sort((a, b) => a - b)
    return sorted[Math.ceil(this.#rules.quantile * sorted.length) - 1] ?? Number.POSITIVE_INFINITY
  }

  #probe(): void {
    const { pool, probes, removed, delta } = this.#rules
    const n = this.#members.length
    const net = (1 - Math.min(pool, n - 1) / n) * probes - removed
    // In a small fleet a probe adds nothing new to the pool, so that an entry is kept until it is too old.
    const uses = net > 0 ? Math.max(1, (1 + delta) / net) : Number.POSITIVE_INFINITY
    for (const server of this.#distinct(Math.min(probes, n))) {
      const { inFlight, latency } = this.#probed.look(server)
      this.#seen.push(inFlight)
      if (this.#seen.length > REMEMBERED) this.#seen.shift()
      const known = this.#pool.findIndex((entry) => entry.server === server)
      if (known >= 0) this.#pool.splice(known, 1)
      this.#pool.push({ server, at: this.#clock.now(), latency, inFlight, uses: this.#rounded(uses) })
      if (this.#pool.length > pool) this.#pool.shift()
    }
  }

  // Up or down by chance, so that the mean is right.
  #rounded(value: number): number {
    if (value === Number.POSITIVE_INFINITY) return value
    return Math.floor(value) + (this.#generator.next() / 2 ** 32 < value % 1 ? 1 : 0)
  }

  #distinct(count: number): Set<number> {
    const found = new Set<number>()
    while (found.size < count) found.add(this.#random())
    return found
  }

  #random(): number {
    return this.#members[this.#generator.below(this.#members.length)] as number
  }
}
