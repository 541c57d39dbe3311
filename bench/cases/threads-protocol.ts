import type { BalancerHandle } from '../../dist/index.js'

/** Words that the threads of a case share: the command that is wanted, and how many threads have done it. */
export const COMMAND = 0
export const DONE = 1
export const CONTROL_WORDS = 2

/** The command that ends a thread. Others: number << 16 | index of the engine << 8 | how many threads. */
export const END = -1

/** For each thread: ns a pick (the median of chunks), and picks a second. */
export const RESULTS_PER_THREAD = 2

/** A chunk is short of a time slice, so that most are not interrupted. */
export const CHUNK = 1_000
export const CHUNKS_A_RUN = 1_000

export interface ThreadData {
  readonly thread: number
  /** One for each engine. */
  readonly handles: readonly BalancerHandle[]
  readonly control: Int32Array
  readonly results: Float64Array
}
