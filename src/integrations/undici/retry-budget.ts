/** Retries that there are before any request has earned one. */
const FIRST = 10

/** The most that are saved up. */
const MOST = 100

/**
 * Bounds retries to a share of the requests, so that they can't make an outage worse: each request earns a part of a
 * retry, and each retry takes one. Of `n` requests in a row at most `share x n + 100` are retried, however many fail. It
 * goes by requests and not by time: what few requests do not earn they do not need.
 */
export class RetryBudget {
  readonly #share: number
  #saved = FIRST

  /** @param share retries that a request earns, 0 to 1 */
  constructor(share: number) {
    this.#share = share
  }

  get isEmpty(): boolean {
    // Parts that are added up may fall short of the whole by a little.
    return this.#saved < 1 - 1e-6
  }

  earn(): void {
    this.#saved = Math.min(MOST, this.#saved + this.#share)
  }

  spend(): void {
    this.#saved--
  }
}
