import type { CustomCounters } from './custom.js'

/** Counts of a balancer's picks and reports. */
export interface PickCounters extends CustomCounters {
  /** Picks of members so far. */
  picks: number
  /** Picks from arrays so far: `select(nodes)`. */
  arrayPicks: number
  /** Of all these, those that no key decided though the algorithm takes one: they were random. */
  keyless: number
  /** Picks of members made at random for want of entries in the pool: `prequal` alone. */
  atRandom: number
  /** Picks that found no node. */
  empty: number
  /** Picks that failed, or gave nothing, because no load was known: `unknown: 'fail'` of `powerOfTwo`. */
  unknown: number
  /** Reports given by `report()` that are now the node's reading. */
  reportsStored: number
  /** Those whose sample is older than the reading that the node has. */
  reportsOlder: number
  /** Those for a node that is not a member. */
  reportsUnknown: number
  /** Those of nothing that the table keeps: no metric but named ones that no algorithm asks for. */
  reportsEmpty: number
  /**
   * Reports of members, from wherever, that the algorithm had to pass over: for `weightedRoundRobin` those without a qps and
   * a utilization above 0. What is reported between two looks at the table counts once.
   */
  reportsIgnored: number
}

/** Those that are not counted where picks are made. */
export function newPickCounters(): Omit<PickCounters, 'picks' | 'keyless' | 'atRandom'> {
  return {
    arrayPicks: 0,
    empty: 0,
    unknown: 0,
    reportsStored: 0,
    reportsOlder: 0,
    reportsUnknown: 0,
    reportsEmpty: 0,
    reportsIgnored: 0,
    badPicks: 0,
    hookErrors: 0,
  }
}
