import type { Clock } from '../clock.js'
import { ClosedError } from '../errors.js'
import { processClock } from '../process-clock.js'
import { PUBLICATION_SPACING } from '../table/publications.js'
import { reportTime } from '../table/report.js'
import type { Entry, Table, TableSource } from '../table/table.js'
import {
  type AnswerCounts,
  addCounts,
  addPushes,
  emptyTally,
  noAnswers,
  noPushes,
  type PushCounts,
  type Tally,
} from './answer.js'
import { Asker } from './asker.js'
import { Cycle } from './cycle.js'
import { FailureReports, type PollFailure } from './failures.js'
import { LocalProbes } from './local-probes.js'
import { LocalShare } from './local-share.js'
import type { ProbeAsker } from './probe-asker.js'
import { Probes } from './probes.js'
import type { Share, ShareListener } from './share.js'
import type { Aside } from './sink.js'
import type { Place } from './store.js'
import { Targets } from './targets.js'
import type { PlacedTold } from './told.js'
import type { TransportOption } from './transport.js'
import { reportUnknownFields, type UnknownFields } from './unknown-field-warnings.js'
import { LeaderWatch, type PollElection } from './watch-leader.js'
import { sharedHosts, type WorkerHost } from './worker-host.js'
import { WorkerProbes } from './worker-probes.js'
import { WorkerShare } from './worker-share.js'

/** Options of a poller; they are checked by whoever takes them from a user. */
export interface PollerOptions {
  /** The balancer's name, for events and warnings. */
  readonly name: string
  readonly table: Table
  /** The table's clock. */
  readonly clock: Clock
  /** Pause from the end of a cycle to the start of the next, ms. */
  readonly interval: number
  /** The first cycle starts after a uniform random time of up to this, ms; 0: at once, after the caller's turn. */
  readonly startupJitter: number
  /** Longest time of a cycle, ms. */
  readonly timeout: number
  /** Polling threads to spread the members over; they are shared by all pollers of this thread. Default 1. */
  readonly workers?: number | undefined
  /** How members are asked. Undefined: the poller has no members and only samples the local node. */
  readonly transport: TransportOption | undefined
  /**
   * A member with a report whose sample was taken less than this ago, whoever told of it, is not asked in a cycle, ms.
   * Default 0: all are asked.
   */
  readonly silentFor?: number | undefined
  /** Least time between two publications of what members tell unasked, ms. Default 50. */
  readonly coalesce?: number | undefined
  /** Uniform in [0, 1), for the jitter. */
  readonly random: () => number
  /** Samples the local node and writes its reading; the cycle waits for it up to the time-out. */
  readonly sampleSelf?: (() => Promise<void>) | undefined
  /** Called after each complete cycle, published already. */
  readonly onCycle?: ((tally: Tally) => void) | undefined
  /**
   * Called with what members told of state, weight and limit, where it differs from what the same member told this poller
   * last: at the end of a round, and within 50 ms for what comes unasked.
   */
  readonly onTold?: ((told: readonly PlacedTold[]) => void) | undefined
  /** Whether a member is drained or out for maintenance, so that no warning is given if it fails. Default: none is. */
  readonly isLeaving?: ((node: string) => boolean) | undefined
}

/** How the last complete poll cycle went. */
export interface Readiness {
  /** Nodes that were polled, or that had a report more recent than `silentFor`. */
  readonly nodes: number
  /** Those of them that answered with a valid report. */
  readonly answered: number
}

/** What a poller has counted since it was made. */
export interface PollerCounters extends AnswerCounts {
  /** Complete cycles. */
  cycles: number
  /** Members refused, reset, timed out or closed. */
  exit: number
  /** Members with a bad status, size, shape or value. */
  error: number
  /** What came from members unasked. As of the last cycle, or a little later. */
  readonly pushed: PushCounts
  /**
   * Times that handling what a member sent threw. It then fails in each round, and is asked again after 5 s, twice as long
   * each time up to 5 min. As of the last cycle, or a little later.
   */
  quarantined: number
  /** Reports, polled or pushed, with fields that are not known; the others were used. As of the last cycle, or a little later. */
  unknownFields: number
  /**
   * Exceptions in a polling thread that could not be put down to one member. The thread goes on, and all pollers that use it
   * count them. Each is published on `idlest:worker:fault`, and the first of a thread is warned of (`IDLEST_WORKER_FAULT`).
   */
  faults: number
  /** Members that failed in the last cycle. */
  failing: number
  /** Process warnings for members that failed. */
  warned: number
  /** Who polls, where processes share the table: absent with a table of this process alone. */
  elected?: PollElection
}

/**
 * Polls the remote members of one balancer and writes their readings. Built-in transports under the process's clock run
 * in the polling thread; those of the user's own, and anything under another clock, on this one.
 */
export class Poller {
  readonly counters: PollerCounters = {
    cycles: 0,
    ...noAnswers(),
    exit: 0,
    error: 0,
    pushed: noPushes(),
    quarantined: 0,
    unknownFields: 0,
    faults: 0,
    failing: 0,
    warned: 0,
  }
  readonly #options: PollerOptions
  readonly #targets: Targets
  readonly #asker: Asker
  readonly #cycle: Cycle
  readonly #failures: FailureReports
  // Nodes that were warned of for unknown fields.
  readonly #misspelt = new WeakSet<Entry>()
  readonly #firstCycle: Promise<void>
  #readiness: Readiness = { nodes: 0, answered: 0 }
  #resolveReady: () => void = () => {}
  #rejectReady: (error: Error) => void = () => {}
  #closing: Promise<void> | undefined
  readonly #watch: LeaderWatch | undefined
  #entries: readonly Entry[] = []

  constructor(options: PollerOptions) {
    this.#firstCycle = new Promise((resolve, reject) => {
      this.#resolveReady = resolve
      this.#rejectReady = reject
    })
    // Nobody needs to wait for it.
    this.#firstCycle.catch(() => {})
    this.#options = options
    this.#failures = new FailureReports(options.name, options.isLeaving)
    this.#targets = new Targets(options.transport)
    this.#asker = this.#makeAsker()
    const { table, clock, interval, timeout } = options
    const election = table.elect(options.name)
    this.#watch = election && new LeaderWatch(election, clock, 2 * interval + timeout)
    this.#cycle = new Cycle({
      ...options,
      prepare: () => this.#asker.prepare(),
      round: (timeout) => this.#round(timeout),
      publish: () => table.publish(),
      onEnd: (tally) => this.#ended(tally),
    })
  }

  /** The remote members from now on. Cheap: what changed is worked out once per cycle, or per turn during one. */
  setMembers(entries: readonly Entry[]): void {
    if (this.#closing !== undefined) return
    this.#entries = entries
    if (this.#watch?.asks !== false) this.#asker.setMembers(entries)
  }

  /**
   * Resolves after the first complete cycle, later at once, with what the last one came to. Rejects with ClosedError
   * where the poller was closed before.
   */
  get ready(): Promise<Readiness> {
    return this.#firstCycle.then(() => this.#readiness)
  }

  /** Starts polling. Again, or after `close`: nothing happens. */
  start(): void {
    const watch = this.#watch
    if (watch === undefined || this.#closing !== undefined) {
      this.#cycle.start()
      return
    }
    const { interval, startupJitter } = this.#options
    watch.decide([])
    if (watch.asks) this.#asker.setMembers(this.#entries)
    else if (watch.polled) this.#readyByOthers()
    // One that only follows is to be there should the one that polls end.
    this.#cycle.start(watch.asks ? startupJitter : Math.min(interval, startupJitter))
  }

  /**
   * Passes on whatever these nodes tell next, also where it is what they told last: for balancers that have heard
   * something else of them meanwhile, in another way.
   */
  forget(places: readonly Place[]): void {
    this.#asker.forget(places)
  }

  /** What probes single members, in the way in which they are polled. */
  probes(): ProbeAsker {
    const { table, clock, timeout } = this.#options
    const local = new LocalProbes(table.memory, clock, timeout)
    const source = sourceFor(this.#options)
    const remote = source && new WorkerProbes(source, sharedHosts(1)[0] as WorkerHost, timeout)
    return new Probes(this.#targets, local, remote)
  }

  /** Counters as they are now. */
  counted(): PollerCounters {
    const elected = this.#watch?.state
    const counted = { ...this.counters, pushed: { ...this.counters.pushed } }
    return elected === undefined ? counted : { ...counted, elected }
  }

  /** How a node failed in the last cycle; undefined where it did not. */
  failureOf(node: string): PollFailure | undefined {
    return this.#failures.of(node)
  }

  /** Ends the cycle in progress, drops what still comes, and lets go of threads and connections. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  #makeAsker(): Asker {
    const { table, clock, workers = 1, silentFor = 0, coalesce = PUBLICATION_SPACING } = this.#options
    const { memory } = table
    const settings = { silentFor, coalesce }
    const listener: ShareListener = {
      onLate: (reports) => {
        this.counters.late += reports
      },
      onAside: (aside) => this.#heard(aside),
      onFault: () => {
        this.counters.faults++
      },
    }
    const local = new LocalShare(memory, clock, settings, listener)
    const source = sourceFor(this.#options)
    const share =
      (from: TableSource) =>
      (host: WorkerHost): Share =>
        new WorkerShare(host, memory, from, settings, listener)
    const remote = source === undefined ? [] : sharedHosts(workers).map(share(source))
    return new Asker({ memory, clock, targets: this.#targets, silentFor, local, remote })
  }

  #heard({ pushed, quarantined, bad, unknownFields, unknown, told }: Aside): void {
    this.counters.quarantined += quarantined
    this.counters.unknownFields += unknownFields
    addPushes(this.counters.pushed, pushed)
    for (const [node, reason] of bad) this.#failures.bad(node, reason)
    this.counters.warned = this.#failures.warned
    this.#reportUnknown(unknown)
    if (told.length > 0 && this.#closing === undefined) this.#options.onTold?.(told)
  }

  // Once per node, as long as it is one.
  #reportUnknown(unknown: readonly UnknownFields[]): void {
    const { table, name } = this.#options
    const news = unknown.filter(([node]) => {
      const entry = table.find(node)
      if (entry === undefined || this.#misspelt.has(entry)) return false
      this.#misspelt.add(entry)
      return true
    })
    reportUnknownFields(name, news)
  }

  // Another process may ask for all.
  async #round(timeout: number): Promise<Tally> {
    const watch = this.#watch
    if (watch === undefined) return this.#asker.round(timeout)
    const before = watch.asks
    const due = watch.decide(this.#entries)
    if (!watch.asks || !before) this.#asker.setMembers(due)
    if (due.length === 0) {
      this.#asker.settle()
      return emptyTally()
    }
    // As before the first round.
    if (!before) await this.#asker.prepare()
    return this.#asker.round(timeout)
  }

  #ended(tally: Tally): void {
    const { counters } = this
    const watch = this.#watch
    if (watch?.asks === false && tally.asked === 0) {
      if (watch.polled) this.#readyByOthers()
      return
    }
    watch?.cycled()
    counters.cycles++
    addCounts(counters, tally)
    for (const { kind } of tally.failed) counters[kind]++
    this.#failures.report(tally.failed)
    counters.failing = this.#failures.failing
    counters.warned = this.#failures.warned
    const nodes = tally.asked - tally.left + tally.fresh
    this.#readiness = { nodes, answered: nodes - tally.failed.length }
    this.#resolveReady()
    this.#options.onCycle?.(tally)
  }

  // Another process polled them: those with a report have answered it.
  #readyByOthers(): void {
    const { memory } = this.#options.table
    const answered = this.#entries.filter(
      ({ slot, generation }) => reportTime(memory, slot, generation) >= 0,
    ).length
    this.#readiness = { nodes: this.#entries.length, answered }
    this.#resolveReady()
  }

  async #close(): Promise<void> {
    const error = new ClosedError('the poller')
    this.#cycle.close(error)
    this.#watch?.leave()
    this.#rejectReady(error)
    await this.#asker.close()
  }
}

// What a polling thread can ask members with; undefined where it can't, or there can be no such thread.
function sourceFor({ table, clock }: PollerOptions): TableSource | undefined {
  return clock === processClock ? table.source : undefined
}
