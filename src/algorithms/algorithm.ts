/** `random()`: every member that is up, with equal chances. */
export interface RandomSpec {
  readonly kind: 'random'
}

/** `leastCpu()` with its options in the table's units. */
export interface LeastCpuSpec {
  readonly kind: 'leastCpu'
  /** Width of the band, inclusive, in 1/1000 percentage points. */
  readonly threshold: number
  /** Oldest age of a fresh reading, ms, inclusive. */
  readonly ttl: number
  /** What a missing reading counts as: 1/1000 percentage points, or a policy. */
  readonly missing: number | 'mean' | 'exclude'
}

/** A checked algorithm: plain data, so that it can be posted to a worker thread. */
export type AlgorithmSpec = RandomSpec | LeastCpuSpec
