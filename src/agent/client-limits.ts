import type { Clock } from '../clock.js'
import { type Allowance, Budget } from '../http2/budget.js'
import { FrameMeter } from '../http2/frame-meter.js'
import type { Meter } from '../http2/metered-socket.js'

/** What a server's options say of its clients. */
export interface ClientLimitOptions {
  readonly maxConnections: number
  /** Least time between two reports of one stream, ms. */
  readonly minInterval: number
}

/** Bytes of a client's preface, before its first frame. */
const PREFACE = 24

/** New connections a second, once as many as there may be at a time have come. */
const CONNECTIONS = 100

/** Frames that a client may send for each report: some ping, and open the window, each time that data comes. */
const FRAMES = 4

// Of all connections together, beyond what each has for itself.
const SHARED: Allowance = { burst: 1_000, rate: 500 }

const BYTES: Allowance = { burst: 262_144, rate: 8_192 }

/**
 * Bounds what clients of the gRPC port may send, whether they have the token or not: a call without it is refused only when
 * it has been read. A client needs a few frames to begin, and a few for each report. So many are its own; what it sends beyond,
 * up to some times as much, all clients together may send only so often.
 */
export class ClientLimits {
  readonly #clock: Clock
  readonly #connections: Budget
  readonly #shared: Budget
  readonly #own: Allowance
  readonly #most: Allowance

  constructor({ maxConnections, minInterval }: ClientLimitOptions, clock: Clock) {
    const now = clock.now()
    this.#clock = clock
    this.#connections = new Budget({ burst: maxConnections, rate: CONNECTIONS }, now)
    this.#shared = new Budget(SHARED, now)
    const perSecond = (FRAMES * 1_000) / minInterval
    this.#own = { burst: 32, rate: 2 + perSecond }
    this.#most = { burst: 256, rate: 20 + 4 * perSecond }
  }

  /** Whether one more connection may begin. */
  mayConnect(): boolean {
    return this.#connections.take(1, this.#clock.now())
  }

  /** A meter for one connection. */
  meter(): Meter {
    const now = this.#clock.now()
    const own = new Budget(this.#own, now)
    const meter = new FrameMeter(
      { frames: this.#most, bytes: BYTES, preface: PREFACE },
      now,
      (at) => own.take(1, at) || this.#shared.take(1, at),
    )
    return (chunk) => meter.take(chunk, this.#clock.now())
  }
}
