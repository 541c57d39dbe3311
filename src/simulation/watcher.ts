import type { Report } from '../report.js'
import type { ServerState } from './scene.js'

/**
 * Told of what happens in a simulation, as it happens; it must change nothing. Servers and balancers by index, times in
 * virtual ms.
 */
export interface Watcher {
  /** A balancer sends a request to a server. */
  sent?(server: number, balancer: number, time: number): void
  /**
   * A request has ended, as its balancer sees it.
   * @param latency ms since it was sent
   */
  ended?(server: number, ok: boolean, latency: number, time: number): void
  /** A polled report reaches a balancer. */
  reported?(server: number, balancer: number, report: Report, time: number): void
}

/** A server as it is now; totals since the start. */
export interface ServerView {
  readonly state: ServerState
  /** Work done per unit of time on each core; 1 takes the service time as drawn. */
  readonly speed: number
  /** Share of each core, 0-1, that other work takes. */
  readonly background: number
  /** Requests waiting, being served or about to fail. */
  readonly inFlight: number
  /** Those of them that wait for a core. */
  readonly queue: number
  /** Cores that serve a request. */
  readonly serving: number
  /** Busy time, ms: of all cores together over their number, background included. */
  readonly busyTotal: number
  /** Time spent serving requests, ms: of all cores together over their number. */
  readonly servingTotal: number
}
