import { LONGEST_WAIT } from '../clock.js'
import { CPU_MAX } from '../table/layout.js'
import type {
  AdaptiveAlgorithm,
  Algorithm,
  HashRingAlgorithm,
  LeastConnectionsAlgorithm,
  LeastCpuAlgorithm,
  LocalAlgorithm,
  MaglevAlgorithm,
  PowerOfTwoAlgorithm,
  PrequalAlgorithm,
  RandomAlgorithm,
  RoundRobinAlgorithm,
  SpareCapacityAlgorithm,
  WeightClamp,
  WeightedRoundRobinAlgorithm,
} from './algorithm.js'
import type { CustomAlgorithm } from './custom.js'
import { isHashName, isTableSize, MOST_POINTS } from './keyed.js'
import { LONGEST_METRIC } from './power-of-two.js'
import { MOST_POOL, MOST_RATE } from './prequal.js'
import { haveRoom, isUtilization, SHORTEST_UPDATE } from './weighted-round-robin.js'
import { isWeights } from './weights.js'

function isNumberFrom(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most
}

function isWhole(value: unknown, least: number, most = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isInteger(value) && isNumberFrom(value, least, most)
}

function isMilli(value: unknown): boolean {
  return isWhole(value, 0, CPU_MAX)
}

function isClamp(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { max, min, roundUp } = value as Partial<WeightClamp>
  return isNumberFrom(max, 1, Number.MAX_VALUE) && isNumberFrom(min, 0, 1) && typeof roundUp === 'boolean'
}

function isWeightsOption(weights: unknown): boolean {
  return weights === undefined || isWeights(weights)
}

function isKeyOf(keyOf: unknown): boolean {
  return keyOf === undefined || typeof keyOf === 'function'
}

// Takes what may lack anything: it may have come from another thread.
const checks: { [K in Algorithm['kind']]: (value: object) => boolean } = {
  random: (value) => isWeightsOption((value as Partial<RandomAlgorithm>).weights),
  roundRobin: (value) => {
    const { shared } = value as Partial<RoundRobinAlgorithm>
    return shared === undefined || typeof shared === 'boolean'
  },
  custom: (value) => typeof (value as Partial<CustomAlgorithm>).make === 'function',
  local: (value) => {
    const { otherwise } = value as Partial<LocalAlgorithm>
    return otherwise === 'random' || otherwise === 'roundRobin'
  },
  leastConnections: (value) => {
    const { choices, exact, weights } = value as Partial<LeastConnectionsAlgorithm>
    return isWhole(choices, 1, 64) && typeof exact === 'boolean' && isWeightsOption(weights)
  },
  prequal: (value) => {
    const { quantile, pool, maxAge, probes, removals } = value as Partial<PrequalAlgorithm>
    return (
      isNumberFrom(quantile, 0, 1) &&
      isWhole(pool, 2, MOST_POOL) &&
      isNumberFrom(maxAge, 0, Number.MAX_VALUE) &&
      isNumberFrom(probes, 0, MOST_RATE) &&
      isNumberFrom(removals, 0, MOST_RATE)
    )
  },
  adaptive: (value) => {
    const { ttl, smoothing, fading, errorCost } = value as Partial<AdaptiveAlgorithm>
    return (
      isNumberFrom(ttl, 0, Number.POSITIVE_INFINITY) &&
      isNumberFrom(smoothing, 0, Number.MAX_VALUE) &&
      isNumberFrom(fading, 1, LONGEST_WAIT) &&
      isNumberFrom(errorCost, 0, 1e6)
    )
  },
  powerOfTwo: (value) => {
    const { metric, choices, choiceRate, otherwise, unknown, ttl } = value as Partial<PowerOfTwoAlgorithm>
    return (
      typeof metric === 'string' &&
      isNumberFrom(metric.length, 1, LONGEST_METRIC) &&
      isWhole(choices, 2, 64) &&
      isNumberFrom(choiceRate, 0, 1) &&
      (otherwise === 'random' || otherwise === 'worker') &&
      (unknown === 'random' || unknown === 'fail') &&
      isNumberFrom(ttl, 0, Number.POSITIVE_INFINITY)
    )
  },
  leastCpu: (value) => {
    const { threshold, ttl, missing, smoothing } = value as Partial<LeastCpuAlgorithm>
    return (
      isMilli(threshold) &&
      isNumberFrom(smoothing, 0, Number.MAX_VALUE) &&
      isNumberFrom(ttl, 0, Number.POSITIVE_INFINITY) &&
      (missing === 'mean' || missing === 'exclude' || isMilli(missing))
    )
  },
  spareCapacity: (value) => {
    const { ttl, smoothing, minShare, missing } = value as Partial<SpareCapacityAlgorithm>
    return (
      isNumberFrom(ttl, 0, Number.POSITIVE_INFINITY) &&
      isNumberFrom(smoothing, 0, Number.MAX_VALUE) &&
      isNumberFrom(minShare, 0, 1) &&
      (missing === 'mean' || missing === 'exclude')
    )
  },
  weightedRoundRobin: (value) => {
    const given = value as Partial<WeightedRoundRobinAlgorithm>
    const { metricNames, weights } = given
    return (
      isWhole(given.blackoutPeriod, 0) &&
      isWhole(given.weightExpirationPeriod, 0) &&
      isWhole(given.weightUpdatePeriod, SHORTEST_UPDATE) &&
      isNumberFrom(given.errorUtilizationPenalty, 0, Number.MAX_VALUE) &&
      isClamp(given.clamp) &&
      Array.isArray(metricNames) &&
      metricNames.every(isUtilization) &&
      haveRoom(metricNames) &&
      isWeightsOption(weights)
    )
  },
  hashRing: (value) => {
    const { points, hash, boundedLoad, weights, keyOf } = value as Partial<HashRingAlgorithm>
    return (
      isKeyOf(keyOf) &&
      isWhole(points, 1, MOST_POINTS) &&
      isHashName(hash) &&
      (boundedLoad === undefined || isNumberFrom(boundedLoad, 1, Number.MAX_VALUE)) &&
      (weights === undefined || isWeights(weights, MOST_POINTS / (points as number)))
    )
  },
  maglev: (value) => {
    const { tableSize, hash, weights, keyOf } = value as Partial<MaglevAlgorithm>
    return isKeyOf(keyOf) && isTableSize(tableSize) && isHashName(hash) && isWeightsOption(weights)
  },
}

const fields: {
  readonly [K in Algorithm['kind']]: readonly Exclude<keyof Extract<Algorithm, { kind: K }>, 'kind'>[]
} = {
  random: ['weights'],
  roundRobin: ['shared'],
  custom: ['make'],
  local: ['otherwise'],
  leastConnections: ['choices', 'exact', 'weights'],
  prequal: ['quantile', 'pool', 'maxAge', 'probes', 'removals'],
  adaptive: ['ttl', 'smoothing', 'fading', 'errorCost'],
  powerOfTwo: ['metric', 'choices', 'choiceRate', 'otherwise', 'unknown', 'ttl'],
  leastCpu: ['threshold', 'ttl', 'missing', 'smoothing'],
  spareCapacity: ['ttl', 'smoothing', 'minShare', 'missing'],
  weightedRoundRobin: [
    'blackoutPeriod',
    'weightExpirationPeriod',
    'weightUpdatePeriod',
    'errorUtilizationPenalty',
    'clamp',
    'metricNames',
    'weights',
  ],
  hashRing: ['points', 'hash', 'boundedLoad', 'weights', 'keyOf'],
  maglev: ['tableSize', 'hash', 'weights', 'keyOf'],
}

// What has a field of another kind, such as weights, would be taken to have it, unchecked.
function hasOwnFieldsAlone(value: object, kind: Algorithm['kind']): boolean {
  const known: readonly string[] = fields[kind]
  return Object.keys(value).every((name) => name === 'kind' || known.includes(name))
}

/** Whether a value is an algorithm as `leastCpu()` and the others make them, also where it came from another thread. */
export function isAlgorithm(value: unknown): value is Algorithm {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false
  const { kind } = value
  return isKind(kind) && hasOwnFieldsAlone(value, kind) && checks[kind](value)
}

function isKind(kind: unknown): kind is Algorithm['kind'] {
  return typeof kind === 'string' && Object.hasOwn(checks, kind)
}
