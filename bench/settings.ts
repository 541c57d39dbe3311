import type { MiddlewareSettings } from './figures/middleware.js'

/** How much is measured. */
export interface Settings {
  /** Rounds over all cases. */
  readonly rounds: number
  /** Factor on the samples of a case in a round. */
  readonly effort: number
  readonly gc: { readonly warmUp: number; readonly picks: number }
  readonly poll: PollSettings
  /** Jobs that worker threads are given by each policy. */
  readonly waits: number
  readonly middleware: MiddlewareSettings
}

export interface PollSettings {
  readonly agents: number
  /** How many of the agents never answer. */
  readonly silent: number
  /** ms */
  readonly timeout: number
  readonly cycles: number
}

export const full: Settings = {
  rounds: 40,
  effort: 1,
  gc: { warmUp: 2_000_000, picks: 10_000_000 },
  poll: { agents: 1_000, silent: 100, timeout: 2_000, cycles: 4 },
  waits: 3_000,
  middleware: { rounds: 200, requests: 200 },
}

/** Shows that everything runs; its figures say nothing. */
export const quick: Settings = {
  rounds: 2,
  effort: 0.1,
  gc: { warmUp: 100_000, picks: 100_000 },
  poll: { agents: 40, silent: 4, timeout: 500, cycles: 2 },
  waits: 100,
  middleware: { rounds: 2, requests: 20 },
}
