import type { Buffer } from 'node:buffer'
import type { Clock, TimerHandle } from '../clock.js'
import { LONGEST_WAIT } from '../clock.js'
import type { NodeState } from '../report.js'
import { writeOrcaBinary } from '../reports/orca-binary.js'
import { bufferOf } from './buffer.js'
import type { Reporter } from './reporter.js'

/** A call of `StreamCoreMetrics` as @grpc/grpc-js hands it to a server's handler, as far as it is used. */
export interface OrcaCall {
  /** The request, serialized. */
  readonly request: Uint8Array
  /** The call's header metadata. */
  readonly metadata: { get(name: string): readonly (string | Uint8Array)[] }
  /** Reports that were written, and have not gone out. */
  readonly writableLength: number
  /** Sends a report; false where the client is slow to read. */
  write(report: Buffer): boolean
  /** Calls `listener` when the client gives the call up. */
  on(event: 'cancelled', listener: () => void): unknown
  /** Ends the call with a status. */
  emit(event: 'error', status: OrcaStatus): unknown
}

/** How a call ends that is not ended by the client. */
export interface OrcaStatus {
  /** A status code of gRPC's. */
  readonly code: number
  /** Why, in words. */
  readonly details: string
}

/** What became of a stream's reports. */
export interface ToldCounters {
  /** Reports that were sent. */
  sent: number
  /** Reports that were not, since the one before had not gone out: the client does not read. */
  skipped: number
}

export interface ToldCallOptions {
  readonly call: OrcaCall
  readonly reporter: Reporter
  readonly clock: Clock
  /** ms between two reports. */
  readonly interval: number
  readonly counters: ToldCounters
  /** There was no sample within the time that the first one may take. */
  readonly onNoSample: () => void
}

/** How long a stream waits for the agent's first sample, ms. */
const FIRST_SAMPLE = 10_000

/** One stream of reports: the whole report at once, then each interval, and at once when the agent's state changes. */
export class ToldCall {
  readonly #options: ToldCallOptions
  readonly #interval: number
  readonly #unsubscribe: () => void
  // The state that was told; undefined: there was no report yet.
  #told: NodeState | undefined
  #timer: TimerHandle

  constructor(options: ToldCallOptions) {
    const { reporter, clock, interval, onNoSample } = options
    this.#options = options
    this.#interval = Math.min(interval, LONGEST_WAIT)
    this.#unsubscribe = reporter.onChange(() => this.#changed())
    this.#timer = clock.setTimeout(onNoSample, FIRST_SAMPLE)
    this.#tell()
  }

  /** Sends nothing more. */
  stop(): void {
    this.#unsubscribe()
    this.#options.clock.clearTimeout(this.#timer)
  }

  #changed(): void {
    if (this.#told !== this.#options.reporter.state) this.#tell()
  }

  #tell(): void {
    const { call, reporter, clock, counters } = this.#options
    const report = reporter.report()
    if (report === undefined) return
    this.#told = reporter.state
    clock.clearTimeout(this.#timer)
    this.#timer = clock.setTimeout(() => this.#tell(), this.#interval)
    if (call.writableLength > 0) {
      counters.skipped++
      return
    }
    counters.sent++
    call.write(bufferOf(writeOrcaBinary(report)))
  }
}
