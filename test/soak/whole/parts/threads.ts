import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { BalancerHandle, BalancerStats } from '../../../../dist/index.js'
import type { Balance } from '../words.js'
import { type Made, noneMade, type Part } from './part.js'

/** Threads that pick all the time. */
const STAYING = 2
/** Between two threads that come and are terminated, ms. */
const PAUSE = 7_000

interface Counted {
  readonly kind: 'counted'
  readonly made: Made
  readonly used: number
}

interface Ended {
  readonly kind: 'ended'
  readonly made: Made
  readonly picks: BalancerStats['picks']
  readonly counted: BalancerStats['leases']
}

// Others may wait for answers of other kinds.
function answer<A extends Counted | Ended>(worker: Worker, kind: A['kind']): Promise<A> {
  return new Promise((resolve) => {
    const listen = (said: Counted | Ended) => {
      if (said.kind !== kind) return
      worker.off('message', listen)
      resolve(said as A)
    }
    worker.on('message', listen)
  })
}

/** Worker threads that pick for a balancer: two that stay, and others that are terminated in the middle of it. */
export class Threads implements Part {
  readonly made = noneMade()
  /** How many were terminated. */
  terminated = 0
  /** Bytes that those that stay have in use, after a collection. */
  used = 0
  readonly #handle: () => BalancerHandle
  readonly #own: Set<Worker>
  readonly #staying: Worker[]
  #ended = false
  readonly #coming: Promise<void>
  readonly #balances: Balance[] = []

  /** @param own takes all threads that this starts */
  constructor(handle: () => BalancerHandle, own: Set<Worker>) {
    this.#handle = handle
    this.#own = own
    this.#staying = Array.from({ length: STAYING }, () => this.#start())
    this.#coming = this.#comeAndGo()
  }

  /** Takes in what the threads that stay have made so far, and what memory they use. */
  async count(): Promise<void> {
    const counts = await Promise.all(
      this.#staying.map(async (worker) => {
        worker.postMessage('count')
        return answer<Counted>(worker, 'counted')
      }),
    )
    this.used = counts.reduce((sum, { used }) => sum + used, 0)
    for (const key of Object.keys(this.made) as (keyof Made)[]) {
      this.made[key] = counts.reduce((sum, { made }) => sum + made[key], 0)
    }
  }

  async settle(): Promise<void> {
    this.#ended = true
    await this.#coming
    await this.count()
    const all = await Promise.all(this.#staying.map((worker) => this.#end(worker)))
    for (const [i, { made, picks, counted }] of all.entries()) {
      const name = `thread ${i + 1}`
      this.#balances.push(
        { what: `${name}: picks`, counted: picks.picks, made: made.picks },
        { what: `${name}: picks of nobody`, counted: picks.empty, made: made.none },
        { what: `${name}: leases acquired`, counted: counted.acquired, made: made.leases },
        { what: `${name}: leases released`, counted: counted.released, made: made.leases },
        { what: `${name}: leases failed`, counted: counted.failed, made: made.failed },
      )
      for (const key of Object.keys(this.made) as (keyof Made)[]) {
        this.made[key] = all.reduce((sum, one) => sum + one.made[key], 0)
      }
    }
  }

  async close(): Promise<void> {}

  balances(): Balance[] {
    return this.#balances
  }

  #start(): Worker {
    const worker = new Worker(new URL('../picker.mjs', import.meta.url), {
      workerData: { handle: this.#handle(), picks: 1_000, leases: 3 },
      execArgv: [],
    })
    this.#own.add(worker)
    worker.once('exit', () => this.#own.delete(worker))
    return worker
  }

  #end(worker: Worker): Promise<Ended> {
    worker.postMessage('end')
    return answer<Ended>(worker, 'ended')
  }

  async #comeAndGo(): Promise<void> {
    while (!this.#ended) {
      await delay(PAUSE)
      const worker = this.#start()
      await once(worker, 'message')
      await delay(Math.random() * 1_000)
      await worker.terminate()
      this.terminated++
    }
  }
}
