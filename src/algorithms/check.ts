import { CPU_MAX } from '../table/layout.js'
import type { Algorithm, LeastCpuAlgorithm } from './algorithm.js'

function isMilli(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= CPU_MAX
}

/** Whether a value is an algorithm as `leastCpu()` and `random()` make them, also where it came from another thread. */
export function isAlgorithm(value: unknown): value is Algorithm {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false
  if (value.kind === 'random') return true
  if (value.kind !== 'leastCpu') return false
  const { threshold, ttl, missing } = value as Partial<LeastCpuAlgorithm>
  return (
    isMilli(threshold) &&
    typeof ttl === 'number' &&
    ttl >= 0 &&
    (missing === 'mean' || missing === 'exclude' || isMilli(missing))
  )
}
