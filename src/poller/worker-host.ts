import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'
import type { Clock, TimerHandle } from '../clock.js'
import { reasonOf } from '../errors.js'
import { processClock } from '../process-clock.js'
import { channels, type WorkerFaultEvent, type WorkerRestartEvent } from '../telemetry.js'
import { warn } from '../warn.js'
import { BackOff, type BackOffOptions } from './back-off.js'
import type { AsideMessage, Done, FromWorker, Probed, ToWorker } from './protocol.js'
import { noThreadFor, startThread, ThreadStandIn, type WorkerLike } from './start-thread.js'

/** Waits before a crashed thread is started again, for crashes in a row. */
const RESTARTS: BackOffOptions = { first: 100, factor: 2, longest: 10_000, jitter: 0 }
/** A thread that ran for this long, ms, was healthy: its crash is the first in a row. */
const HEALTHY_TIME = 30_000
/** Longest wait for a thread to load what a poller needs, ms. */
const LONGEST_START = 10_000

/** One poller's end of a host. */
export interface HostClient {
  /** A thread began, which knows nothing: tell it everything. */
  onStart(): void
  onDone(message: Done): void
  /** For clients whose members have more to tell than answers. */
  onAside?(message: AsideMessage): void
  /** For clients that probe. */
  onProbed?(message: Probed): void
  /** An exception in the thread could not be put down to one member. The thread goes on. */
  onFault?(): void
  /** The thread ended and took all rounds in progress with it. */
  onCrash(reason: string): void
}

/** How a host makes its thread, and its time. */
export interface HostOptions {
  readonly spawn: () => WorkerLike
  /** Takes the place of a thread that can't be had. Default: polls on this thread. */
  readonly standIn?: () => WorkerLike
  readonly clock: Clock
}

/**
 * Supervises one polling thread: started when it is first needed, stopped when nobody uses it any more, and started
 * again when it crashed. The thread never keeps the process alive. Where none can be had, as in a bundle without its
 * program, this thread does its work.
 */
export class WorkerHost {
  /** Times that a crashed thread was started again. */
  restarts = 0
  /** Exceptions in the thread that could not be put down to one member. */
  faults = 0
  #spawn: () => WorkerLike
  readonly #standIn: () => WorkerLike
  readonly #clock: Clock
  readonly #clients = new Map<number, HostClient>()
  #next = 1
  #worker: WorkerLike | undefined
  #startedAt = 0
  readonly #backOff = new BackOff(RESTARTS, Math.random)
  #timer: TimerHandle | undefined
  // Clients that the present thread has all modules for.
  readonly #ready = new Set<number>()
  readonly #waiting = new Map<number, () => void>()

  constructor({ spawn, standIn, clock }: HostOptions = { spawn: startThread, clock: processClock }) {
    this.#spawn = spawn
    this.#standIn = standIn ?? (() => new ThreadStandIn())
    this.#clock = clock
  }

  /**
   * Begins to use the thread, which is started if it has not been. Whoever attaches posts what a new thread must know;
   * `onStart` is called when it is to be said again.
   */
  attach(client: HostClient): number {
    if (this.#worker === undefined && this.#timer === undefined) this.#start()
    const number = this.#next++
    this.#clients.set(number, client)
    return number
  }

  /** Ends the use; with the last one the thread is stopped. */
  async detach(number: number): Promise<void> {
    if (!this.#clients.delete(number)) return
    this.#ready.delete(number)
    this.#release(number)
    if (this.#clients.size > 0) {
      this.post({ type: 'close', poller: number })
      return
    }
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#backOff.reset()
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  /** Resolves when the thread has what a client's members need, or it turns out that it won't for now. */
  async ready(number: number): Promise<void> {
    if (this.#worker === undefined || !this.#clients.has(number) || this.#ready.has(number)) return
    this.#release(number)
    await new Promise<void>((resolve) => {
      const timer = this.#clock.setTimeout(resolve, LONGEST_START)
      this.#waiting.set(number, () => {
        this.#clock.clearTimeout(timer)
        resolve()
      })
    })
  }

  /** Tells the thread something; false where there is none at present. */
  post(message: ToWorker): boolean {
    if (this.#worker === undefined) return false
    this.#worker.postMessage(message)
    return true
  }

  #start(): void {
    this.#startedAt = this.#clock.now()
    let worker: WorkerLike
    try {
      worker = this.#spawn()
    } catch (error) {
      this.#ended(error)
      return
    }
    let cause: unknown
    worker.on('message', (message: FromWorker) => {
      if (this.#worker !== worker) return
      this.#take(message)
    })
    worker.on('error', (error: unknown) => {
      cause = error
    })
    worker.on('exit', (code: number) => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      this.#ended(cause ?? new Error(`the polling thread ended with code ${code}`))
    })
    worker.unref()
    this.#worker = worker
    for (const client of [...this.#clients.values()]) client.onStart()
  }

  #take(message: FromWorker): void {
    if (message.type === 'fault') {
      this.#faulty(message.reason)
      return
    }
    const client = this.#clients.get(message.poller)
    if (client === undefined) return
    if (message.type === 'done') client.onDone(message)
    else if (message.type === 'probed') client.onProbed?.(message)
    else if (message.type === 'aside') client.onAside?.(message)
    else {
      this.#ready.add(message.poller)
      this.#release(message.poller)
    }
  }

  // Warned of once: the cause may bring about another one in each round.
  #faulty(reason: string): void {
    this.faults++
    if (channels.workerFault.hasSubscribers) {
      channels.workerFault.publish({ faults: this.faults, reason } satisfies WorkerFaultEvent)
    }
    for (const client of [...this.#clients.values()]) client.onFault?.()
    if (this.faults > 1) return
    warn(`something went wrong in the polling thread, which goes on: ${reason}`, 'IDLEST_WORKER_FAULT')
  }

  #release(number: number): void {
    this.#waiting.get(number)?.()
    this.#waiting.delete(number)
  }

  #ended(error: unknown): void {
    const reason = noThreadFor(error)
    if (reason === undefined || this.#spawn === this.#standIn) {
      this.#crashed(error)
      return
    }
    warnOfStandIn(reason)
    this.#ready.clear()
    this.#spawn = this.#standIn
    // Whoever waits for the thread waits on.
    this.#start()
  }

  #crashed(error: unknown): void {
    this.#ready.clear()
    for (const number of [...this.#waiting.keys()]) this.#release(number)
    if (this.#clock.now() - this.#startedAt >= HEALTHY_TIME) this.#backOff.reset()
    const delay = this.#backOff.next()
    this.restarts++
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined
      this.#start()
    }, delay)
    this.#tell(error, delay)
    for (const client of [...this.#clients.values()]) client.onCrash(reasonOf(error))
  }

  #tell(error: unknown, delay: number): void {
    if (channels.workerRestart.hasSubscribers) {
      channels.workerRestart.publish({ restarts: this.restarts, delay, error } satisfies WorkerRestartEvent)
    }
    // Once for crashes in a row.
    if (delay !== RESTARTS.first) return
    warn(
      `the polling thread ended (${reasonOf(error)}); it starts again in ${delay} ms`,
      'IDLEST_WORKER_RESTART',
    )
  }
}

const WARNED = 'idlest:stand-in-warned'

// Worker threads inherit environment data, so that each does not say it again.
function warnOfStandIn(reason: string): void {
  if (getEnvironmentData(WARNED) === true) return
  setEnvironmentData(WARNED, true)
  warn(`idlest polls on the thread that picks, since ${reason}`, 'IDLEST_NO_POLLING_THREAD')
}

const hosts: WorkerHost[] = []

/** The first `count` hosts of this thread; all pollers share them. */
export function sharedHosts(count: number): readonly WorkerHost[] {
  while (hosts.length < count) hosts.push(new WorkerHost())
  return hosts.slice(0, count)
}
