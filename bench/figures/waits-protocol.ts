import type { BalancerHandle } from '../../dist/index.js'

export interface WorkerThreadData {
  readonly handle: BalancerHandle
  readonly node: string
  /** Times as long as others take for a job. */
  readonly slowness: number
}

/** A job for a worker thread. */
export interface Job {
  /** When it was sent, by the process's clock, ms. */
  readonly at: number
  /** How long it takes a thread that is not slow, ms. */
  readonly work: number
}

/** From a worker thread: a job is done, and had waited so long, ms. */
export interface Done {
  readonly wait: number
}
