import { serverName } from '../../simulation/scene.js'
import { Simulation } from '../../simulation/simulation.js'
import type { ServerView } from '../../simulation/watcher.js'
import { type Dot, Dots } from './dots.js'
import { fleetOf } from './fleet.js'
import { type Inputs, RUN_LENGTH, type ScenePolicy, scenePolicies } from './inputs.js'
import { Recent, TICK } from './recent.js'
import { Responses } from './responses.js'
import { sceneOf } from './scene.js'
import { type WorstShare, WorstWindow } from './shares.js'

export type { Dot } from './dots.js'
export type { WorstShare } from './shares.js'

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

const SECOND = 1_000

type Drawn = { -readonly [K in keyof SceneServer]: SceneServer[K] }

/** A run of one policy, that goes on as it is told to: ten minutes of virtual time. */
export class SceneRun {
  readonly inputs: Inputs
  readonly policy: ScenePolicy
  readonly #simulation: Simulation
  readonly #servers: readonly Drawn[]
  readonly #recent: readonly Recent[]
  readonly #windows: WindowFigures[] = []
  readonly #worst: WorstWindow
  readonly #responses = new Responses()
  readonly #dots: Dots
  readonly #reportedAt: (number | undefined)[]
  #time = 0
  #ticks = 0
  #sent = 0
  #last: number | undefined

  /** @param policy the one to run: `inputs` may name two */
  constructor(inputs: Inputs, policy: ScenePolicy) {
    this.inputs = inputs
    this.policy = policy
    const { reportInterval, seed, dot } = inputs
    const { drawn, rate } = fleetOf(inputs)
    this.#reportedAt = new Array<undefined>(drawn).fill(undefined)
    this.#worst = new WorstWindow(drawn, reportInterval, rate / 1000)
    this.#dots = new Dots(drawn, dot)
    this.#servers = Array.from({ length: drawn }, (_, i) => idle(serverName(i)))
    this.#recent = this.#servers.map(() => new Recent())
    this.#simulation = new Simulation(sceneOf(inputs), scenePolicies[policy].make(inputs), seed, {
      sent: (server, balancer, time) => this.#onSent(server, balancer, time),
      ended: (_server, _ok, latency) => this.#responses.add(latency),
      reported: (server, balancer, { cpu }, time) => {
        if (balancer === 0) this.#onReport(server, cpu, time)
      },
    })
    this.advanceTo(0)
  }

  /** Virtual time, ms. */
  get time(): number {
    return this.#time
  }

  /** Whether its ten minutes are over. */
  get over(): boolean {
    return this.#time >= RUN_LENGTH
  }

  get servers(): readonly SceneServer[] {
    return this.#servers
  }

  /** One for each second that is over; another is added at the end of each. */
  get windows(): readonly WindowFigures[] {
    return this.#windows
  }

  /** Of windows of a report interval (see `worstWindowLength`); undefined before the first is over. */
  get worstShare(): WorstShare | undefined {
    return this.#worst.worst
  }

  /** How long the windows of `worstShare` are, ms: a report interval, or as many as are needed for 20 requests. */
  get worstWindowLength(): number {
    return this.#worst.length
  }

  /** Requests that balancers have sent. */
  get sentTotal(): number {
    return this.#sent
  }

  /** Median response time of the last 10 s that are over, ms; undefined where there were no responses. */
  get p50(): number | undefined {
    return this.#responses.p50
  }

  /** The same for the 99th percentile. */
  get p99(): number | undefined {
    return this.#responses.p99
  }

  /** Goes on to a virtual time, ms; not back, and not beyond the end. However it is cut into steps, the run is the same. */
  advanceTo(time: number): void {
    const end = Math.min(RUN_LENGTH, Math.max(this.#time, time))
    while (this.#ticks * TICK <= end) {
      this.#tick(this.#ticks * TICK)
      this.#ticks++
    }
    this.#simulation.advanceTo(end)
    this.#worst.goOn(end)
    this.#time = end
    this.#draw()
  }

  /** The dots since this was last called, in the order of time; of more than 10,000 the latest. */
  takeDots(): readonly Dot[] {
    return this.#dots.take()
  }

  /** Fingerprint of the requests so far, and of the next: at the same time the same for each policy. */
  digest(): string {
    return this.#simulation.digest()
  }

  #onSent(server: number, balancer: number, time: number): void {
    const to = this.#servers[server] as Drawn
    to.sent++
    this.#sent++
    this.#last = server
    this.#worst.sent(server, time)
    this.#dots.sent(server, balancer, time)
  }

  #onReport(server: number, cpu: number | undefined, time: number): void {
    const from = this.#servers[server] as Drawn
    from.reported = cpu
    this.#reportedAt[server] = time
  }

  #tick(time: number): void {
    this.#simulation.advanceTo(time)
    const views = this.#views()
    for (const [i, recent] of this.#recent.entries()) {
      recent.look(time, views[i] as ServerView, this.#sentTo(i))
    }
    if (time > 0 && time % SECOND === 0) this.#closeSecond(time, views)
  }

  #closeSecond(time: number, views: readonly ServerView[]): void {
    const done = views.map((view, i) => (this.#recent[i] as Recent).upTo(time, view, this.#sentTo(i)))
    const total = done.reduce((sum, { sent }) => sum + sent, 0)
    this.#windows.push({
      start: time - SECOND,
      p99: this.#responses.closeSecond(),
      queue: views.map(({ queue }) => queue),
      share: done.map(({ sent }) => (total === 0 ? 0 : sent / total)),
      busy: done.map(({ serving }) => Math.min(1, serving / SECOND)),
    })
  }

  #draw(): void {
    const views = this.#views()
    const done = views.map((view, i) => (this.#recent[i] as Recent).upTo(this.#time, view, this.#sentTo(i)))
    const total = done.reduce((sum, { sent }) => sum + sent, 0)
    for (const [i, server] of this.#servers.entries()) {
      const { queue, background } = views[i] as ServerView
      const { elapsed, serving, busy, sent } = done[i] as (typeof done)[number]
      const reportedAt = this.#reportedAt[i]
      // Rounding may put a full second a hair above 1.
      server.busy = elapsed === 0 ? 0 : Math.min(1, serving / elapsed)
      server.cpu = elapsed === 0 ? 100 * background : Math.min(100, (100 * busy) / elapsed)
      server.queue = queue
      server.reportAge = reportedAt === undefined ? undefined : this.#time - reportedAt
      server.lost = background
      server.lastSentTo = i === this.#last
      server.share = total === 0 ? 0 : sent / total
    }
  }

  #views(): ServerView[] {
    return this.#servers.map((_, i) => this.#simulation.server(i))
  }

  #sentTo(server: number): number {
    return (this.#servers[server] as Drawn).sent
  }
}

function idle(name: string): Drawn {
  return {
    name,
    busy: 0,
    cpu: 0,
    queue: 0,
    reported: undefined,
    reportAge: undefined,
    lost: 0,
    lastSentTo: false,
    share: 0,
    sent: 0,
  }
}
