import { CPU_MAX } from '../table/layout.js'
import type {
  Algorithm,
  LeastConnectionsAlgorithm,
  LeastCpuAlgorithm,
  PowerOfTwoAlgorithm,
  SpareCapacityAlgorithm,
} from './algorithm.js'
import { LONGEST_METRIC } from './power-of-two.js'

function isMilli(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= CPU_MAX
}

function isNumberFrom(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most
}

// Takes what may lack anything: it may have come from another thread.
const checks: { [K in Algorithm['kind']]: (value: object) => boolean } = {
  random: () => true,
  roundRobin: () => true,
  leastConnections: (value) => {
    const { choices, exact } = value as Partial<LeastConnectionsAlgorithm>
    return Number.isInteger(choices) && isNumberFrom(choices, 1, 64) && typeof exact === 'boolean'
  },
  powerOfTwo: (value) => {
    const { metric, choices, choiceRate, otherwise, unknown, ttl } = value as Partial<PowerOfTwoAlgorithm>
    return (
      typeof metric === 'string' &&
      isNumberFrom(metric.length, 1, LONGEST_METRIC) &&
      Number.isInteger(choices) &&
      isNumberFrom(choices, 2, 64) &&
      isNumberFrom(choiceRate, 0, 1) &&
      (otherwise === 'random' || otherwise === 'worker') &&
      (unknown === 'random' || unknown === 'fail') &&
      isNumberFrom(ttl, 0, Number.POSITIVE_INFINITY)
    )
  },
  leastCpu: (value) => {
    const { threshold, ttl, missing } = value as Partial<LeastCpuAlgorithm>
    return (
      isMilli(threshold) &&
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
}

/** Whether a value is an algorithm as `leastCpu()` and the others make them, also where it came from another thread. */
export function isAlgorithm(value: unknown): value is Algorithm {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false
  const { kind } = value
  return typeof kind === 'string' && Object.hasOwn(checks, kind) && checks[kind as Algorithm['kind']](value)
}
