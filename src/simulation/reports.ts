import type { Report } from '../report.js'
import type { FullScene, Reporter, ServerSample } from './scene.js'
import type { Server, Servers, Totals } from './servers.js'

// What is kept for each balancer and server of its last sample: totals, their time, and the rates that came of them.
const BUSY = 0
const COMPLETED = 1
const FAILED = 2
const STARTED = 3
const STAYED = 4
const WAITED = 5
const TIME = 6
const CPU = 7
const QPS = 8
const EPS = 9
const LATENCY = 10
const QUEUE_DELAY = 11
const FIELDS = 12

/** A report of one server, on its way to a balancer. */
export interface SentReport {
  readonly server: number
  readonly report: Report
}

/** Samples servers for balancers: each balancer's windows are its own. */
export class Sampling {
  readonly #servers: Servers
  readonly #report: Reporter
  readonly #inBand: Reporter | undefined
  readonly #probe: Reporter | undefined
  readonly #delay: number
  readonly #last: Float64Array

  constructor(scene: FullScene, servers: Servers) {
    this.#servers = servers
    this.#report = scene.report
    this.#inBand = scene.inBand
    this.#probe = scene.probe
    this.#delay = scene.delay
    const kept = scene.reportInterval > 0 || scene.inBand !== undefined || scene.probe !== undefined
    this.#last = new Float64Array(kept ? scene.balancers * servers.list.length * FIELDS : 0)
    for (let at = 0; at < this.#last.length; at += FIELDS) {
      this.#last[at + LATENCY] = Number.NaN
      this.#last[at + QUEUE_DELAY] = Number.NaN
    }
  }

  /** What all servers that answer report to a balancer now; it is `delay` old when it gets there. */
  sample(balancer: number, now: number): SentReport[] {
    const sent: SentReport[] = []
    for (const [index, server] of this.#servers.list.entries()) {
      if (server.state === 'silent' || server.state === 'gone') continue
      this.#look(balancer, index, server, now)
      sent.push({ server: index, report: this.#aged(this.#report(this.#sampleOf(balancer, index, server))) })
    }
    return sent
  }

  /** What a response to a balancer carries of its server's load; undefined: nothing. */
  inBand(balancer: number, index: number): Report | undefined {
    if (this.#inBand === undefined) return undefined
    const server = this.#servers.list[index] as Server
    return this.#aged(this.#inBand(this.#sampleOf(balancer, index, server)))
  }

  /** What a server answers to a balancer's probe; undefined: nothing, since it is silent or has left. */
  probe(balancer: number, index: number): Report | undefined {
    const server = this.#servers.list[index] as Server
    if (this.#probe === undefined || server.state === 'silent' || server.state === 'gone') return undefined
    const latency = server.latency?.at(server.inFlight)
    return this.#aged(this.#probe({ ...this.#sampleOf(balancer, index, server), latency }))
  }

  /** A server joins: its first window starts now. */
  join(balancer: number, index: number, now: number): void {
    if (this.#last.length > 0) this.#look(balancer, index, this.#servers.list[index] as Server, now)
  }

  #aged(report: Report): Report {
    return this.#delay === 0 ? report : { ...report, age: (report.age ?? 0) + this.#delay }
  }

  #offset(balancer: number, index: number): number {
    return (balancer * this.#servers.list.length + index) * FIELDS
  }

  // Takes the rates since the last look. Where no time has passed they stay as they are.
  #look(balancer: number, index: number, server: Server, now: number): void {
    server.account(now)
    const last = this.#last
    const at = this.#offset(balancer, index)
    const { totals } = server
    const elapsed = now - (last[at + TIME] as number)
    if (elapsed > 0) {
      const since = (field: number, total: number) => total - (last[at + field] as number)
      const completed = since(COMPLETED, totals.completed)
      const failed = since(FAILED, totals.failed)
      // Rounding may put a full window a hair above 100.
      last[at + CPU] = Math.min(100, Math.max(0, (100 * since(BUSY, totals.busy)) / elapsed))
      last[at + QPS] = (1000 * completed) / elapsed
      last[at + EPS] = (1000 * failed) / elapsed
      last[at + LATENCY] = Math.max(0, since(STAYED, totals.stayed)) / (completed + failed)
      last[at + QUEUE_DELAY] = Math.max(0, since(WAITED, totals.waited)) / since(STARTED, totals.started)
    }
    this.#keep(at, totals, now)
  }

  #keep(at: number, totals: Totals, now: number): void {
    const last = this.#last
    last[at + BUSY] = totals.busy
    last[at + COMPLETED] = totals.completed
    last[at + FAILED] = totals.failed
    last[at + STARTED] = totals.started
    last[at + STAYED] = totals.stayed
    last[at + WAITED] = totals.waited
    last[at + TIME] = now
  }

  #sampleOf(balancer: number, index: number, server: Server): ServerSample {
    const last = this.#last
    const at = this.#offset(balancer, index)
    return {
      cpu: last[at + CPU] as number,
      inFlight: server.inFlight,
      qps: last[at + QPS] as number,
      eps: last[at + EPS] as number,
      latency: known(last[at + LATENCY] as number),
      queueDelay: known(last[at + QUEUE_DELAY] as number),
    }
  }
}

// A mean over nothing is not a number.
function known(mean: number): number | undefined {
  return Number.isNaN(mean) ? undefined : mean
}
