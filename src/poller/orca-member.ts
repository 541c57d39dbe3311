import type { Clock } from '../clock.js'
import { reasonOf } from '../errors.js'
import type { ReadReport } from '../report.js'
import { readOrcaBinary } from '../reports/orca-binary.js'
import type { Answer, Failure } from './answer.js'
import { BackOff, type BackOffOptions, GRPC_BACK_OFF } from './back-off.js'
import type { PlacedMember } from './member.js'
import { type OrcaConnect, OrcaStream } from './orca-stream.js'
import type { Sink } from './sink.js'
import type { Place } from './store.js'
import { touch } from './touched.js'

/** What a member works with. */
export interface OrcaMemberOptions {
  readonly connect: OrcaConnect
  readonly clock: Clock
  readonly sink: Sink
  /** How often the node is asked to tell, ms. */
  readonly interval: number
  /** Uniform in [0, 1), for the jitter. */
  readonly random?: (() => number) | undefined
  /** Default: gRPC's. */
  readonly backOff?: BackOffOptions | undefined
  /** Handling what the node sent threw: it is heard no more. */
  readonly onFault: (error: unknown) => void
}

const HEARD = { kind: 'heard' } as const

/** So many intervals after its last report a node whose stream is down has failed. */
const LATELY = 3

/**
 * A node that tells by a stream of gRPC. Its reports go to the sink as they come; to be asked is to say whether it has
 * told lately. The stream begins with the first ask, so that the streams of many nodes begin when their polls would.
 */
export class OrcaMember implements PlacedMember {
  readonly id: string
  readonly slot: number
  readonly generation: number
  readonly #clock: Clock
  readonly #sink: Sink
  readonly #interval: number
  readonly #stream: OrcaStream
  #first: Promise<Answer> | undefined
  // What is wrong, since the last report.
  #failure: Failure | undefined
  #down = true
  #heardAt = Number.NEGATIVE_INFINITY
  // An ask that waits for the first report.
  #settle: ((answer: Answer) => void) | undefined

  constructor(id: string, place: Place, options: OrcaMemberOptions) {
    const { connect, clock, sink, interval, random = Math.random, backOff = GRPC_BACK_OFF, onFault } = options
    this.id = id
    this.slot = place.slot
    this.generation = place.generation
    this.#clock = clock
    this.#sink = sink
    this.#interval = interval
    this.#stream = new OrcaStream({
      connect,
      clock,
      interval,
      backOff: new BackOff(backOff, random),
      onMessage: (bytes) => this.#read(bytes),
      onDown: (failure) => this.#fell(failure),
      onFault,
    })
  }

  /** The first ask waits for a report or a failure; later ones answer at once. */
  async ask(): Promise<Answer> {
    this.#first ??= this.#start()
    if (this.#settle !== undefined) return this.#first
    if (this.#failure === undefined) return HEARD
    return this.#down && this.#heardLately ? HEARD : this.#failure
  }

  /** Nobody waits any more; the stream goes on. */
  cancel(reason: string): void {
    if (this.#settle === undefined) return
    this.#failure ??= { kind: 'exit', reason: 'no report yet' }
    this.#answer({ kind: 'exit', reason })
  }

  close(): void {
    this.#stream.close()
    this.#answer({ kind: 'exit', reason: 'closed' })
  }

  get #heardLately(): boolean {
    return this.#clock.now() - this.#heardAt <= LATELY * this.#interval
  }

  #start(): Promise<Answer> {
    const first = new Promise<Answer>((settle) => {
      this.#settle = settle
    })
    this.#stream.start()
    return first
  }

  #read(bytes: Uint8Array): boolean {
    touch(this)
    let report: ReadReport
    try {
      report = readOrcaBinary(bytes)
    } catch (error) {
      const reason = reasonOf(error)
      this.#failure = { kind: 'error', reason }
      this.#down = false
      this.#sink.bad(this, reason)
      this.#answer(this.#failure)
      return false
    }
    this.#failure = undefined
    this.#heardAt = this.#clock.now()
    this.#sink.push(this, report, this.#heardAt)
    this.#answer(HEARD)
    return true
  }

  #fell(failure: Failure): void {
    this.#failure = failure
    this.#down = true
    // While it counts as heard nobody asks what is wrong.
    if (failure.kind === 'error' && this.#heardLately) this.#sink.bad(this, failure.reason)
    this.#answer(failure)
  }

  #answer(answer: Answer): void {
    const settle = this.#settle
    this.#settle = undefined
    settle?.(answer)
  }
}
