import type { Clock } from '../clock.js'
import { Generator } from '../engine/portable/generator.js'
import type { ProbeAsker } from '../poller/probe-asker.js'
import { type ProbeCounters, Prober } from '../poller/prober.js'
import { type PlacedTold, toldBy } from '../poller/told.js'
import { processClock } from '../process-clock.js'
import type { Report } from '../report.js'
import { type Seed, streamOf } from '../seed.js'
import { NO_SLOT } from '../table/layout.js'
import type { Publications } from '../table/publications.js'
import { type Entry, sampleTime, type Table, tableTime } from '../table/table.js'
import type { Member } from './member.js'
import type { PickWatcher } from './picks.js'

// Keeps who is asked apart from picks, whatever the seed.
const PROBE_STREAM = 0xc2b2ae35

/** What probing needs of its balancer. */
export interface ProbingOptions {
  readonly table: Table
  readonly clock: Clock
  readonly seed: Seed
  /** Probes a pick. */
  readonly probes: number
  /** Most probes under way: there is room for no more entries. */
  readonly pool: number
  readonly asker: ProbeAsker
  readonly picks: () => number
  /** The members; another array after each change. */
  readonly members: () => readonly Member[]
  /** The local process, which is not asked. */
  readonly self: string | undefined
  /** Makes what was written visible to other balancers of the table. */
  readonly publications: Publications
  /** Takes what a node tells of itself that is for members. */
  readonly onTold: (told: PlacedTold) => void
  /** Takes what a member said; `time` is table time, ms. */
  readonly onProbe: (member: Member, inFlight: number, latency: number, time: number) => void
  readonly find: (id: string) => Member | undefined
}

/** Has a balancer's members asked as it picks, and puts what they say into the table and the engine. */
export class Probing {
  readonly watcher: PickWatcher
  readonly counters: Readonly<ProbeCounters>
  readonly #options: ProbingOptions
  readonly #prober: Prober
  #members: readonly Member[] = []
  #targets: readonly Entry[] = []

  constructor(options: ProbingOptions) {
    const { clock, seed, probes, pool, asker, picks } = options
    this.#options = options
    this.#prober = new Prober({
      probes,
      most: pool,
      picks,
      targets: () => this.#targetsNow(),
      generator: new Generator(streamOf(seed, PROBE_STREAM)),
      later: clock === processClock ? setImmediate : (run) => clock.setTimeout(run, 0),
      asker,
      onReport: (entry, report, at) => this.#take(entry, report, at),
    })
    this.watcher = this.#prober
    this.counters = this.#prober.counters
  }

  close(): void {
    this.#prober.close()
  }

  #targetsNow(): readonly Entry[] {
    const members = this.#options.members()
    if (members !== this.#members) {
      const { self } = this.#options
      this.#members = members
      this.#targets = members
        .filter(({ id, up, slot }) => up && id !== self && slot !== NO_SLOT)
        .map(({ place }) => place as Entry)
    }
    return this.#targets
  }

  #take(entry: Entry, report: Report, at: number): void {
    const { table, find, onProbe, onTold, publications } = this.#options
    const sampled = sampleTime(tableTime(table.memory, at), report.age ?? 0)
    table.write(entry, sampled, report)
    publications.soon()
    const told = toldBy(entry, report)
    if (told !== undefined) onTold(told)
    const member = find(entry.id)
    if (report.inFlight === undefined || member?.place !== entry) return
    onProbe(member, report.inFlight, report.latency ?? Number.NaN, sampled)
  }
}
