import type { Clock, TimerHandle } from '../clock.js'
import { reasonOf } from '../errors.js'
import { Budget } from '../http2/budget.js'
import { messageAllowance } from '../http2/report-limits.js'
import type { Failure } from './answer.js'
import type { BackOff } from './back-off.js'

/** What comes of a connection; nothing of it within the call that made it, and nothing after `close`. */
export interface OrcaEvents {
  /** The connection stands, and the stream was asked for. */
  onOpen(): void
  /** The stream told something. */
  onMessage(bytes: Uint8Array): void
  /** The stream ended, or there never was one. */
  onEnd(end: StreamEnd): void
  /**
   * The connection ended, after its stream had.
   * @param excess the other side sent more than it may
   */
  onLost(excess?: boolean): void
  /** Handling what came threw. */
  onFault(error: unknown): void
}

/** How a stream ended. */
export interface StreamEnd extends Failure {
  /** The other side does not know of such streams (UNIMPLEMENTED), and would not on this connection if asked again. */
  readonly final: boolean
  /** The other side sent more than it may. */
  readonly excess?: boolean
}

/** A connection of its own with one stream. */
export interface OrcaConnection {
  /** Ends stream and connection, whatever their state. */
  close(): void
}

/** Connects to a node and asks for its stream. */
export type OrcaConnect = (events: OrcaEvents) => OrcaConnection

/** What a stream works with. */
export interface OrcaStreamOptions {
  readonly connect: OrcaConnect
  readonly clock: Clock
  readonly backOff: BackOff
  /** How often the node was asked to tell, ms. */
  readonly interval: number
  /** Takes a message; false: it was no report. */
  readonly onMessage: (bytes: Uint8Array) => boolean
  /** The stream is down; it is tried again by itself. */
  readonly onDown: (failure: Failure) => void
  /** Handling what the node sent threw: the stream has ended, and is not tried again. */
  readonly onFault: (error: unknown) => void
}

/** As long as gRPC gives a connection at least, ms. */
const CONNECT_TIMEOUT = 20_000

// A server may tell less often than it was asked to. How often shows with its second report; until then it is taken for
// one with the minimum that gRPC's servers have by default, ms.
const USUAL_MINIMUM = 30_000

// Without a report for so many intervals, and at least so many ms, a connection counts as dead. Shorter ones end by a turn of
// either event loop that takes long.
const PATIENCE = 3
const LEAST_PATIENCE = 5_000

/** Two tries are at least so far apart, ms: a server that tells once and ends the stream is not asked in a loop. */
const SPACING = 1_000

/**
 * A node's stream of reports, kept up: tried again when it ends, after waits that grow until a report has come; the
 * first try after that is made at once. Each try has a connection of its own, so that no second back-off, that of a
 * channel, comes on top. Where the node knows no such service nothing is tried until that connection has ended.
 */
export class OrcaStream {
  readonly #options: OrcaStreamOptions
  #connection: OrcaConnection | undefined
  // Tells the events of the present connection from those of earlier ones.
  #try = 0
  #triedAt = 0
  #timer: TimerHandle
  #closed = false
  // Of the present connection.
  #open = false
  #reported = false
  #final = false
  #messages = 0
  #lastAt = 0
  #budget: Budget
  // When the timer looks for messages.
  #due = 0
  // How often the node tells, ms; 0: not known. It is kept over connections.
  #gap = 0

  constructor(options: OrcaStreamOptions) {
    this.#options = options
    this.#budget = this.#newBudget()
  }

  /** Begins; once. */
  start(): void {
    this.#connect()
  }

  close(): void {
    this.#closed = true
    this.#drop()
  }

  #newBudget(): Budget {
    const { clock, interval } = this.#options
    return new Budget(messageAllowance(interval), clock.now())
  }

  #connect(): void {
    const { clock, connect } = this.#options
    const current = ++this.#try
    const ofThis =
      <A extends unknown[]>(run: (...given: A) => void) =>
      (...given: A) => {
        if (current !== this.#try) return
        try {
          run(...given)
        } catch (error) {
          this.#fault(error)
        }
      }
    this.#triedAt = clock.now()
    this.#open = false
    this.#reported = false
    this.#final = false
    this.#messages = 0
    this.#budget = this.#newBudget()
    this.#arm(CONNECT_TIMEOUT, () => this.#fail('exit', `no connection within ${CONNECT_TIMEOUT} ms`))
    try {
      this.#connection = connect({
        onOpen: ofThis(() => this.#opened()),
        onMessage: ofThis((bytes) => this.#received(bytes)),
        onEnd: ofThis((end) => this.#ended(end)),
        onLost: ofThis((excess?: boolean) => this.#lost(excess)),
        onFault: ofThis((error) => this.#fault(error)),
      })
    } catch (error) {
      this.#fail('error', reasonOf(error))
    }
  }

  #opened(): void {
    if (this.#open || this.#final) return
    this.#open = true
    this.#lastAt = this.#options.clock.now()
    this.#awaitMessage(this.#patience)
  }

  #received(bytes: Uint8Array): void {
    if (this.#final) return
    const { clock, interval, onMessage } = this.#options
    this.#opened()
    const now = clock.now()
    const since = now - this.#lastAt
    this.#lastAt = now
    if (!this.#budget.take(1, now)) {
      this.#ended({
        kind: 'error',
        reason: `more than ${messageAllowance(interval).rate} messages a second`,
        final: false,
        excess: true,
      })
      return
    }
    // Where the process or the network hung, several come at once: such a gap alone says little.
    if (++this.#messages > 1) this.#gap = Math.max(since, this.#gap / 2)
    if (this.#due > now + this.#patience) this.#awaitMessage(this.#patience)
    if (onMessage(bytes)) this.#reported = true
  }

  #ended({ final, kind, reason, excess = false }: StreamEnd): void {
    // What came of it before does not make the next try come any sooner.
    if (excess) this.#reported = false
    if (this.#final) return
    if (!final) {
      this.#fail(kind, reason)
      return
    }
    this.#final = true
    this.#disarm()
    this.#options.onDown({ kind, reason })
  }

  #fault(error: unknown): void {
    this.close()
    this.#options.onFault(error)
  }

  #lost(excess = false): void {
    if (excess) this.#reported = false
    if (this.#final) this.#retry()
    else this.#fail('exit', 'the connection was lost')
  }

  #fail(kind: Failure['kind'], reason: string): void {
    // The other side may say things of this, and so may who is told: none of it is of the next try.
    this.#drop()
    this.#options.onDown({ kind, reason })
    if (!this.#closed) this.#retry()
  }

  #retry(): void {
    const { clock, backOff } = this.#options
    this.#drop()
    if (this.#reported) backOff.reset()
    const wait = this.#reported ? Math.max(0, this.#triedAt + SPACING - clock.now()) : backOff.next()
    this.#arm(wait, () => this.#connect())
  }

  get #patience(): number {
    const { interval } = this.#options
    const gap = this.#gap === 0 ? USUAL_MINIMUM : this.#gap
    return Math.max(LEAST_PATIENCE, PATIENCE * Math.max(interval, gap))
  }

  // Not set anew with each message: when it is due, what is left of the time is waited for.
  #awaitMessage(wait: number): void {
    this.#due = this.#options.clock.now() + wait
    this.#arm(wait, () => {
      const silent = this.#options.clock.now() - this.#lastAt
      const left = this.#patience - silent
      if (left > 0) this.#awaitMessage(left)
      else this.#fail('exit', `nothing was heard for ${Math.round(silent)} ms`)
    })
  }

  #drop(): void {
    this.#try++
    this.#disarm()
    const connection = this.#connection
    this.#connection = undefined
    connection?.close()
  }

  #arm(wait: number, run: () => void): void {
    this.#disarm()
    this.#timer = this.#options.clock.setTimeout(run, wait)
  }

  #disarm(): void {
    this.#options.clock.clearTimeout(this.#timer)
  }
}
