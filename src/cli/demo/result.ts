import type { LatencySummary } from './latencies.js'

/** What one server did in a phase. */
export interface NodeResult {
  readonly name: string
  readonly node: string
  /** Whether it is the one with the second job. */
  readonly secondJob: boolean
  readonly picks: number
  /** Percent of all requests that were sent to it. */
  readonly share: number
  /** Mean CPU while requests were sent, percent of its share of a core. */
  readonly cpu: number
  /** CPU that it was due and had work for, but the system didn't give it, percent of its share. */
  readonly lost: number
  /** ms */
  readonly latency: LatencySummary
}

/** What came of sending the requests in one way. */
export interface PhaseResult {
  readonly policy: 'round robin' | 'idlest'
  readonly requests: number
  readonly errors: number
  /** The first error's message, where there is one. */
  readonly error?: string
  /** Names the sequence of requests: times and works. */
  readonly digest: string
  /** From the first request to the last answer, s. */
  readonly seconds: number
  /** From the time that a request was planned for to its answer, ms. */
  readonly latency: LatencySummary
  readonly nodes: readonly NodeResult[]
}

/** What `idlest demo --json` prints. */
export interface DemoResult {
  readonly version: string
  readonly machine: { readonly cpu: string; readonly cores: number; readonly runtime: string }
  readonly engine: 'native' | 'portable'
  readonly algorithm: { readonly name: 'leastCpu'; readonly threshold: number; readonly ttl: number }
  readonly seed: number
  readonly scene: {
    readonly servers: number
    /** What a server may use of one core, 0-1. */
    readonly share: number
    /** What the second job takes of its server's share, 0-1. */
    readonly secondJob: number
    /** Mean work of a request, CPU ms. */
    readonly meanWork: number
    /** Requests per second that all servers could do without the second job. */
    readonly capacity: number
    /** Requests per second, on average. */
    readonly rate: number
    /** Load that was asked for and that came of the drawn requests, percent of the capacity. */
    readonly load: number
    readonly offeredLoad: number
    /** How long requests were sent in each phase, s. */
    readonly duration: number
    /** ms */
    readonly reportInterval: number
  }
  /** Round robin, then idlest. */
  readonly phases: readonly PhaseResult[]
}
