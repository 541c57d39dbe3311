/** What a node says of taking work, the gravest last: it takes it, finishes what it has, is out for maintenance, or ill. */
export type NodeState = 'up' | 'drain' | 'maint' | 'down'

/** The largest weight that counts, percent: 256 times the usual one, as for HAProxy. */
export const MOST_WEIGHT = 25_600

/**
 * What a node says of its load. The model is ORCA's `OrcaLoadReport`; ORCA's 0-1 utilizations exist on the wire
 * alone: here everything is in percent. All fields are optional. The table keeps
 * each with the time of its sample, in single precision but for `cpu`; of `named` those that an algorithm asks for.
 */
export interface Report {
  /** CPU utilization in percent, 0-100; above 100 is stored as 100. */
  cpu?: number | undefined
  /** Application utilization in percent, as the node defines it. */
  application?: number | undefined
  /** Memory utilization in percent, 0-100. */
  memory?: number | undefined
  /** Requests served per second. */
  qps?: number | undefined
  /** Errors per second. */
  eps?: number | undefined
  /** Requests in flight at the node. */
  inFlight?: number | undefined
  /** Latency of a request, ms. */
  latency?: number | undefined
  /** Time from arrival to start of work, ms. */
  queueDelay?: number | undefined
  /** How old the sample was when it was sent, ms; 0 where it is not given. */
  age?: number | undefined
  /** The user's own metrics. `utilization.NAME`, 0-1, is the entry `NAME` of ORCA's map `utilization`. */
  named?: Record<string, number> | undefined
  /** Whether it takes work. Like the two below it is for the balancer's members, not for the table, and stays until told anew. */
  state?: NodeState | undefined
  /** Its weight in percent of its usual one, at least 0: 50 counts half, 200 twice, 0 as no new work. Above 25,600 counts as 25,600. */
  weight?: number | undefined
  /** Most requests in flight that it takes from this process, at least 0; 0: no limit. */
  maxInFlight?: number | undefined
}

/** A report as it came from a node. */
export interface ReadReport extends Report {
  /**
   * A state that this version of idlest does not know: newer agents may send one. It leaves the node's state as it was, and
   * the rest of the report counts.
   */
  unknownState?: number
}

/** What the table keeps of a report, whatever algorithm is used. */
export type KeptReport = Omit<Report, 'age' | 'named' | 'state' | 'weight' | 'maxInFlight'>
