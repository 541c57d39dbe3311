import type { EngineName } from '../engine/engine.js'
import { Generator } from '../engine/portable/generator.js'
import type { Report } from '../report.js'
import * as events from './events.js'
import { Measures, type NodeResult, type ResponseTimes, type WorstWindow } from './measures.js'
import type { Dispatcher, Policy } from './policy.js'
import { Sampling, type SentReport } from './reports.js'
import { NONE, Requests } from './requests.js'
import { type Change, checkScene, type FullScene, type Scene } from './scene.js'
import { Servers } from './servers.js'
import type { ServerView, Watcher } from './watcher.js'
import { streamSeed, Workload } from './workload.js'

const POLICY_STREAM = 0x706f6c69
const OFFSET_STREAM = 0x6f666673

/** Where all requests of a run went: `arrived = completed + errors + timeouts + refused + inSystem`. */
export interface RequestCounts {
  arrived: number
  completed: number
  /** Answered with an error. */
  errors: number
  /** Given up by their balancer. */
  timeouts: number
  /** There was no server to pick. */
  refused: number
  /** Under way when the run ended: at servers that went silent for good. */
  inSystem: number
}

/** What came of a run; plain data. */
export interface Result {
  readonly policy: string
  readonly engine: EngineName | undefined
  readonly seed: number
  /** Fingerprint of all requests: the same for every policy. */
  readonly workload: string
  /** All requests, those of the warm-up too. */
  readonly requests: RequestCounts
  /**
   * Whether the backlog of requests stopped growing. If not, response times only show how long the run was: the policy
   * never settles.
   */
  readonly settled: boolean
  readonly response: ResponseTimes
  readonly nodes: readonly NodeResult[]
  readonly worstWindow: WorstWindow | undefined
  /** Virtual time at the end, ms. */
  readonly end: number
  /** Work of the completed requests, in ms of a core of speed 1, and what the servers' cores did. */
  readonly work: { readonly asked: number; readonly done: number }
}

/**
 * How long requests are waited for after the last has arrived, as a multiple of the time in which they arrived, and at
 * least so long, ms. Those of a server that all but stands still would take for ever, with reports all the while.
 */
const PATIENCE = 10
const LEAST_PATIENCE = 86_400_000

/** One run of one policy over a scene: a discrete-event simulation in virtual time. */
export class Simulation {
  readonly counts: RequestCounts = {
    arrived: 0,
    completed: 0,
    errors: 0,
    timeouts: 0,
    refused: 0,
    inSystem: 0,
  }
  readonly #scene: FullScene
  readonly #seed: number
  readonly #policy: Policy
  readonly #events = new events.Events()
  readonly #requests = new Requests()
  readonly #servers: Servers
  readonly #workload: Workload
  readonly #sampling: Sampling
  readonly #measures: Measures
  readonly #dispatchers: readonly Dispatcher[]
  readonly #sent: SentReport[][][]
  readonly #carried = new Map<number, SentReport>()
  readonly #watcher: Watcher | undefined
  #changed = 0
  #asked = 0
  #over = false
  // Virtual time at which the run is over though requests are left, ms.
  #limit = Number.POSITIVE_INFINITY
  // How far `advanceTo` went, ms.
  #reached = 0

  /** Throws OptionError for a scene that is not one. */
  constructor(scene: Scene, policy: Policy, seed: number, watcher?: Watcher) {
    const full = checkScene(scene)
    this.#scene = full
    this.#seed = seed
    this.#policy = policy
    this.#watcher = watcher
    this.#servers = new Servers(full, this.#requests, this.#events)
    this.#workload = new Workload(full, seed)
    this.#sampling = new Sampling(full, this.#servers)
    this.#measures = new Measures(full, this.#servers)
    this.#dispatchers = this.#makeDispatchers()
    this.#sent = this.#dispatchers.map(() => [])
    this.#scheduleAll()
  }

  /** Share of the requests that have arrived. */
  get progress(): number {
    return this.counts.arrived / this.#workload.total
  }

  /** Goes on for so many events. False once the run is over. */
  advance(most = Number.POSITIVE_INFINITY): boolean {
    for (let i = 0; i < most && !this.#over; i++) this.#step()
    return !this.#over
  }

  /** Goes on until everything up to a moment of virtual time, ms, has happened. False once the run is over. */
  advanceTo(time: number): boolean {
    while (!this.#over && this.#events.nextTime <= time) this.#step()
    this.#reached = Math.max(this.#reached, time)
    return !this.#over
  }

  /**
   * How a server is now: at the last event, or where `advanceTo` went. Throws RangeError where there is none.
   * @param index in the scene's `servers`
   */
  server(index: number): ServerView {
    const server = this.#servers.list[index]
    if (server === undefined) throw new RangeError(`there is no server ${index}`)
    return server.viewAt(Math.max(this.#reached, this.#events.time))
  }

  /** A fingerprint of the requests that have arrived, and of the next: at the same time the same for each policy. */
  digest(): string {
    return this.#workload.digest()
  }

  /** What came of it; call it once the run is over. */
  result(): Result {
    for (const dispatcher of this.#dispatchers) dispatcher.close()
    let done = 0
    for (const server of this.#servers.list) {
      server.account(this.#events.time)
      done += server.totals.work
    }
    const nodes = this.#measures.nodes()
    return {
      policy: this.#policy.name,
      engine: this.#dispatchers[0]?.engine,
      seed: this.#seed,
      workload: this.#workload.digest(),
      requests: { ...this.counts },
      settled: this.#measures.settled,
      response: this.#measures.responseTimes(),
      nodes,
      worstWindow: this.#measures.worstWindow,
      end: this.#events.time,
      work: { asked: this.#asked, done },
    }
  }

  #makeDispatchers(): Dispatcher[] {
    const generator = new Generator(streamSeed(this.#seed, POLICY_STREAM))
    const { servers, balancers } = this.#scene
    const present = servers.flatMap(({ state }, i) => (state === 'gone' ? [] : [i]))
    return Array.from({ length: balancers }, (_, balancer) =>
      this.#policy.create({
        servers: servers.length,
        present,
        clock: this.#events,
        probe: this.#scene.probe && ((server, answer) => this.#probe(balancer, server, answer)),
        seed: generator.below(2 ** 20) * 2 ** 32 + generator.next(),
      }),
    )
  }

  // A probe goes there and comes back by timers of the balancer's clock.
  #probe(balancer: number, server: number, answer: (report: Report) => void): void {
    const { delay } = this.#scene
    this.#events.setTimeout(() => {
      const report = this.#sampling.probe(balancer, server)
      if (report !== undefined) this.#events.setTimeout(() => answer(report), delay)
    }, delay)
  }

  #scheduleAll(): void {
    const { balancers, reportInterval, reportOffsets } = this.#scene
    this.#awaitChange()
    if (reportInterval > 0) {
      const generator = new Generator(streamSeed(this.#seed, OFFSET_STREAM))
      for (let i = 0; i < balancers; i++) {
        const drawn = balancers === 1 ? 0 : (generator.next() / 2 ** 32) * reportInterval
        this.#events.at(reportOffsets?.[i] ?? drawn, events.SAMPLE, i)
      }
    }
    this.#awaitArrival()
  }

  #awaitChange(): void {
    this.#events.nextChange = this.#scene.changes[this.#changed]?.at ?? Number.POSITIVE_INFINITY
  }

  #awaitArrival(): void {
    if (this.#workload.next()) this.#events.nextArrival = this.#workload.time
    else {
      const { time } = this.#events
      this.#measures.lastArrival(time)
      this.#limit = time + Math.max(LEAST_PATIENCE, PATIENCE * time)
    }
  }

  #step(): void {
    if (!this.#events.next()) {
      this.#over = true
      return
    }
    const { kind, subject } = this.#events
    switch (kind) {
      case events.ARRIVAL:
        this.#arrive()
        break
      case events.REACH:
        this.#servers.reach(subject)
        break
      case events.FINISH: {
        const request = this.#servers.finish(subject)
        if (request === NONE) break
        this.#asked += this.#requests.work[request] as number
        this.#answer(request)
        break
      }
      case events.FAIL:
        this.#servers.fail(subject)
        this.#answer(subject)
        break
      case events.REPLY:
        this.#reply(subject)
        break
      case events.TIMEOUT:
        // Another deadline: the request has ended, and its number may be another's.
        if (this.#requests.deadline[subject] === this.#events.time) this.#timeOut(subject)
        break
      case events.CHANGE:
        this.#change(this.#scene.changes[this.#changed++] as Change)
        this.#awaitChange()
        break
      case events.SAMPLE:
        this.#sample(subject)
        break
      case events.DELIVER:
        this.#deliver(subject, this.#sent[subject]?.shift() ?? [])
        break
      case events.TIMER:
        this.#events.fire(subject)
        break
    }
    const { arrived, inSystem } = this.counts
    if (arrived < this.#workload.total) return
    if (inSystem === 0 || this.#events.time > this.#limit) this.#over = true
  }

  #arrive(): void {
    const { time } = this.#events
    const { work, balancer } = this.#workload
    this.counts.arrived++
    this.#measures.arrival(time)
    const request = this.#requests.take()
    const server = (this.#dispatchers[balancer] as Dispatcher).begin(request)
    if (server === NONE) {
      this.counts.refused++
      this.#requests.release(request)
    } else this.#send(request, server, balancer, work)
    this.#awaitArrival()
  }

  #send(request: number, server: number, balancer: number, work: number): void {
    const { time } = this.#events
    const { timeout } = this.#scene
    const delay = this.#delayOf(server)
    const requests = this.#requests
    this.counts.inSystem++
    this.#measures.sent(server, time)
    this.#watcher?.sent?.(server, balancer, time)
    requests.arrived[request] = time
    requests.work[request] = work
    requests.balancer[request] = balancer
    requests.server[request] = server
    requests.deadline[request] = time + timeout
    if (timeout < Number.POSITIVE_INFINITY) this.#events.at(time + timeout, events.TIMEOUT, request)
    if (delay === 0) this.#servers.reach(request)
    else this.#events.at(time + delay, events.REACH, request)
  }

  // One way, ms.
  #delayOf(server: number): number {
    return this.#scene.delay + (this.#servers.list[server]?.delay ?? 0)
  }

  // The server's answer leaves it.
  #answer(request: number): void {
    const { inBand } = this.#scene
    const delay = this.#delayOf(this.#requests.server[request] as number)
    if (inBand !== undefined) {
      const server = this.#requests.server[request] as number
      const report = this.#sampling.inBand(this.#requests.balancer[request] as number, server)
      if (report !== undefined) this.#carried.set(request, { server, report })
    }
    if (delay === 0) this.#reply(request)
    else this.#events.at(this.#events.time + delay, events.REPLY, request)
  }

  #reply(request: number): void {
    const { time } = this.#events
    const requests = this.#requests
    const balancer = requests.balancer[request] as number
    const carried = this.#carried.get(request)
    if (carried !== undefined) {
      this.#carried.delete(request)
      this.#dispatchers[balancer]?.report(carried.server, carried.report)
    }
    if (requests.ended[request] === 0) {
      const ok = requests.failed[request] === 0
      if (ok) {
        this.counts.completed++
        this.#measures.response(requests.arrived[request] as number, time)
      } else this.counts.errors++
      this.#end(request, ok)
    }
    requests.release(request)
  }

  #timeOut(request: number): void {
    this.counts.timeouts++
    this.#end(request, false)
  }

  #end(request: number, ok: boolean): void {
    const requests = this.#requests
    this.counts.inSystem--
    requests.ended[request] = 1
    requests.deadline[request] = Number.POSITIVE_INFINITY
    const { time } = this.#events
    const latency = time - (requests.arrived[request] as number)
    this.#watcher?.ended?.(requests.server[request] as number, ok, latency, time)
    this.#dispatchers[requests.balancer[request] as number]?.end(request, ok, latency)
  }

  #change(change: Change): void {
    const before = this.#servers.list[change.server]?.state
    this.#servers.change(change)
    const { state = before } = change
    if ((before === 'gone') === (state === 'gone')) return
    for (const [balancer, dispatcher] of this.#dispatchers.entries()) {
      if (state === 'gone') dispatcher.leave(change.server)
      else {
        this.#sampling.join(balancer, change.server, this.#events.time)
        dispatcher.join(change.server)
      }
    }
  }

  #sample(balancer: number): void {
    const { time } = this.#events
    const { delay, reportInterval } = this.#scene
    const sent = this.#sampling.sample(balancer, time)
    if (delay === 0) this.#deliver(balancer, sent)
    else {
      this.#sent[balancer]?.push(sent)
      this.#events.at(time + delay, events.DELIVER, balancer)
    }
    this.#events.at(time + reportInterval, events.SAMPLE, balancer)
  }

  #deliver(balancer: number, sent: readonly SentReport[]): void {
    const dispatcher = this.#dispatchers[balancer] as Dispatcher
    for (const { server, report } of sent) {
      dispatcher.report(server, report)
      this.#watcher?.reported?.(server, balancer, report, this.#events.time)
    }
  }
}

/** Runs a policy over a scene, to its end. The same scene, policy and seed give the same result, bit for bit. */
export function simulate(scene: Scene, policy: Policy, seed = 1): Result {
  const simulation = new Simulation(scene, policy, seed)
  simulation.advance()
  return simulation.result()
}
