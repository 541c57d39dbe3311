import type { Clock, TimerHandle } from '../clock.js'
import { Generator } from '../engine/portable/generator.js'
import type { ProbeAsker } from '../poller/probe-asker.js'
import { type ProbeCounters, Prober } from '../poller/prober.js'
import { processClock } from '../process-clock.js'
import type { Report } from '../report.js'
import { type Seed, streamOf } from '../seed.js'
import { type Entry, sampleTime, type Table, tableTime } from '../table/table.js'
import type { Member } from './members.js'
import type { PickWatcher } from './picks.js'

// Keeps who is asked apart from picks, whatever the seed.
const PROBE_STREAM = 0xc2b2ae35

/** Probes stream in: the other balancers of the table see them so much later at most, ms. */
const PUBLISH_EVERY = 50

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
  #timer: TimerHandle
  #willPublish = false

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
    if (this.#willPublish) this.#options.clock.clearTimeout(this.#timer)
  }

  #targetsNow(): readonly Entry[] {
    const members = this.#options.members()
    if (members !== this.#members) {
      const { self } = this.#options
      this.#members = members
      this.#targets = members.filter(({ id, up }) => up && id !== self).map(({ place }) => place as Entry)
    }
    return this.#targets
  }

  #take(entry: Entry, report: Report, at: number): void {
    const { table, find, onProbe } = this.#options
    const sampled = sampleTime(tableTime(table.memory, at), report.age ?? 0)
    table.write(entry, sampled, report)
    this.#publishSoon()
    const member = find(entry.id)
    if (report.inFlight === undefined || member?.place !== entry) return
    onProbe(member, report.inFlight, report.latency ?? Number.NaN, sampled)
  }

  #publishSoon(): void {
    if (this.#willPublish) return
    const { table, clock } = this.#options
    this.#willPublish = true
    this.#timer = clock.setTimeout(() => {
      this.#willPublish = false
      table.publish()
    }, PUBLISH_EVERY)
  }
}
