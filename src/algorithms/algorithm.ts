/** `random()`: every member that is up, with equal chances. */
export interface RandomAlgorithm {
  readonly kind: 'random'
}

/** `leastCpu()`, with its options in the table's units. */
export interface LeastCpuAlgorithm {
  readonly kind: 'leastCpu'
  /** Width of the band, inclusive, in 1/1000 percentage points. */
  readonly threshold: number
  /** Oldest age of a fresh reading, whole ms, inclusive. */
  readonly ttl: number
  /** What a missing reading counts as: 1/1000 percentage points, or a policy. */
  readonly missing: number | 'mean' | 'exclude'
}

/** How a balancer picks: checked, frozen plain data, so that it can be posted to a worker thread. */
export type Algorithm = RandomAlgorithm | LeastCpuAlgorithm
