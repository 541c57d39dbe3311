import type { Algorithm } from '../algorithms/algorithm.js'
import type { TableMemory } from '../table/memory.js'
import { claimMetric } from '../table/metric-names.js'

/**
 * Where a table keeps the metrics that an algorithm takes for the utilization; from now on it keeps them. Throws TableError
 * where it has no room for them.
 */
export function utilizationPlaces(memory: TableMemory, algorithm: Algorithm): number[] {
  if (algorithm.kind !== 'weightedRoundRobin' || algorithm.weights !== undefined) return []
  return algorithm.metricNames.map((name) => claimMetric(memory, name))
}
