import type { Clock } from '../clock.js'
import type { Election } from '../table/file/groups.js'
import type { Entry } from '../table/table.js'

/** Who polls for the balancers of one name. */
export interface PollElection {
  /** Whether it is this balancer. */
  readonly here: boolean
  /** The id of the process that polls; undefined where none has yet. */
  readonly pid: number | undefined
}

/** Decides at each cycle whether this poller asks, where processes share a table: one is enough for all. */
export class LeaderWatch {
  readonly #election: Election
  readonly #clock: Clock
  readonly #patience: number
  #asks = false
  #cycles = 0
  #since: number

  /** @param patience how long the one that polls may go without a cycle, ms: one that hangs keeps its lock */
  constructor(election: Election, clock: Clock, patience: number) {
    this.#election = election
    this.#clock = clock
    this.#patience = patience
    this.#since = clock.now()
  }

  /** Whether this poller asks all of its members, as of the last decision. */
  get asks(): boolean {
    return this.#asks
  }

  /** Decides whom to ask: all, or those that the one that polls does not have. */
  decide(entries: readonly Entry[]): readonly Entry[] {
    this.#asks = this.#election.leads() || this.#standsIn()
    return this.#asks ? entries : entries.filter((entry) => !this.#election.covers(entry))
  }

  /** Whether the members have been polled, by any process. */
  get polled(): boolean {
    return this.#election.cycles > 0
  }

  /** A cycle of this poller's has ended. */
  cycled(): void {
    if (this.#election.leads()) this.#election.cycled()
  }

  get state(): PollElection {
    const here = this.#election.leads()
    return { here, pid: this.#election.pid }
  }

  leave(): void {
    this.#election.leave()
  }

  // Until the first cycle it may be waiting out its jitter.
  #standsIn(): boolean {
    const { cycles } = this.#election
    const now = this.#clock.now()
    if (cycles !== this.#cycles) {
      this.#cycles = cycles
      this.#since = now
    }
    return cycles > 0 && now - this.#since > this.#patience
  }
}
