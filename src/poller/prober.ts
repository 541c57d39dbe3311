import type { Generator } from '../engine/portable/generator.js'
import type { Report } from '../report.js'
import type { Entry } from '../table/table.js'
import type { Answer } from './answer.js'
import type { ProbeAsker } from './probe-asker.js'

/** What became of the probes that picks asked for: `sent = answered + failed + those under way`. */
export interface ProbeCounters {
  /** Probes that were sent. */
  sent: number
  /** Nodes that answered. */
  answered: number
  /** Of those, the ones that make no entry: without requests in flight, or of nodes that tell unasked. */
  incomplete: number
  /** Nodes that refused, timed out or closed, or whose answer is no report. Only polls warn of them. */
  failed: number
  /** Not sent: as many as allowed, or all nodes, were under way. */
  skipped: number
}

/** What a prober works with. */
export interface ProberOptions {
  /** Probes a pick. */
  readonly probes: number
  /** Most probes under way at once. */
  readonly most: number
  /** Picks so far. */
  readonly picks: () => number
  /** The nodes that may be asked: another array after each change. */
  readonly targets: () => readonly Entry[]
  readonly generator: Generator
  /** Runs its argument once the present turn is over. */
  readonly later: (run: () => void) => void
  readonly asker: ProbeAsker
  /** @param at when the report came, by the clock, ms */
  readonly onReport: (entry: Entry, report: Report, at: number) => void
}

/**
 * Has nodes asked as picks are made, without any of them waiting: what picks of one turn of the event loop ask for is sent
 * when that is over. Nodes are drawn at random among those that are not being asked.
 */
export class Prober {
  readonly counters: ProbeCounters = { sent: 0, answered: 0, incomplete: 0, failed: 0, skipped: 0 }
  /** Whether the picks of this turn will be looked at. */
  awake = false
  readonly #options: ProberOptions
  #targets: readonly Entry[] = []
  #current: ReadonlySet<Entry> = new Set()
  // Those not under way, in any order.
  #idle: Entry[] = []
  readonly #underWay = new Set<Entry>()
  #sending = false
  // Those that answered while probes were sent.
  readonly #refused: Entry[] = []
  #counted = 0
  #owed = 0
  #closed = false

  constructor(options: ProberOptions) {
    this.#options = options
  }

  /** A pick was made. */
  wake(): void {
    this.awake = true
    this.#options.later(() => {
      this.awake = false
      if (!this.#closed) this.#send()
    })
  }

  close(): void {
    this.#closed = true
    this.#options.asker.close()
  }

  #send(): void {
    const { picks, probes, most, generator } = this.#options
    const made = picks()
    this.#owed += (made - this.#counted) * probes
    this.#counted = made
    let due = Math.floor(this.#owed)
    this.#owed -= due
    this.#takeTargets()
    this.#sending = true
    for (; due > 0 && this.#idle.length > 0 && this.#underWay.size < most && !this.#closed; due--) {
      const place = generator.below(this.#idle.length)
      const entry = this.#idle[place] as Entry
      const last = this.#idle.pop() as Entry
      if (entry !== last) this.#idle[place] = last
      this.#ask(entry)
    }
    this.#sending = false
    for (const entry of this.#refused.splice(0)) this.#idle.push(entry)
    this.counters.skipped += due
  }

  #takeTargets(): void {
    const targets = this.#options.targets()
    if (targets === this.#targets) return
    this.#targets = targets
    this.#current = new Set(targets)
    this.#idle = targets.filter((entry) => !this.#underWay.has(entry))
    this.#options.asker.setMembers(targets)
  }

  #ask(entry: Entry): void {
    this.#underWay.add(entry)
    this.counters.sent++
    this.#options.asker.ask(entry, (answer) => {
      this.#underWay.delete(entry)
      // Who can't be asked at all says so at once, and would say so to every probe of this turn.
      if (this.#current.has(entry)) (this.#sending ? this.#refused : this.#idle).push(entry)
      this.#settle(entry, answer)
    })
  }

  #settle(entry: Entry, answer: Answer): void {
    if (answer.kind === 'heard') {
      this.counters.answered++
      this.counters.incomplete++
      return
    }
    if (answer.kind !== 'report') {
      this.counters.failed++
      return
    }
    this.counters.answered++
    if (answer.report.inFlight === undefined) this.counters.incomplete++
    this.#options.onReport(entry, answer.report, answer.at)
  }
}
