import { adaptiveDefinition } from './adaptive/index.js'
import { type AdaptiveAlgorithm, adaptive } from './adaptive/options.js'
import { customDefinition } from './custom/index.js'
import type { CustomAlgorithm, CustomPicker } from './custom/options.js'
import type { AlgorithmDefinition, KeyedDefinition, Needs, Probing, Thinning, Variant } from './definition.js'
import { hashRingDefinition } from './hash-ring/index.js'
import type { HashRingAlgorithm } from './hash-ring/options.js'
import { leastConnectionsDefinition } from './least-connections/index.js'
import type { LeastConnectionsAlgorithm } from './least-connections/options.js'
import { leastCpuDefinition } from './least-cpu/index.js'
import type { LeastCpuAlgorithm } from './least-cpu/options.js'
import { localDefinition } from './local/index.js'
import type { LocalAlgorithm } from './local/options.js'
import { maglevDefinition } from './maglev/index.js'
import type { MaglevAlgorithm } from './maglev/options.js'
import { peakEwmaDefinition } from './peak-ewma/index.js'
import type { PeakEwmaAlgorithm } from './peak-ewma/options.js'
import { powerOfTwoDefinition } from './power-of-two/index.js'
import type { PowerOfTwoAlgorithm } from './power-of-two/options.js'
import { prequalDefinition } from './prequal/index.js'
import type { PrequalAlgorithm } from './prequal/options.js'
import { randomDefinition } from './random/index.js'
import type { RandomAlgorithm } from './random/options.js'
import { roundRobinDefinition } from './round-robin/index.js'
import type { RoundRobinAlgorithm } from './round-robin/options.js'
import { spareCapacityDefinition } from './spare-capacity/index.js'
import type { SpareCapacityAlgorithm } from './spare-capacity/options.js'
import { weightedRoundRobinDefinition } from './weighted-round-robin/index.js'
import type { WeightedRoundRobinAlgorithm } from './weighted-round-robin/options.js'
import type { WeightOf } from './weights.js'

/** What engines know; the others go around an engine that does one of these. */
export type EngineAlgorithm =
  | RandomAlgorithm
  | RoundRobinAlgorithm
  | LeastCpuAlgorithm
  | SpareCapacityAlgorithm
  | LeastConnectionsAlgorithm
  | PrequalAlgorithm
  | WeightedRoundRobinAlgorithm
  | AdaptiveAlgorithm
  | PeakEwmaAlgorithm
  | PowerOfTwoAlgorithm

/** The algorithms that pick by keys. */
export type KeyedAlgorithm = HashRingAlgorithm | MaglevAlgorithm

/** How a balancer picks: checked and frozen; but for `custom` and `keyOf`, plain data that can be posted to a worker thread. */
export type Algorithm = EngineAlgorithm | KeyedAlgorithm | LocalAlgorithm | CustomAlgorithm

// In the order in which they are shown.
const definitions: {
  readonly [K in Algorithm['kind']]: AlgorithmDefinition<Extract<Algorithm, { kind: K }>>
} = {
  adaptive: adaptiveDefinition,
  roundRobin: roundRobinDefinition,
  random: randomDefinition,
  leastCpu: leastCpuDefinition,
  spareCapacity: spareCapacityDefinition,
  weightedRoundRobin: weightedRoundRobinDefinition,
  leastConnections: leastConnectionsDefinition,
  prequal: prequalDefinition,
  peakEwma: peakEwmaDefinition,
  powerOfTwo: powerOfTwoDefinition,
  hashRing: hashRingDefinition,
  maglev: maglevDefinition,
  local: localDefinition,
  custom: customDefinition,
}

/** The definition of an algorithm. */
export function definitionOf<A extends Algorithm>({ kind }: A): AlgorithmDefinition<A> {
  return definitions[kind] as unknown as AlgorithmDefinition<A>
}

/** Every kind of algorithm that engines know. */
export const ENGINE_KINDS: readonly Algorithm['kind'][] = Object.values(definitions)
  .filter((definition) => definition.portable !== undefined)
  .map((definition) => definition.kind)

/** Variants of algorithms that simulations know by name, in the order in which they are shown. */
export const VARIANTS: readonly Variant[] = Object.values(definitions).flatMap(
  (definition): readonly Variant[] => definition.variants ?? [],
)

/** Calls of the algorithms that pick by keys, for messages, such as `hashRing() or maglev()`. */
export const KEYED_CALLS: string = Object.values(definitions)
  .filter((definition) => definition.keyed !== undefined)
  .map(({ kind }) => `${kind}()`)
  .join(' or ')

/** What picks where the user says nothing. */
export function defaultAlgorithm(): Algorithm {
  return adaptive()
}

/** Makes an algorithm of a kind. Throws OptionError. */
export function makeOfKind(kind: Algorithm['kind'], options: object): Algorithm {
  return (definitions[kind] as { make(options: object): Algorithm }).make(options)
}

/** Whether it goes by readings that expire. */
export function hasTtl(kind: Algorithm['kind']): boolean {
  return (definitions[kind].fields as readonly string[]).includes('ttl')
}

/** How a kind is explained and shown. */
export function definitionOfKind(
  kind: Algorithm['kind'],
): Pick<AlgorithmDefinition, 'explain' | 'shows' | 'column'> {
  return definitions[kind]
}

/** Whether a value is an algorithm as `leastCpu()` and the others make them, also where it came from another thread. */
export function isAlgorithm(value: unknown): value is Algorithm {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false
  const { kind } = value
  if (typeof kind !== 'string' || !Object.hasOwn(definitions, kind)) return false
  const { fields, isValid } = definitions[kind as Algorithm['kind']] as AlgorithmDefinition<{ kind: string }>
  const known: readonly string[] = fields
  // What has a field of another algorithm, such as weights, would be taken to have it, unchecked.
  return (
    Object.keys(value).every((name) => name === 'kind' || known.includes(name)) &&
    isValid(value as { kind: string })
  )
}

/** Oldest age of a reading that still counts, ms; undefined where the algorithm reads none. */
export function ttlOf(algorithm: Algorithm): number | undefined {
  return 'ttl' in algorithm ? algorithm.ttl : undefined
}

/** Longest wait before the first poll where `startupJitter` is not given, ms. */
export function startupJitterOf(algorithm: Algorithm, interval: number): number {
  return definitionOf(algorithm).startupJitter ?? interval
}

/** Failed polls in a row after which a member is unreachable, where `health.polls` is not given; 0: never. */
export function unreachableAfter(algorithm: Algorithm): number {
  return definitionOf(algorithm).unreachableAfter ?? 3
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
  return definitionOf(algorithm).isLive?.(algorithm) ?? false
}

/** The metric that an algorithm goes by in place of CPU. */
export function metricOf(algorithm: Algorithm): string | undefined {
  return definitionOf(algorithm).metric?.(algorithm)
}

/** Whether it compares requests in flight, those that this process has and those that nodes report. */
export function comparesFlights(algorithm: Algorithm): boolean {
  return definitionOf(algorithm).comparesFlights?.(algorithm) ?? false
}

/** Width of the band that it draws from, percentage points; undefined where it has none. */
export function bandWidthOf(algorithm: Algorithm): number | undefined {
  return definitionOf(algorithm).bandWidth?.(algorithm)
}

/** Whether it leaves out members without a fresh report while others have one. */
export function excludesMissing(algorithm: Algorithm): boolean {
  return definitionOf(algorithm).excludesMissing?.(algorithm) ?? false
}

/** An algorithm whose view says which members have a fresh report. */
export function excludingMissing(algorithm: EngineAlgorithm): EngineAlgorithm {
  return definitionOf(algorithm).excludingMissing?.(algorithm) ?? algorithm
}

/** What makes the picker of a balancer, where users wrote it. */
export function userMadeOf(algorithm: Algorithm): (() => CustomPicker) | undefined {
  return definitionOf(algorithm).userMade?.(algorithm)
}

/** Whether draws may fail because no load is known. */
export function mayFail(algorithm: Algorithm): boolean {
  return definitionOf(algorithm).mayFail?.(algorithm) ?? false
}

/** What it needs of a balancer. */
export function needsOf(algorithm: Algorithm): Needs {
  return definitionOf(algorithm).needs?.(algorithm) ?? {}
}

/** How members are probed as picks are made; undefined where they are not. */
export function probingOf(algorithm: Algorithm): Probing | undefined {
  return definitionOf(algorithm).probing?.(algorithm)
}

/** How reported weights count. */
export function thinningOf(algorithm: Algorithm): Thinning {
  return definitionOf(algorithm).thinning?.(algorithm) ?? 'again'
}

/** What an engine does for an algorithm: that, or what goes around it needs. */
export function engineAlgorithmOf(algorithm: Algorithm): EngineAlgorithm {
  return definitionOf(algorithm).engine?.(algorithm) ?? (algorithm as EngineAlgorithm)
}

/** How `select(nodes)` picks by an algorithm. */
export function arrayAlgorithmOf(algorithm: Algorithm): EngineAlgorithm {
  return definitionOf(algorithm).forArrays?.(algorithm) ?? engineAlgorithmOf(algorithm)
}

/** Whether an algorithm picks by keys. */
export function isKeyed(algorithm: Algorithm): algorithm is KeyedAlgorithm {
  return definitionOf(algorithm).keyed !== undefined
}

/** How a keyed algorithm picks. */
export function keyedOf<A extends KeyedAlgorithm>(algorithm: A): KeyedDefinition<A> {
  return definitionOf(algorithm).keyed as KeyedDefinition<A>
}
