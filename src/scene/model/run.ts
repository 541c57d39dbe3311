import type { Inputs, ScenePolicy } from './inputs.js'

/** One server as it is drawn; updated in place. */
export interface SceneServer {
  /** `server-1` and so on. */
  readonly name: string
  /** Share of the last second that it spent serving requests, 0-1. */
  readonly busy: number
  /** CPU of the last second in percent, 0-100: its background work included. */
  readonly cpu: number
  /** Requests there that wait; the one that is served is not counted. */
  readonly queue: number
  /** CPU that it last reported to the first balancer, percent; undefined before the first report. */
  readonly reported: number | undefined
  /** Age of that report, ms. */
  readonly reportAge: number | undefined
  /** Share of its CPU that it has lost, 0-1. */
  readonly lost: number
  /** Whether the last request of all went there. */
  readonly lastSentTo: boolean
  /** Its share of the requests of the last second, 0-1; 0 where there were none. */
  readonly share: number
  /** Requests sent there since the start. */
  readonly sent: number
}

/** What one second of virtual time had; per server by index. */
export interface WindowFigures {
  /** When it began, ms. */
  readonly start: number
  /** Of the response times of all requests that were answered in it, ms; undefined where none was. */
  readonly p99: number | undefined
  /** Requests that waited at its end. */
  readonly queue: readonly number[]
  /** Share of the requests sent in it, 0-1. */
  readonly share: readonly number[]
  /** Share of it that was spent serving, 0-1. */
  readonly busy: readonly number[]
}

/** A dot: the last of so many requests to one server. */
export interface Dot {
  readonly server: number
  /** Which balancer sent it, from 0. */
  readonly balancer: number
  /** When, ms of virtual time. */
  readonly time: number
}

/** The largest share of the requests of one window that one server got. */
export interface WorstShare {
  readonly share: number
  readonly server: number
}

/** A run of one policy, that goes on as it is told to. */
export class SceneRun {
  readonly inputs: Inputs
  readonly policy: ScenePolicy
  /** Virtual time, ms. */
  time = 0
  /** Whether its ten minutes are over. */
  over = false
  readonly servers: readonly SceneServer[] = []
  /** One for each second that is over. */
  readonly windows: readonly WindowFigures[] = []
  /** Of windows of a report interval; undefined before the first is over. */
  worstShare: WorstShare | undefined
  /** Requests that balancers have sent. */
  sentTotal = 0
  /** Response times of the last 10 s that are over, ms; undefined where there were none. */
  p50: number | undefined
  p99: number | undefined

  constructor(inputs: Inputs, policy: ScenePolicy) {
    this.inputs = inputs
    this.policy = policy
  }

  /** Goes on to a virtual time, ms; not back, and not beyond the end. */
  advanceTo(time: number): void {
    this.time = Math.max(this.time, time)
  }

  /** The dots since this was last called. */
  takeDots(): readonly Dot[] {
    return []
  }

  /** Fingerprint of the requests so far: at the same time the same for each policy. */
  digest(): string {
    return ''
  }
}
