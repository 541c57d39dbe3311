import type { Clock } from '../clock.js'
import { ClosedError } from '../errors.js'
import { processClock } from '../process-clock.js'
import type { Entry, Table } from '../table/table.js'
import { type AnswerCounts, addCounts, noAnswers, type Tally } from './answer.js'
import type { Asker } from './asker.js'
import { Cycle } from './cycle.js'
import { FailureReports } from './failures.js'
import { LocalAsker } from './local-asker.js'
import { LocalProbes } from './local-probes.js'
import type { ProbeAsker } from './probe-asker.js'
import { isCustom, type Transport } from './transport.js'
import { WorkerAsker } from './worker-asker.js'
import { sharedHosts, type WorkerHost } from './worker-host.js'
import { WorkerProbes } from './worker-probes.js'

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
  readonly workers?: number
  readonly transport: Transport
  /** Uniform in [0, 1), for the jitter. */
  readonly random: () => number
  /** Samples the local node and writes its reading; the cycle waits for it up to the time-out. */
  readonly sampleSelf?: (() => Promise<void>) | undefined
  /** Called after each complete cycle, published already. */
  readonly onCycle?: (tally: Tally) => void
}

/** What a poller has counted since it was made. */
export interface PollerCounters extends AnswerCounts {
  /** Complete cycles. */
  cycles: number
  /** Members refused, reset, timed out or closed. */
  exit: number
  /** Members with a bad status, size, shape or value. */
  error: number
  /** Process warnings for members that failed. */
  warned: number
}

/**
 * Polls the remote members of one balancer and writes their readings. HTTP under the process's clock runs in the
 * polling thread; a custom transport, and anything under another clock, on this one.
 */
export class Poller {
  readonly counters: PollerCounters = { cycles: 0, ...noAnswers(), exit: 0, error: 0, warned: 0 }
  /** Resolves after the first complete cycle; rejects with ClosedError where the poller was closed before. */
  readonly ready: Promise<void>
  readonly #asker: Asker
  readonly #cycle: Cycle
  readonly #failures: FailureReports
  readonly #onCycle: ((tally: Tally) => void) | undefined
  #resolveReady: () => void = () => {}
  #rejectReady: (error: Error) => void = () => {}
  #closing: Promise<void> | undefined

  constructor(options: PollerOptions) {
    this.ready = new Promise((resolve, reject) => {
      this.#resolveReady = resolve
      this.#rejectReady = reject
    })
    // Nobody needs to wait for it.
    this.ready.catch(() => {})
    this.#onCycle = options.onCycle
    this.#failures = new FailureReports(options.name)
    this.#asker = this.#makeAsker(options)
    const { table } = options
    this.#cycle = new Cycle({
      ...options,
      prepare: () => this.#asker.prepare(),
      round: (timeout) => this.#asker.round(timeout),
      publish: () => table.publish(),
      onEnd: (tally) => this.#ended(tally),
    })
  }

  /** The remote members from now on. Cheap: what changed is worked out once per cycle, or per turn during one. */
  setMembers(entries: readonly Entry[]): void {
    if (this.#closing === undefined) this.#asker.setMembers(entries)
  }

  /** Starts polling. Again, or after `close`: nothing happens. */
  start(): void {
    this.#cycle.start()
  }

  /** Ends the cycle in progress, drops what still comes, and lets go of threads and connections. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  #makeAsker({ table, clock, transport, workers = 1 }: PollerOptions): Asker {
    const onLate = (reports: number) => {
      this.counters.late += reports
    }
    if (isCustom(transport) || clock !== processClock || !isShared(table)) {
      return new LocalAsker(table.memory, clock, transport, () => onLate(1))
    }
    return new WorkerAsker(table.memory, transport, sharedHosts(workers), onLate)
  }

  #ended(tally: Tally): void {
    const { counters } = this
    counters.cycles++
    addCounts(counters, tally)
    for (const { kind } of tally.failed) counters[kind]++
    this.#failures.report(tally.failed)
    counters.warned = this.#failures.warned
    this.#resolveReady()
    this.#onCycle?.(tally)
  }

  async #close(): Promise<void> {
    const error = new ClosedError('the poller')
    this.#cycle.close(error)
    this.#rejectReady(error)
    await this.#asker.close()
  }
}

/** What probes single members, in the way in which a poller with these options asks them all. */
export function probeAsker(
  table: Table,
  clock: Clock,
  { transport, timeout }: { readonly transport: Transport; readonly timeout: number },
): ProbeAsker {
  if (isCustom(transport) || clock !== processClock || !isShared(table)) {
    return new LocalProbes(transport, clock, timeout)
  }
  return new WorkerProbes(table.memory, transport, sharedHosts(1)[0] as WorkerHost, timeout)
}

function isShared({ memory }: Table): boolean {
  return typeof SharedArrayBuffer === 'function' && memory.buffer instanceof SharedArrayBuffer
}
