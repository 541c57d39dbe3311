import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { BenchCase, CaseFamily } from '../case.js'
import { engines } from '../engines.js'
import { Pool } from '../pool.js'
import { median } from '../statistics.js'
import { COMMAND, CONTROL_WORDS, DONE, END, RESULTS_PER_THREAD, type ThreadData } from './threads-protocol.js'

/** The writer gives all nodes new readings and publishes them this often, ms: far more often than any poller. */
const PUBLISH_EVERY = 5

const NODES = 1_000

/** A thread that died would be waited for for ever: this one does not get to hear of it meanwhile. ms */
const LONGEST_RUN = 60_000

/** What threads did that picked at the same time. */
export interface ThreadsResult {
  readonly engine: 'native' | 'portable'
  readonly threads: number
  /** Median over samples of the mean over threads, picks a second. */
  readonly picksPerSecond: number
}

export interface ThreadsFamily extends CaseFamily {
  throughput(): ThreadsResult[]
}

/** Threads that wait for a command, pick, and tell how long it took. */
class Pickers {
  readonly #pool: Pool
  readonly #control = new Int32Array(new SharedArrayBuffer(CONTROL_WORDS * 4))
  readonly #results: Float64Array
  readonly #workers: readonly Worker[]

  private constructor(pool: Pool, threads: number) {
    this.#pool = pool
    this.#results = new Float64Array(new SharedArrayBuffer(threads * RESULTS_PER_THREAD * 8))
    const handles = engines.map((engine) => pool.balancer(engine).handle())
    this.#workers = Array.from({ length: threads }, (_, thread) => {
      const data: ThreadData = { thread, handles, control: this.#control, results: this.#results }
      return new Worker(new URL('./threads-worker.mjs', import.meta.url), { workerData: data })
    })
  }

  static async start(pool: Pool, threads: number): Promise<Pickers> {
    const pickers = new Pickers(pool, threads)
    await Promise.all(
      pickers.#workers.map(
        (worker) =>
          new Promise<void>((resolve, reject) => {
            worker.once('message', () => resolve())
            worker.once('error', reject)
          }),
      ),
    )
    return pickers
  }

  /**
   * The first `threads` workers pick while this thread writes.
   * @returns means over them
   */
  run(engine: number, threads: number): { nsPerPick: number; picksPerSecond: number } {
    const control = this.#control
    Atomics.store(control, DONE, 0)
    // Other than the last command, so that everyone sees that it is a new one.
    const before = Atomics.load(control, COMMAND)
    Atomics.store(control, COMMAND, ((before >>> 16) + 1) * 65_536 + engine * 256 + threads)
    Atomics.notify(control, COMMAND)
    const deadline = performance.now() + LONGEST_RUN
    for (;;) {
      if (performance.now() > deadline) throw new Error('the threads that pick do not come to an end')
      const done = Atomics.load(control, DONE)
      if (done === threads) break
      this.#pool.publish()
      Atomics.wait(control, DONE, done, PUBLISH_EVERY)
    }
    let ns = 0
    let rate = 0
    for (let i = 0; i < threads; i++) {
      ns += this.#results[i * RESULTS_PER_THREAD] as number
      rate += this.#results[i * RESULTS_PER_THREAD + 1] as number
    }
    return { nsPerPick: ns / threads, picksPerSecond: rate / threads }
  }

  async close(): Promise<void> {
    Atomics.store(this.#control, COMMAND, END)
    Atomics.notify(this.#control, COMMAND)
    await Promise.all(
      this.#workers.map((worker) => new Promise<void>((resolve) => worker.once('exit', () => resolve()))),
    )
  }
}

/** Several threads pick from one table while another one writes and publishes. */
export async function threadCases(): Promise<ThreadsFamily> {
  const most = Math.max(2, Math.min(8, availableParallelism()))
  const pool = new Pool(NODES)
  const pickers = await Pickers.start(pool, most)
  const rates = new Map<string, { engine: 'native' | 'portable'; threads: number; seen: number[] }>()
  const cases: BenchCase[] = []
  const counts = [...new Set([1, 2, most])]
  for (const [index, engine] of engines.entries()) {
    for (const threads of counts) {
      const name = `attached select(), ${threads} ${threads === 1 ? 'thread' : 'threads'} and a writer`
      const seen: number[] = []
      rates.set(`${engine} ${threads}`, { engine, threads, seen })
      cases.push({
        name,
        engine,
        nodes: NODES,
        iterations: 1,
        sample: () => {
          const { nsPerPick, picksPerSecond } = pickers.run(index, threads)
          seen.push(picksPerSecond)
          return nsPerPick / 1e6
        },
      })
    }
  }
  return {
    topic: 'threads',
    cases,
    throughput: () =>
      [...rates.values()].map(({ engine, threads, seen }) => ({
        engine,
        threads,
        picksPerSecond: median(seen),
      })),
    close: async () => {
      await pickers.close()
      await pool.close()
    },
  }
}
