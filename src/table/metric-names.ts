import { TableError } from '../errors.js'
import * as layout from './layout.js'
import type { TableMemory } from './memory.js'
import { forgetMetric } from './metric-word.js'

/** Most characters of a metric's name. */
export const LONGEST_METRIC = 1_024

const FIRST_PAIR = layout.NAMES_WORD / 2
const NONE = 0n
const BEING_FREED = 1n
const HASH_INSTEAD = 2n

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
  return hash === NONE || hash === BEING_FREED ? HASH_INSTEAD : hash
}

/** The place of a metric among a slot's metrics; -1 where the table keeps no metric of this name. */
export function findMetric(memory: TableMemory, name: string): number {
  const known = layout.METRICS.indexOf(name as layout.MetricName)
  if (known >= 0) return known
  const named = findNamed(memory, hashOf(name))
  return named < 0 ? -1 : layout.METRICS.length + named
}

/** Whether the table keeps any metric of the user's own. */
export function keepsNamed(memory: TableMemory): boolean {
  for (let named = 0; named < layout.MOST_NAMED; named++) {
    if (Atomics.load(memory.headerPairs, FIRST_PAIR + named) > BEING_FREED) return true
  }
  return false
}

/**
 * Makes the table keep a metric, from the next report on, and returns its place. Safe on any thread. A name keeps its place
 * for as long as a table lives; in a file, until no living thread uses it and another one needs the place. Throws TableError
 * where the table keeps four others of the user's own.
 */
export function claimMetric(memory: TableMemory, name: string): number {
  const known = layout.METRICS.indexOf(name as layout.MetricName)
  if (known >= 0) return known
  const { names } = memory
  let named = claimNamed(memory, name)
  if (named < 0) {
    if (names === undefined) throw new TableError(fullOfNames(name), name)
    names.reclaim(name)
    named = claimNamed(memory, name)
  }
  // Others took what was freed.
  if (named < 0) throw new TableError(fullOfNames(name), name)
  return layout.METRICS.length + named
}

function fullOfNames(name: string): string {
  return `a table keeps at most ${layout.MOST_NAMED} named metrics, and ${JSON.stringify(name)} is one more: balancers and meters that use others need a table of their own (createTable())`
}

// The number among the named metrics, or -1 where all are taken.
function claimNamed(memory: TableMemory, name: string): number {
  const hash = hashOf(name)
  const { headerPairs, names } = memory
  for (let free = 0; free <= layout.MOST_NAMED; free++) {
    const named = findNamed(memory, hash)
    if (named >= 0) {
      names?.use(named)
      // It may have been freed before that was seen.
      if (Atomics.load(headerPairs, FIRST_PAIR + named) === hash) return named
      names?.drop(named)
    }
    if (free < layout.MOST_NAMED) Atomics.compareExchange(headerPairs, FIRST_PAIR + free, NONE, hash)
  }
  return -1
}

function findNamed(memory: TableMemory, hash: bigint): number {
  for (let named = 0; named < layout.MOST_NAMED; named++) {
    if (Atomics.load(memory.headerPairs, FIRST_PAIR + named) === hash) return named
  }
  return -1
}

/**
 * Frees the place of a named metric, so that another one may have it, unless `isUsed` says that a thread uses it after all.
 * For one thread at a time.
 */
export function freeNamed(memory: TableMemory, named: number, slots: number, isUsed: () => boolean): boolean {
  const { headerPairs } = memory
  const index = FIRST_PAIR + named
  const hash = Atomics.load(headerPairs, index)
  // Nobody finds this, and nobody takes it.
  Atomics.store(headerPairs, index, BEING_FREED)
  if (isUsed()) {
    Atomics.store(headerPairs, index, hash)
    return false
  }
  for (let slot = 0; slot < slots; slot++) forgetMetric(memory, slot, layout.METRICS.length + named)
  Atomics.store(headerPairs, index, NONE)
  return true
}
