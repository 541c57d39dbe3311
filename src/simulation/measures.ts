import { Backlog } from './backlog.js'
import { type FullScene, serverName } from './scene.js'
import type { Servers } from './servers.js'

/** Response times in ms, from arrival at the balancer to the response there. */
export interface ResponseTimes {
  /** Requests that they are of: answered without error, and arrived after the warm-up. */
  readonly count: number
  readonly mean: number
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

/** What one server had. */
export interface NodeResult {
  readonly id: string
  /** Requests sent to it after the warm-up, and its share of all. */
  readonly sent: number
  readonly share: number
  /** Its largest share of the requests of one window. */
  readonly worstShare: number
  /** Busy share of its cores from the end of the warm-up to the last arrival, background included. */
  readonly utilization: number
}

/** The largest share of the requests of one window that one server got. */
export interface WorstWindow {
  readonly share: number
  readonly node: string
  /** When the window began, ms. */
  readonly start: number
}

/** What a simulation measures, from the end of its warm-up on. */
export class Measures {
  readonly #warmup: number
  readonly #window: number
  readonly #onWindow: FullScene['onWindow']
  readonly #servers: Servers
  readonly #sent: Float64Array
  readonly #worst: Float64Array
  readonly #inWindow: Uint32Array
  readonly #busyBefore: Float64Array
  #busyUntil: Float64Array | undefined
  // Not a number before anything is measured, and so are the means that it goes into.
  #from = Number.NaN
  #until = 0
  #windowStart: number
  #windows = 0
  #windowTotal = 0
  #worstWindow: WorstWindow | undefined
  readonly #backlog: Backlog
  #responses = new Float64Array(0)
  #count = 0

  constructor(scene: FullScene, servers: Servers) {
    const nodes = scene.servers.length
    this.#warmup = scene.warmup
    this.#window = scene.window
    this.#onWindow = scene.onWindow
    this.#servers = servers
    this.#backlog = new Backlog(servers, scene.requests)
    this.#sent = new Float64Array(nodes)
    this.#worst = new Float64Array(nodes)
    this.#inWindow = new Uint32Array(nodes)
    this.#busyBefore = new Float64Array(nodes)
    this.#windowStart = scene.warmup
  }

  /** A request goes to a server; in the order of time. */
  sent(server: number, now: number): void {
    if (now < this.#warmup) return
    while (now >= this.#windowStart + this.#window) this.#closeWindow()
    this.#sent[server] = (this.#sent[server] as number) + 1
    this.#inWindow[server] = (this.#inWindow[server] as number) + 1
    this.#windowTotal++
  }

  /** Time goes on to that of an arrival. */
  arrival(now: number): void {
    if (now < this.#warmup) return
    this.#backlog.arrival()
    if (!Number.isNaN(this.#from)) return
    this.#from = now
    this.#busyBefore.set(this.#busy(now))
  }

  /** The last request has arrived: utilization is not taken from the time in which servers run empty. */
  lastArrival(now: number): void {
    this.#until = now
    this.#busyUntil = this.#busy(now)
  }

  /** A response without error. */
  response(arrived: number, now: number): void {
    if (arrived < this.#warmup) return
    if (this.#count === this.#responses.length) this.#grow()
    this.#responses[this.#count++] = now - arrived
  }

  /** Whether the backlog of requests stopped growing. */
  get settled(): boolean {
    return this.#backlog.settled
  }

  responseTimes(): ResponseTimes {
    const sorted = this.#responses.slice(0, this.#count).sort()
    const sum = sorted.reduce((sum, time) => sum + time, 0)
    return {
      count: sorted.length,
      mean: sum / sorted.length,
      p50: quantile(sorted, 0.5),
      p99: quantile(sorted, 0.99),
      p999: quantile(sorted, 0.999),
      max: quantile(sorted, 1),
    }
  }

  nodes(): NodeResult[] {
    // A window that has only begun counts where there is no other.
    if (this.#windows === 0 && this.#windowTotal > 0) this.#closeWindow()
    const total = this.#sent.reduce((sum, count) => sum + count, 0)
    return this.#servers.list.map((_, i) => ({
      id: serverName(i),
      sent: this.#sent[i] as number,
      share: (this.#sent[i] as number) / total,
      worstShare: this.#worst[i] as number,
      utilization:
        ((this.#busyUntil?.[i] ?? Number.NaN) - (this.#busyBefore[i] as number)) / (this.#until - this.#from),
    }))
  }

  get worstWindow(): WorstWindow | undefined {
    return this.#worstWindow
  }

  #busy(now: number): Float64Array {
    return Float64Array.from(this.#servers.list, (server) => {
      server.account(now)
      return server.totals.busy
    })
  }

  #grow(): void {
    const longer = new Float64Array(Math.max(1024, this.#count * 2))
    longer.set(this.#responses)
    this.#responses = longer
  }

  #closeWindow(): void {
    const counts = this.#inWindow
    this.#onWindow?.(this.#windowStart, counts)
    for (let i = 0; i < counts.length && this.#windowTotal > 0; i++) {
      const share = (counts[i] as number) / this.#windowTotal
      if (share > (this.#worst[i] as number)) this.#worst[i] = share
      if (share > (this.#worstWindow?.share ?? 0)) {
        this.#worstWindow = { share, node: serverName(i), start: this.#windowStart }
      }
    }
    counts.fill(0)
    this.#windowTotal = 0
    this.#windows++
    this.#windowStart += this.#window
  }
}

/** The smallest value that a share `q` of all is at most; by nearest rank, of sorted values. */
export function quantile(sorted: Float64Array, q: number): number {
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN
}
