import type { GrpcPoliciesSettings } from './figures/grpc-policies.js'
import type { MiddlewareSettings } from './figures/middleware.js'
import type { UndiciSettings } from './figures/undici.js'

/** How much is measured. */
export interface Settings {
  /** Rounds over all cases. */
  readonly rounds: number
  /** Factor on the samples of a case in a round. */
  readonly effort: number
  readonly gc: { readonly warmUp: number; readonly picks: number }
  readonly poll: PollSettings
  readonly fleet: FleetSettings
  readonly nats: NatsSettings
  /** Jobs that worker threads are given by each policy. */
  readonly waits: number
  readonly middleware: MiddlewareSettings
  readonly undici: UndiciSettings
  readonly grpcPolicies: GrpcPoliciesSettings
}

export interface PollSettings {
  readonly agents: number
  /** How many of the agents never answer. */
  readonly silent: number
  /** ms */
  readonly timeout: number
  readonly cycles: number
}

export interface FleetSettings {
  readonly nodes: number
  /** ms */
  readonly interval: number
  /** How many cycles. */
  readonly count: number
}

export interface NatsSettings {
  /** Nodes that publish a report a second each. */
  readonly nodes: number
  /** For how long, ms. */
  readonly time: number
  /** Reports that are published as fast as they are heard. */
  readonly flood: number
}

export const full: Settings = {
  rounds: 40,
  effort: 1,
  gc: { warmUp: 2_000_000, picks: 10_000_000 },
  poll: { agents: 1_000, silent: 100, timeout: 2_000, cycles: 4 },
  fleet: { nodes: 5_000, interval: 5_000, count: 6 },
  nats: { nodes: 1_000, time: 20_000, flood: 300_000 },
  waits: 3_000,
  middleware: { processes: 8, rounds: 400, requests: 20 },
  undici: { processes: 8, rounds: 30, requests: 2_000, busyRounds: 4, busyRequests: 300 },
  grpcPolicies: { rounds: 150, calls: 200 },
}

/** Shows that everything runs; its figures say nothing. */
export const quick: Settings = {
  rounds: 2,
  effort: 0.1,
  gc: { warmUp: 100_000, picks: 100_000 },
  poll: { agents: 40, silent: 4, timeout: 500, cycles: 2 },
  fleet: { nodes: 50, interval: 100, count: 3 },
  nats: { nodes: 50, time: 500, flood: 5_000 },
  waits: 100,
  middleware: { processes: 2, rounds: 2, requests: 20 },
  undici: { processes: 2, rounds: 2, requests: 100, busyRounds: 1, busyRequests: 20 },
  grpcPolicies: { rounds: 2, calls: 20 },
}
