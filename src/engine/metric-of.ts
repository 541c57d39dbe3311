import type { Algorithm } from '../algorithms/algorithm.js'
import type { TableMemory } from '../table/memory.js'
import { claimMetric } from '../table/metric-names.js'

/**
 * The place among a slot's metrics of the one that an algorithm goes by, which the table keeps from now on; -1 where it
 * goes by none. Throws TableError where the table keeps four others of the user's own.
 */
export function metricOf(memory: TableMemory, algorithm: Algorithm): number {
  return algorithm.kind === 'powerOfTwo' ? claimMetric(memory, algorithm.metric) : -1
}
