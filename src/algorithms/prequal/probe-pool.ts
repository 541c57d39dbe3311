import { MEMBER_UP, type MemberArrays } from '../../engine/engine.js'
import type { Generator } from '../../engine/portable/generator.js'
import { placesBefore, valuesAt } from '../../engine/portable/kept.js'
import { METRICS } from '../../table/layout.js'
import type { TableMemory } from '../../table/memory.js'
import { type MutableMetric, readMetric, reportTime } from '../../table/report.js'
import { FEWEST, SURPLUS } from './constants.js'
import type { PrequalAlgorithm } from './options.js'
import { Recent } from './recent.js'

const IN_FLIGHT = METRICS.indexOf('inFlight')
const LATENCY = METRICS.indexOf('latency')

/** What a member said. */
interface Probe {
  member: number
  /** Requests in flight, own picks since then added. */
  inFlight: number
  /** Latency, ms; NaN: unknown. */
  readonly latency: number
  /** Table time of the sample, ms. */
  readonly time: number
}

interface PoolEntry extends Probe {
  /** Picks that may still be made of it. */
  uses: number
}

/** Prequal's pool of probes; `engine.ts` says what it does. */
export class ProbePool {
  /** Picks that were made at random, for want of entries. */
  atRandom = 0
  readonly #rules: PrequalAlgorithm
  readonly #generator: Generator
  readonly #recent = new Recent()
  readonly #inFlight: MutableMetric = { time: 0, value: 0 }
  readonly #latency: MutableMetric = { time: 0, value: 0 }
  // One a member, oldest first.
  #entries: PoolEntry[] = []
  // The time of the last sample of each member that was looked at.
  #seen = new Float64Array(0)
  #members: MemberArrays | undefined
  #budget = Number.POSITIVE_INFINITY
  #removes = false
  #threshold = Number.POSITIVE_INFINITY
  #unknown = 0
  #toRemove = 0
  #removesWorst = false

  constructor(rules: PrequalAlgorithm, generator: Generator) {
    this.#rules = rules
    this.#generator = generator
  }

  setMembers(members: MemberArrays): void {
    const { states } = members
    const places = placesBefore(this.#members, members)
    const now = new Map<number, number>()
    let up = 0
    for (let i = 0; i < places.length; i++) {
      if (states[i] !== MEMBER_UP) continue
      up++
      if ((places[i] as number) >= 0) now.set(places[i] as number, i)
    }
    this.#seen = valuesAt(places, this.#seen, Number.NEGATIVE_INFINITY)
    this.#members = members
    this.#entries = this.#entries.filter((entry) => {
      const member = now.get(entry.member)
      if (member === undefined) return false
      entry.member = member
      return true
    })
    this.#count()
    const { pool, probes, removals } = this.#rules
    const net = (1 - pool / up) * probes - removals
    this.#budget = net > 0 ? Math.max(1, (1 + SURPLUS) / net) : Number.POSITIVE_INFINITY
    this.#removes = up > pool
  }

  /**
   * Takes what the table has heard since the last look, and drops what is too old.
   * @param now table time, ms
   * @returns table time from which the pool is out of date
   */
  refresh(memory: TableMemory, now: number): number {
    const { pool, maxAge } = this.#rules
    const found: Probe[] = []
    let count = 0
    for (let i = 0; i < this.#seen.length; i++) {
      const probe = this.#read(memory, i, now)
      if (probe === undefined) continue
      // Of many that come at once, such as those of a poll, each has the same chance.
      const place = count < pool ? count : this.#generator.below(count + 1)
      if (place < pool) found[place] = probe
      count++
    }
    for (const probe of found) this.#add(probe)
    const entries = this.#entries
    let old = 0
    while (old < entries.length && now - (entries[old] as PoolEntry).time > maxAge) old++
    entries.splice(0, old)
    this.#count()
    return this.nextExpiry()
  }

  /** Table time from which the oldest entry is too old; Infinity where there is none. */
  nextExpiry(): number {
    const oldest = this.#entries[0]
    return oldest === undefined ? Number.POSITIVE_INFINITY : oldest.time + this.#rules.maxAge + 1
  }

  /** Takes what a member said. */
  probed(member: number, inFlight: number, latency: number, time: number): void {
    if (this.#members === undefined || this.#members.states[member] !== MEMBER_UP) return
    if (time > (this.#seen[member] as number)) this.#seen[member] = time
    this.#add({ member, inFlight, latency, time })
    this.#count()
  }

  /** The member to pick, of those whose value in `raw` is not `out`; -1 where there is too little to go by. */
  pick(raw: Float64Array, out: number): number {
    const entries = this.#entries
    const mean = this.#meanLatency()
    let best = -1
    let allowed = 0
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i] as PoolEntry
      if (raw[entry.member] === out) continue
      allowed++
      // Of equal ones the newest.
      if (best < 0 || this.#compare(entry, entries[best] as PoolEntry, mean) <= 0) best = i
    }
    if (allowed < FEWEST) {
      this.atRandom++
      return -1
    }
    const entry = entries[best] as PoolEntry
    entry.inFlight++
    entry.uses--
    if (entry.uses <= 0) this.#remove(best)
    this.#removeSome()
    return entry.member
  }

  #read(memory: TableMemory, i: number, now: number): Probe | undefined {
    const { slots, generations, states } = this.#members as MemberArrays
    if (states[i] !== MEMBER_UP) return undefined
    const slot = slots[i] as number
    const generation = generations[i] as number
    const reported = reportTime(memory, slot, generation)
    const seen = this.#seen[i] as number
    if (reported < 0 || reported <= seen) return undefined
    const inFlight = this.#inFlight
    readMetric(memory, slot, generation, IN_FLIGHT, reported, inFlight)
    const { value, time } = inFlight
    if (Number.isNaN(value) || time <= seen || now - time > this.#rules.maxAge) return undefined
    this.#seen[i] = time
    const latency = this.#latency
    readMetric(memory, slot, generation, LATENCY, reported, latency)
    const known = !Number.isNaN(latency.value) && now - latency.time <= this.#rules.maxAge
    return { member: i, inFlight: value, latency: known ? latency.value : Number.NaN, time }
  }

  #add(probe: Probe): void {
    const entries = this.#entries
    const known = entries.findIndex(({ member }) => member === probe.member)
    if (known >= 0) {
      if ((entries[known] as PoolEntry).time > probe.time) return
      entries.splice(known, 1)
    }
    this.#recent.add(probe.inFlight)
    this.#threshold = this.#recent.quantile(this.#rules.quantile)
    let place = entries.length
    while (place > 0 && (entries[place - 1] as PoolEntry).time > probe.time) place--
    const { member, inFlight, latency, time } = probe
    // Field by field: objects made by spreading are ten times slower to read in a pick.
    entries.splice(place, 0, { member, inFlight, latency, time, uses: this.#drawUses() })
    if (entries.length > this.#rules.pool) entries.shift()
  }

  // A whole number, whose mean is the budget.
  #drawUses(): number {
    const whole = Math.floor(this.#budget)
    const rest = this.#budget - whole
    if (!(rest > 0)) return whole
    return this.#generator.next() / 4_294_967_296 < rest ? whole + 1 : whole
  }

  #removeSome(): void {
    if (!this.#removes) return
    this.#toRemove += this.#rules.removals
    while (this.#toRemove >= 1) {
      this.#toRemove--
      if (this.#entries.length > 0) this.#remove(this.#removesWorst ? this.#worst() : 0)
      this.#removesWorst = !this.#removesWorst
    }
  }

  #worst(): number {
    const entries = this.#entries
    const mean = this.#meanLatency()
    let worst = 0
    for (let i = 1; i < entries.length; i++) {
      if (this.#compare(entries[i] as PoolEntry, entries[worst] as PoolEntry, mean) > 0) worst = i
    }
    return worst
  }

  // Negative where `a` is to be picked rather than `b`: cold before hot, the cold by latency, the hot by requests in flight.
  #compare(a: PoolEntry, b: PoolEntry, mean: number): number {
    const threshold = this.#threshold
    const isHot = a.inFlight > threshold
    if (isHot !== b.inFlight > threshold) return isHot ? 1 : -1
    const flights = a.inFlight - b.inFlight
    const latency =
      (Number.isNaN(a.latency) ? mean : a.latency) - (Number.isNaN(b.latency) ? mean : b.latency)
    return isHot ? flights || latency : latency || flights
  }

  #remove(place: number): void {
    const [entry] = this.#entries.splice(place, 1)
    if (entry !== undefined && Number.isNaN(entry.latency)) this.#unknown--
  }

  #count(): void {
    this.#unknown = 0
    for (const { latency } of this.#entries) if (Number.isNaN(latency)) this.#unknown++
  }

  // What an unknown latency counts as.
  #meanLatency(): number {
    if (this.#unknown === 0) return 0
    let sum = 0
    let known = 0
    for (const { latency } of this.#entries) {
      if (Number.isNaN(latency)) continue
      sum += latency
      known++
    }
    return known === 0 ? 0 : sum / known
  }
}
