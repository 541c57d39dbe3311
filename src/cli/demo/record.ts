import { Latencies } from './latencies.js'
import { SequenceDigest } from './plan.js'

/** What happened at one server in a phase. */
export class NodeRecord {
  readonly latencies = new Latencies()
  picks = 0
}

/** What happened in a phase. */
export class PhaseRecord {
  readonly latencies = new Latencies()
  readonly nodes: readonly NodeRecord[]
  readonly #digest = new SequenceDigest()
  sent = 0
  /** Requests that were answered, or failed. */
  ended = 0
  errors = 0
  /** The first error. */
  error: unknown

  constructor(nodes: number) {
    this.nodes = Array.from({ length: nodes }, () => new NodeRecord())
  }

  /** What was sent so far, in short. */
  get digest(): string {
    return this.#digest.hex()
  }

  /** A request goes out that was planned for `at`, ms, with `work`, CPU µs. */
  begin(at: number, work: number): void {
    this.sent++
    this.#digest.add(at, work)
  }

  picked(node: number): void {
    ;(this.nodes[node] as NodeRecord).picks++
  }

  /** A request was answered, `latency` ms after the time that it was planned for. */
  answered(node: number, latency: number): void {
    this.ended++
    this.latencies.record(latency)
    ;(this.nodes[node] as NodeRecord).latencies.record(latency)
  }

  failed(error: unknown): void {
    this.ended++
    this.errors++
    this.error ??= error
  }
}
