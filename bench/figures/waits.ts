import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import {
  type Algorithm,
  createBalancer,
  createTable,
  leastConnections,
  powerOfTwo,
  random,
  roundRobin,
} from '../../dist/index.js'
import { processClock } from '../../dist/process-clock.js'
import { Chance } from '../chance.js'
import { quantile } from '../statistics.js'
import type { Done, Job, WorkerThreadData } from './waits-protocol.js'

/** How long jobs waited for a worker thread. */
export interface WaitsResult {
  readonly policy: string
  /** ms */
  readonly mean: number
  /** ms */
  readonly p99: number
  /** Jobs of each thread. */
  readonly jobs: readonly number[]
}

/** Threads of this process: the last two take three times as long for a job. */
export const SLOWNESS: readonly number[] = [1, 1, 1, 1, 1, 1, 3, 3]

// Of ten jobs nine are short and one is eleven times as long; ms.
const SHORT = 2.5
const LONG = 27.5
const MEAN = 0.9 * SHORT + 0.1 * LONG
// Share of what all threads together can do.
const LOAD = 0.6
/** Mean time between two jobs, ms. */
const GAP = MEAN / (LOAD * SLOWNESS.reduce((sum, times) => sum + 1 / times, 0))

const policies: readonly (readonly [name: string, algorithm: Algorithm])[] = [
  ['roundRobin()', roundRobin()],
  ['random()', random()],
  ["powerOfTwo({ metric: 'queueDelay' })", powerOfTwo({ metric: 'queueDelay', ttl: 1_000 })],
  ['leastConnections()', leastConnections()],
]

/**
 * Sends uneven jobs to 8 worker threads by each policy in turn: the same jobs at the same times. Threads tell how busy they
 * are by meters in the table that all balancers share, and nothing is polled.
 */
export async function measureWaits(jobs: number): Promise<WaitsResult[]> {
  const table = createTable()
  const nodes = SLOWNESS.map((_, i) => `worker-${i}`)
  const owner = createBalancer({ nodes, table, poll: false, algorithm: random() })
  const workers = nodes.map((node, i) => {
    const workerData: WorkerThreadData = { handle: owner.handle(), node, slowness: SLOWNESS[i] as number }
    return new Worker(new URL('./waits-worker.mjs', import.meta.url), { workerData })
  })
  try {
    await Promise.all(workers.map((worker) => once(worker, 'message')))
    const results: WaitsResult[] = []
    for (const [policy, algorithm] of policies) {
      await using balancer = createBalancer({ nodes, table, poll: false, algorithm, seed: 1 })
      // Idle threads say so.
      await delay(250)
      const acquire = () => {
        const lease = balancer.acquire()
        return { thread: nodes.indexOf(lease.node), release: () => lease.release() }
      }
      results.push({ policy, ...(await send(workers, acquire, jobs)) })
    }
    return results
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()))
    await owner.close()
  }
}

type Acquire = () => { readonly thread: number; readonly release: () => void }

async function send(
  workers: readonly Worker[],
  acquire: Acquire,
  jobs: number,
): Promise<Omit<WaitsResult, 'policy'>> {
  const chance = new Chance(7)
  const waits: number[] = []
  const given = workers.map(() => 0)
  // A thread does its jobs in turn.
  const releases: (() => void)[][] = workers.map(() => [])
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const listeners = workers.map((worker, i) => {
    const listener = ({ wait }: Done) => {
      waits.push(wait)
      releases[i]?.shift()?.()
      if (waits.length === jobs) finish()
    }
    worker.on('message', listener)
    return () => worker.off('message', listener)
  })
  let next = processClock.now()
  for (let i = 0; i < jobs; i++) {
    next += GAP * chance.exponential()
    const work = chance.below(10) === 0 ? LONG : SHORT
    // Timers count whole milliseconds: what is due by then is sent at once.
    const wait = next - processClock.now()
    if (wait > 0.5) await delay(wait)
    const { thread, release } = acquire()
    given[thread] = (given[thread] as number) + 1
    releases[thread]?.push(release)
    workers[thread]?.postMessage({ at: processClock.now(), work } satisfies Job)
  }
  await finished
  for (const off of listeners) off()
  const mean = waits.reduce((sum, wait) => sum + wait, 0) / waits.length
  return { mean, p99: quantile(waits, 0.99), jobs: given }
}
