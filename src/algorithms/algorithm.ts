/** Fixed weights by node id, 0 (never picked) to 1e12; a node that is not named weighs 1. */
export type Weights = Readonly<Record<string, number>>

/** The fixed weight of a node by its id. */
export type WeightOf = (id: string) => number

/** `random()`: every member that is up, with equal chances. */
export interface RandomAlgorithm {
  readonly kind: 'random'
}

/** `roundRobin()`: every member that is up, in turn. */
export interface RoundRobinAlgorithm {
  readonly kind: 'roundRobin'
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

/** `spareCapacity()`, with its options in the table's units. */
export interface SpareCapacityAlgorithm {
  readonly kind: 'spareCapacity'
  /** Oldest age of a fresh reading, whole ms, inclusive. */
  readonly ttl: number
  /** Time constant of the smoothing, ms; 0: none. */
  readonly smoothing: number
  /** What a full node keeps of an equal share, 0-1. */
  readonly minShare: number
  /** What a missing reading counts as. */
  readonly missing: 'mean' | 'exclude'
}

/** `leastConnections()`: the fewest requests in flight among some. */
export interface LeastConnectionsAlgorithm {
  readonly kind: 'leastConnections'
  /** Members that are compared, at least 1. */
  readonly choices: number
  /** Whether all are compared. */
  readonly exact: boolean
}

/** `powerOfTwo()`: the best of some by one metric. */
export interface PowerOfTwoAlgorithm {
  readonly kind: 'powerOfTwo'
  /** A field of the report, or the name of a metric of the user's own. */
  readonly metric: string
  /** Members that are compared, at least 2. */
  readonly choices: number
  /** Share of the picks that compare, 0-1. */
  readonly choiceRate: number
  /** What the other picks are. */
  readonly otherwise: 'random' | 'worker'
  /** What becomes of a pick that knows of none of the compared. */
  readonly unknown: 'random' | 'fail'
  /** Oldest age of a fresh value, whole ms, inclusive. */
  readonly ttl: number
}

/** How a balancer picks: checked, frozen plain data, so that it can be posted to a worker thread. */
export type Algorithm =
  | RandomAlgorithm
  | RoundRobinAlgorithm
  | LeastCpuAlgorithm
  | SpareCapacityAlgorithm
  | LeastConnectionsAlgorithm
  | PowerOfTwoAlgorithm

/** Oldest age of a reading that still counts, ms; undefined where the algorithm reads none. */
export function ttlOf(algorithm: Algorithm): number | undefined {
  return 'ttl' in algorithm ? algorithm.ttl : undefined
}

/** The fixed weights of an algorithm that has some; else 1 for all. */
export function weightsOf(algorithm: Algorithm): WeightOf {
  const weights = 'weights' in algorithm ? (algorithm.weights as Weights | undefined) : undefined
  if (weights === undefined) return () => 1
  return (id) => (Object.hasOwn(weights, id) ? (weights[id] as number) : 1)
}

/** Whether picks depend on what changes without a publication, so that they can't be made ahead. */
export function isLive(algorithm: Algorithm): boolean {
  return algorithm.kind === 'leastConnections' || isByFlights(algorithm)
}

/** Whether it is `powerOfTwo` by requests in flight: those that this process has count too. */
export function isByFlights(algorithm: Algorithm): boolean {
  return algorithm.kind === 'powerOfTwo' && algorithm.metric === 'inFlight'
}

/** How many numbers a generator gives. */
export const COIN_SIDES = 2 ** 32

/** A pick compares where the generator's number is below this. */
export function coinOf({ choiceRate }: PowerOfTwoAlgorithm): number {
  return Math.floor(choiceRate * COIN_SIDES)
}
