import type { SamplingCounters } from '../agent/sampling.js'
import type { EngineName } from '../engine/engine.js'
import type { PollerCounters } from '../poller/poller.js'
import type { ProbeCounters } from '../poller/prober.js'
import type { GuardCounters } from './guard.js'
import type { InBandCounters } from './in-band.js'
import type { LeaseCounters } from './lease.js'
import type { DiscoveryCounters } from './node-source.js'
import type { HealthCounters } from './passive-health.js'
import type { PickCounters } from './pick-counters.js'
import type { RetryCounters } from './retry-budget.js'
import type { SuspicionCounters } from './suspicion.js'

/** Counters of a balancer since it was made. */
export interface BalancerStats {
  /** The balancer's name. */
  readonly name: string
  /** The engine in use. */
  readonly engine: EngineName
  /** How many members there are. */
  readonly members: number
  /** Picks, and reports that were given. */
  readonly picks: PickCounters
  /** Leases that were taken and released. */
  readonly leases: LeaseCounters
  /** Requests that were retried, by `run` and by dispatchers, and that were not for want of `retryBudget`. */
  readonly retries: RetryCounters
  /** Members that were ejected for failing, and that came back. */
  readonly health: HealthCounters
  /** Members that claim to be idle while their requests fail or slow down. */
  readonly suspicion: SuspicionCounters
  /** How many times members were passed over when they were drawn, for their weight, limit or share. */
  readonly guard: GuardCounters
  /** What became of the reports of responses that `observe` was shown. */
  readonly inBand: InBandCounters
  /** Undefined with `poll: false`. */
  readonly poll: PollerCounters | undefined
  /** Undefined where no picks are probed for: with another algorithm than `prequal`, or with `poll: false`. */
  readonly probes: ProbeCounters | undefined
  /** What the discovery has found that the members come from; undefined where they were given. */
  readonly discovery: DiscoveryCounters | undefined
  /** Undefined without `self`. */
  readonly sampler: SamplingCounters | undefined
}
