/** Retries that there are before any request has earned one. */
const FIRST = 10

/** The most that are saved up. */
const MOST = 100

/** Counts over all that was retried within a budget. */
export interface RetryCounters {
  /** Requests that earned a part of a retry. */
  requests: number
  /** Retries that were made. */
  retries: number
  /** Retries that there would have been, but for the budget. */
  denied: number
}

/**
 * Limits retries to a share of the requests, so that they can't make an outage worse. Each request earns a part of a retry,
 * and each retry takes one. Of `n` requests in a row at most `share x n + 100` are retried, however many fail. It counts
 * requests and not time: a client with few requests earns few retries and needs few.
 *
 * A balancer has one, which `run` and all dispatchers over the balancer use. Code of your own that retries can use it too.
 */
export class RetryBudget {
  /** @internal */
  readonly counters: RetryCounters = { requests: 0, retries: 0, denied: 0 }
  readonly #share: number
  #saved = FIRST

  /**
   * @internal
   * @param share retries that a request earns, 0 to 1
   */
  constructor(share: number) {
    this.#share = share
  }

  /** Takes in one request. Call this once for each, however often it is retried. */
  earn(): void {
    this.counters.requests++
    this.#saved = Math.min(MOST, this.#saved + this.#share)
  }

  /** Takes one retry. Returns false, and counts it as denied, where there is none left. */
  take(): boolean {
    if (!this.#hasOne) {
      this.counters.denied++
      return false
    }
    this.counters.retries++
    this.#saved--
    return true
  }

  /** Gives back a retry that was taken and not made. */
  giveBack(): undefined {
    this.counters.retries--
    this.#saved++
  }

  get #hasOne(): boolean {
    // Parts that are added up may fall short of the whole by a little.
    return this.#share > 0 && this.#saved >= 1 - 1e-6
  }
}
