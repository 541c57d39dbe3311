import { FACT_FRESH, FACT_NEXT_EXPIRY, MEMBER_UP, type MemberArrays } from '../../engine/engine.js'
import { MISSING, OUT } from '../../engine/portable/band.js'
import { placesBefore } from '../../engine/portable/kept.js'
import { METRICS } from '../../table/layout.js'
import type { TableMemory } from '../../table/memory.js'
import { type MutableMetric, readMetric, reportTime } from '../../table/report.js'
import type { Readings } from '../definition.js'
import type { WeightedRoundRobinAlgorithm } from './options.js'

const [CPU, APPLICATION, QPS, EPS] = (['cpu', 'application', 'qps', 'eps'] as const).map((name) =>
  METRICS.indexOf(name),
) as [number, number, number, number]

const NEVER = Number.NEGATIVE_INFINITY
/** Stands for "not reporting". */
const NOT = Number.POSITIVE_INFINITY

/** What is known of one member by its reports. Times are table time, ms. */
interface Known {
  weight: number
  /** Since when it has reported without a break; `NOT` while it does not. */
  since: number
  /** The sample of the weight. */
  updated: number
  /** When the member was surely none yet: no report of before counts for `since`. */
  from: number
  /** The report that was passed over last. */
  ignored: number
}

/** The weights of members by their reports: gRFC A58. `engine.ts` says what they are. */
export class ReportWeights implements Readings {
  /** Reports that were passed over, because they give no weight. */
  ignored = 0
  readonly #memory: TableMemory
  readonly #algorithm: WeightedRoundRobinAlgorithm
  readonly #places: readonly number[]
  #members: MemberArrays | undefined
  #known: readonly Known[] = []
  #changed = false
  // Of the last refresh; of the last update and the next.
  #looked = NEVER
  #at = NEVER
  #due = NEVER
  // Whether something was heard of since the last update.
  #pending = false
  // Reused.
  readonly #sample: MutableMetric = { time: 0, value: 0 }
  #weight = 0
  #time = 0

  /** @param places of the metrics that stand for the utilization */
  constructor(memory: TableMemory, algorithm: WeightedRoundRobinAlgorithm, places: readonly number[]) {
    this.#memory = memory
    this.#algorithm = algorithm
    this.#places = places
  }

  /** Takes over the members; what is known of those that stay is kept. */
  setMembers(members: MemberArrays): void {
    const places = placesBefore(this.#members, members)
    this.#known = Array.from(places, (place) => this.#known[place] ?? newcomer(this.#looked))
    this.#members = members
    this.#changed = true
  }

  /**
   * Reads the reports, and updates the weights where that is due.
   * @param weights a weight above 0, `MISSING` or `OUT`; as long as the members
   */
  take({ states }: MemberArrays, now: number, weights: Float64Array, facts: Float64Array): void {
    const { weightUpdatePeriod } = this.#algorithm
    const isDue = this.#changed || now >= this.#due
    if (isDue) {
      // Updates are whole periods apart: one that nobody has waited for is made up for, as of its time.
      const missed = Math.floor((now - this.#due) / weightUpdatePeriod)
      this.#at = this.#changed ? now : this.#due + missed * weightUpdatePeriod
      this.#due = this.#at + weightUpdatePeriod
      this.#pending = false
      this.#changed = false
    }
    let count = 0
    let change = Number.POSITIVE_INFINITY
    for (let i = 0; i < states.length; i++) {
      if (states[i] !== MEMBER_UP) {
        weights[i] = OUT
        continue
      }
      const known = this.#known[i] as Known
      const isNew = this.#read(i, known)
      if (isDue) {
        if (isNew && this.#time <= this.#at) this.#learn(known)
        weights[i] = this.#evaluate(known)
      }
      if (isNew && !(isDue && this.#time <= this.#at)) {
        this.#learn(known)
        this.#pending = true
      }
      if ((weights[i] as number) > 0) count++
      change = Math.min(change, this.#changeOf(known))
    }
    this.#looked = now
    const after = Math.ceil(Math.max(0, change - this.#due) / weightUpdatePeriod)
    facts[FACT_FRESH] = count
    facts[FACT_NEXT_EXPIRY] = this.#pending ? this.#due : this.#due + after * weightUpdatePeriod
  }

  // The weight at the time of the update.
  #evaluate(known: Known): number {
    if (known.since === NOT) return MISSING
    if (this.#at - known.updated >= this.#algorithm.weightExpirationPeriod) {
      known.since = NOT
      return MISSING
    }
    return this.#at - known.since < this.#algorithm.blackoutPeriod ? MISSING : known.weight
  }

  // When the weight becomes another though nothing is reported.
  #changeOf({ since, updated }: Known): number {
    if (since === NOT) return Number.POSITIVE_INFINITY
    const expiry = updated + this.#algorithm.weightExpirationPeriod
    const end = since + this.#algorithm.blackoutPeriod
    return this.#at < end ? Math.min(end, expiry) : expiry
  }

  #learn(known: Known): void {
    if (known.since === NOT) known.since = Math.max(this.#time, known.from)
    known.updated = this.#time
    known.weight = this.#weight
  }

  // Whether a report has come that gives another weight: then `#time` and `#weight` are its.
  #read(i: number, known: Known): boolean {
    const members = this.#members as MemberArrays
    const slot = members.slots[i] as number
    const generation = members.generations[i] as number
    const reported = reportTime(this.#memory, slot, generation)
    if (reported < 0) return false
    if (!this.#weigh(slot, generation, reported)) {
      if (reported > known.updated && reported > known.ignored) {
        known.ignored = reported
        this.ignored++
      }
      return false
    }
    if (this.#time > known.updated) return true
    return this.#time === known.updated && known.since !== NOT && this.#weight !== known.weight
  }

  // Whether the slot's last report with a qps gives a weight. All parts are of one sample: what is of another time was
  // not in the report, or has not been written yet.
  #weigh(slot: number, generation: number, reported: number): boolean {
    const sample = this.#sample
    readMetric(this.#memory, slot, generation, QPS, reported, sample)
    const { time, value: qps } = sample
    if (!(qps > 0)) return false
    const of = (place: number): number => {
      readMetric(this.#memory, slot, generation, place, reported, sample)
      if (!(sample.time === time)) return 0
      // Those of the user's own are as they are reported; the others are in percent.
      return place < METRICS.length ? sample.value / 100 : sample.value
    }
    let utilization = of(APPLICATION)
    if (!(utilization > 0)) {
      utilization = 0
      for (const place of this.#places) {
        const value = of(place)
        if (value > utilization) utilization = value
      }
      if (utilization === 0) utilization = of(CPU)
    }
    if (!(utilization > 0)) return false
    readMetric(this.#memory, slot, generation, EPS, reported, sample)
    const eps = sample.time === time && !Number.isNaN(sample.value) ? sample.value : 0
    if (eps < 0) return false
    this.#time = time
    this.#weight = weightOf(qps, utilization, eps, this.#algorithm.errorUtilizationPenalty)
    return this.#weight > 0 && this.#weight < Number.POSITIVE_INFINITY
  }
}

/**
 * What a node would serve if it were full, requests per second.
 * @param utilization 0-1, or above
 * @param penalty what an error rate of 1 adds to it
 */
export function weightOf(qps: number, utilization: number, eps: number, penalty: number): number {
  return qps / (utilization + (eps / qps) * penalty)
}

function newcomer(from: number): Known {
  return { weight: 0, since: NOT, updated: NEVER, from, ignored: NEVER }
}
