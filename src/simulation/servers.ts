import { type Events, FAIL, FINISH } from './events.js'
import { LatencyEstimate } from './latency-estimate.js'
import { NONE, type Requests } from './requests.js'
import type { Change, FullScene, ServerSpec, ServerState } from './scene.js'
import type { ServerView } from './watcher.js'

/** What one server has done since the start. Times in ms, requests as numbers. */
export interface Totals {
  /** Busy time of all cores together, background included, over the number of cores. */
  busy: number
  /** Time that cores spent serving requests, over the number of cores. */
  serving: number
  /** Work done for requests, in service time on a core of speed 1. */
  work: number
  completed: number
  failed: number
  started: number
  /** Sums over requests answered and started: time at the server, time in its queue. */
  stayed: number
  waited: number
}

/** The state of one server. */
export class Server {
  readonly totals: Totals = {
    busy: 0,
    serving: 0,
    work: 0,
    completed: 0,
    failed: 0,
    started: 0,
    stayed: 0,
    waited: 0,
  }
  state: ServerState
  /** Requests waiting, being served or about to fail. */
  inFlight = 0
  /** Those of them that wait for a core. */
  queue = 0
  speed: number
  background: number
  /** Cores that serve a request. */
  serving = 0
  /** When `totals` were last brought up to date, ms. */
  since = 0
  /** What it knows of its own latency, where probes ask for it. */
  readonly latency: LatencyEstimate | undefined
  head = NONE
  tail = NONE

  readonly cores: number
  /** One-way delay to it on top of the scene's, ms. */
  readonly delay: number
  /** Number of its first core, among those of all servers. */
  readonly firstCore: number

  constructor(spec: Required<ServerSpec>, firstCore: number, isProbed: boolean) {
    this.cores = spec.cores
    this.delay = spec.delay
    this.firstCore = firstCore
    this.speed = spec.speed
    this.background = spec.background
    this.state = spec.state
    if (isProbed) this.latency = new LatencyEstimate(spec.cores)
  }

  /** Work done per ms on each core that serves a request. */
  get rate(): number {
    return this.state === 'silent' ? 0 : this.speed * (1 - this.background)
  }

  /** Brings `totals` up to `now`; to be called before anything that they depend on changes. */
  account(now: number): void {
    const { totals } = this
    const elapsed = now - this.since
    totals.busy += elapsed * this.#busyShare
    totals.serving += (elapsed * this.serving) / this.cores
    totals.work += elapsed * this.serving * this.rate
    this.since = now
  }

  /**
   * How it is at `now`. Totals are left as they are: what is looked at must not differ, not even by rounding, from what
   * is not.
   */
  viewAt(now: number): ServerView {
    const { state, speed, background, inFlight, queue, serving, totals, cores } = this
    const elapsed = now - this.since
    return {
      state,
      speed,
      background,
      inFlight,
      queue,
      serving,
      busyTotal: totals.busy + elapsed * this.#busyShare,
      servingTotal: totals.serving + (elapsed * serving) / cores,
    }
  }

  get #busyShare(): number {
    return this.background + ((1 - this.background) * this.serving) / this.cores
  }
}

/** All servers: first come, first served, each request on one core. */
export class Servers {
  readonly list: readonly Server[]
  readonly #requests: Requests
  readonly #events: Events
  readonly #failAfter: number
  // By core: the request that it serves, when it will be done, and the work left where it stands still.
  readonly #serves: Int32Array
  readonly #finish: Float64Array
  readonly #left: Float64Array
  readonly #serverOf: Int32Array

  constructor(scene: FullScene, requests: Requests, events: Events) {
    let cores = 0
    this.list = scene.servers.map((spec) => {
      const server = new Server(spec, cores, scene.probe !== undefined)
      cores += spec.cores
      return server
    })
    this.#requests = requests
    this.#events = events
    this.#failAfter = scene.failAfter
    this.#serves = new Int32Array(cores).fill(NONE)
    this.#finish = new Float64Array(cores).fill(Number.POSITIVE_INFINITY)
    this.#left = new Float64Array(cores)
    this.#serverOf = new Int32Array(cores)
    for (const [i, { firstCore, cores }] of this.list.entries()) {
      this.#serverOf.fill(i, firstCore, firstCore + cores)
    }
  }

  /** A request reaches its server. */
  reach(request: number): void {
    const now = this.#events.time
    const requests = this.#requests
    const server = this.list[requests.server[request] as number] as Server
    requests.reached[request] = now
    requests.found[request] = server.inFlight
    server.inFlight++
    if (server.state === 'failing') {
      requests.failed[request] = 1
      this.#events.at(now + this.#failAfter, FAIL, request)
    } else if (server.serving < server.cores) {
      this.#start(server, this.#freeCore(server), request)
    } else {
      server.queue++
      if (server.head === NONE) server.head = request
      else requests.next[server.tail] = request
      server.tail = request
    }
  }

  /** A core may have finished; gives the request that it has served, or `NONE` where it was rescheduled. */
  finish(core: number): number {
    const now = this.#events.time
    if (this.#finish[core] !== now) return NONE
    const request = this.#serves[core] as number
    const server = this.list[this.#serverOf[core] as number] as Server
    server.account(now)
    server.serving--
    server.inFlight--
    server.totals.completed++
    const stayed = now - (this.#requests.reached[request] as number)
    server.totals.stayed += stayed
    server.latency?.add(this.#requests.found[request] as number, stayed)
    this.#serves[core] = NONE
    this.#finish[core] = Number.POSITIVE_INFINITY
    const waiting = server.head
    if (waiting !== NONE) {
      server.queue--
      server.head = this.#requests.next[waiting] as number
      this.#start(server, core, waiting)
    }
    return request
  }

  /** A failing server answers a request. */
  fail(request: number): void {
    const server = this.list[this.#requests.server[request] as number] as Server
    server.inFlight--
    server.totals.failed++
    server.totals.stayed += this.#failAfter
  }

  /** Applies a change; requests that are being served go on at the new speed. */
  change({ server: index, speed, background, state }: Change): void {
    const server = this.list[index] as Server
    const now = this.#events.time
    const before = server.rate
    server.account(now)
    server.speed = speed ?? server.speed
    server.background = background ?? server.background
    server.state = state ?? server.state
    if (server.rate === before) return
    for (let core = server.firstCore; core < server.firstCore + server.cores; core++) {
      if (this.#serves[core] === NONE) continue
      if (before > 0) this.#left[core] = ((this.#finish[core] as number) - now) * before
      this.#schedule(core, this.#left[core] as number, server.rate)
    }
  }

  #start(server: Server, core: number, request: number): void {
    const now = this.#events.time
    server.account(now)
    server.serving++
    server.totals.started++
    server.totals.waited += now - (this.#requests.reached[request] as number)
    this.#serves[core] = request
    this.#schedule(core, this.#requests.work[request] as number, server.rate)
  }

  // An earlier event of the core is left in the queue: it finds that its time is not the core's any more.
  #schedule(core: number, work: number, rate: number): void {
    if (rate === 0) {
      this.#left[core] = work
      this.#finish[core] = Number.POSITIVE_INFINITY
      return
    }
    const at = this.#events.time + work / rate
    this.#finish[core] = at
    this.#events.at(at, FINISH, core)
  }

  #freeCore({ firstCore }: Server): number {
    let core = firstCore
    while (this.#serves[core] !== NONE) core++
    return core
  }
}
