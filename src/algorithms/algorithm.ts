import type { HashName } from '../keys/key-hash.js'
import type { CustomAlgorithm } from './custom.js'

/** Fixed weights by node id, 0 (never picked) to 1e12; a node that is not named weighs 1. */
export type Weights = Readonly<Record<string, number>>

/** Gives a node's key, a string of 1 to 1,024 characters. */
export type NodeKey<N = never> = (node: N) => string

/** The fixed weight of a node by its id. */
export type WeightOf = (id: string) => number

/** `random()`: every member that is up, with equal chances or by weight. */
export interface RandomAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'random'
  /** Fixed weights by id. */
  readonly weights?: Weights
}

/** `roundRobin()`: every member that is up, in turn. */
export interface RoundRobinAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'roundRobin'
  /** Whether all threads of a balancer take turns together. */
  readonly shared?: boolean
}

/** `leastCpu()`, with its options in the table's units. */
export interface LeastCpuAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'leastCpu'
  /** Width of the band, inclusive, in 1/1000 percentage points. */
  readonly threshold: number
  /** Oldest age of a fresh reading, whole ms, inclusive. */
  readonly ttl: number
  /** What a missing reading counts as: 1/1000 percentage points, or a policy. */
  readonly missing: number | 'mean' | 'exclude'
  /** Time constant of the smoothing, ms; 0: none. */
  readonly smoothing: number
}

/** `spareCapacity()`, with its options in the table's units. */
export interface SpareCapacityAlgorithm {
  /** Which algorithm it is. */
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
  /** Which algorithm it is. */
  readonly kind: 'leastConnections'
  /** Members that are compared, at least 1. */
  readonly choices: number
  /** Whether all are compared. */
  readonly exact: boolean
  /** Fixed weights by id. */
  readonly weights?: Weights
}

/** `prequal()`: by requests in flight and latency, from a pool of probes. */
export interface PrequalAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'prequal'
  /** Members with more in flight than this quantile of recent probes are hot, 0-1. */
  readonly quantile: number
  /** Most entries in the pool. */
  readonly pool: number
  /** Oldest age of an entry that may be used, whole ms, inclusive. */
  readonly maxAge: number
  /** Probes a pick. */
  readonly probes: number
  /** Entries removed a pick, the oldest and the worst in turn. */
  readonly removals: number
}

/** How far weights may be from their mean, before they are scaled to whole numbers. */
export interface WeightClamp {
  /** Largest multiple of the mean, at least 1. */
  readonly max: number
  /** Smallest part of the mean, 0-1. */
  readonly min: number
  /** Whether the smallest weight is rounded up; else to the nearest. */
  readonly roundUp: boolean
}

/** `weightedRoundRobin()`: every member that is up in turn, some more often. Times are whole ms. */
export interface WeightedRoundRobinAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'weightedRoundRobin'
  /** How long a node has to report before its weight counts. */
  readonly blackoutPeriod: number
  /** How long a weight counts without a report. */
  readonly weightExpirationPeriod: number
  /** At least 100. */
  readonly weightUpdatePeriod: number
  /** What errors count in the weight. */
  readonly errorUtilizationPenalty: number
  /** How far weights may be from their mean. */
  readonly clamp: WeightClamp
  /** Metrics whose largest stands for the utilization where `application` is not reported. */
  readonly metricNames: readonly string[]
  /** In place of reports. */
  readonly weights?: Weights
}

/** `adaptive()`: the least response time to expect. */
export interface AdaptiveAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'adaptive'
  /** Oldest age of a fresh reading, whole ms, inclusive. */
  readonly ttl: number
  /** Time constant over which CPU is smoothed, ms. */
  readonly smoothing: number
  /** Time constant with which what is known of a node fades, ms. */
  readonly fading: number
  /** A node that gives errors alone counts as so many times as slow, less one. */
  readonly errorCost: number
}

/** `powerOfTwo()`: the best of some by one metric. */
export interface PowerOfTwoAlgorithm {
  /** Which algorithm it is. */
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

/** `local()`: the balancer's `self`; another member where that can't be picked. */
export interface LocalAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'local'
  /** How the others are picked. */
  readonly otherwise: 'random' | 'roundRobin'
}

/** `hashRing()`: the node that comes next on a ring. */
export interface HashRingAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'hashRing'
  /** Points of a node of weight 1. */
  readonly points: number
  /** How keys and nodes are hashed. */
  readonly hash: HashName
  /** What a node may have in flight, in means; undefined: any number. */
  readonly boundedLoad: number | undefined
  /** Fixed weights by the nodes' keys. */
  readonly weights: Weights | undefined
  /** The key of a node; undefined: its own, or its id. Not on other threads, which are told the keys. */
  readonly keyOf?: NodeKey | undefined
}

/** `maglev()`: the node in a cell of a table. */
export interface MaglevAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'maglev'
  /** Cells: a prime number. */
  readonly tableSize: number
  /** How keys and nodes are hashed. */
  readonly hash: HashName
  /** Fixed weights by the nodes' keys. */
  readonly weights: Weights | undefined
  /** The key of a node; undefined: its own, or its id. Not on other threads, which are told the keys. */
  readonly keyOf?: NodeKey | undefined
}

/** The algorithms that pick by keys. */
export type KeyedAlgorithm = HashRingAlgorithm | MaglevAlgorithm

/** How a balancer picks: checked and frozen; but for `custom` and `keyOf`, plain data that can be posted to a worker thread. */
export type Algorithm =
  | RandomAlgorithm
  | RoundRobinAlgorithm
  | LeastCpuAlgorithm
  | SpareCapacityAlgorithm
  | LeastConnectionsAlgorithm
  | PrequalAlgorithm
  | WeightedRoundRobinAlgorithm
  | AdaptiveAlgorithm
  | PowerOfTwoAlgorithm
  | KeyedAlgorithm
  | LocalAlgorithm
  | CustomAlgorithm

/** What engines know; the others go around an engine that does one of these. */
export type EngineAlgorithm = Exclude<Algorithm, KeyedAlgorithm | LocalAlgorithm | CustomAlgorithm>

/** Oldest age of a reading that still counts, ms; undefined where the algorithm reads none. */
export function ttlOf(algorithm: Algorithm): number | undefined {
  return 'ttl' in algorithm ? algorithm.ttl : undefined
}

/**
 * Longest wait before the first poll where `startupJitter` is not given, ms: one interval. With `leastCpu` 60 s, as in
 * the library that it comes from.
 */
export function startupJitterOf({ kind }: Algorithm, interval: number): number {
  return kind === 'leastCpu' ? 60_000 : interval
}

/** Whether an algorithm has fixed weights. */
export function isWeighted(algorithm: Algorithm): boolean {
  return 'weights' in algorithm && algorithm.weights !== undefined
}

/** The fixed weights of an algorithm that has some; else 1 for all. */
export function weightsOf(algorithm: Algorithm): WeightOf {
  const weights = 'weights' in algorithm ? algorithm.weights : undefined
  if (weights === undefined) return () => 1
  return (id) => (Object.hasOwn(weights, id) ? (weights[id] as number) : 1)
}

/** Whether picks depend on what changes without a publication, so that they can't be made ahead. */
export function isLive(algorithm: Algorithm): boolean {
  const { kind } = algorithm
  if (kind === 'leastConnections' || kind === 'adaptive' || kind === 'prequal') return true
  return isByFlights(algorithm)
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

/** Whether an algorithm picks by keys. */
export function isKeyed(algorithm: Algorithm): algorithm is KeyedAlgorithm {
  return algorithm.kind === 'hashRing' || algorithm.kind === 'maglev'
}
