import type { Clock } from '../clock.js'
import type { Report } from '../report.js'
import { writeOrcaBinary } from '../reports/orca-binary.js'

/**
 * How long a serialized report is used again, ms: making one takes some ten microseconds, too much for each response of a
 * busy server. So a report may say an age that is less than the real one by up to this.
 */
const KEPT = 10

/** An agent's report, serialized for responses. */
export class ReportBytes {
  readonly #agent: { report(): Report | undefined }
  readonly #clock: Clock
  #bytes: Buffer | undefined
  #until = Number.NEGATIVE_INFINITY

  constructor(agent: { report(): Report | undefined }, clock: Clock) {
    this.#agent = agent
    this.#clock = clock
  }

  /** The report, at most 10 ms old; undefined before the first sample. */
  get(): Buffer | undefined {
    const now = this.#clock.now()
    if (now < this.#until) return this.#bytes
    const report = this.#agent.report()
    this.#until = now + KEPT
    this.#bytes = report && bufferOf(writeOrcaBinary(report))
    return this.#bytes
  }
}

/** The same bytes as a Buffer, which grpc-js insists on. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
