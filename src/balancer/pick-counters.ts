/** Counts of a balancer's picks and reports. */
export interface PickCounters {
  /** Picks of members so far. */
  picks: number
  /** Picks from arrays so far: `select(nodes)`. */
  arrayPicks: number
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
}

/** Counters of a balancer that has done nothing yet. */
export function newPickCounters(): PickCounters {
  return {
    picks: 0,
    arrayPicks: 0,
    empty: 0,
    unknown: 0,
    reportsStored: 0,
    reportsOlder: 0,
    reportsUnknown: 0,
    reportsEmpty: 0,
  }
}
