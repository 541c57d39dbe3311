import { TableError } from '../errors.js'
import * as layout from './layout.js'
import type { TableMemory } from './memory.js'

const FIRST_PAIR = layout.NAMES_WORD / 2
const NONE = 0n

// Two lanes of multiplicative hashing with different multipliers: 64 bits, so that no two names of a fleet meet.
function hashOf(name: string): bigint {
  let one = 0x9e3779b9
  let other = 0x41c6ce57
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i)
    one = Math.imul(one ^ unit, 2_654_435_761)
    other = Math.imul(other ^ unit, 1_597_334_677)
  }
  one = Math.imul(one ^ (one >>> 16), 2_246_822_507) ^ Math.imul(other ^ (other >>> 13), 3_266_489_909)
  other = Math.imul(other ^ (other >>> 16), 2_246_822_507) ^ Math.imul(one ^ (one >>> 13), 3_266_489_909)
  const hash = (BigInt(one >>> 0) << 32n) | BigInt(other >>> 0)
  return hash === NONE ? 1n : hash
}

/** The place of a metric among a slot's metrics; -1 where the table keeps no metric of this name. */
export function findMetric(memory: TableMemory, name: string): number {
  const known = layout.METRICS.indexOf(name as layout.MetricName)
  if (known >= 0) return known
  const hash = hashOf(name)
  for (let i = 0; i < layout.MOST_NAMED; i++) {
    if (Atomics.load(memory.names, FIRST_PAIR + i) === hash) return layout.METRICS.length + i
  }
  return -1
}

/** Whether the table keeps any metric of the user's own. */
export function keepsNamed(memory: TableMemory): boolean {
  return Atomics.load(memory.names, FIRST_PAIR) !== NONE
}

/**
 * Makes the table keep a metric, from the next report on, and returns its place. Safe on any thread; a name keeps its
 * place for ever. Throws TableError where the table keeps four others of the user's own.
 */
export function claimMetric(memory: TableMemory, name: string): number {
  for (let i = 0; i < layout.MOST_NAMED; i++) {
    const found = findMetric(memory, name)
    if (found >= 0) return found
    Atomics.compareExchange(memory.names, FIRST_PAIR + i, NONE, hashOf(name))
  }
  const found = findMetric(memory, name)
  if (found >= 0) return found
  throw new TableError(`a table keeps at most ${layout.MOST_NAMED} named metrics; this is one more`, name)
}
