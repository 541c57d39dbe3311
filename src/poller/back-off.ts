/** How waits between tries grow. */
export interface BackOffOptions {
  /** The first wait, ms. */
  readonly first: number
  /** What the next wait is of the last. */
  readonly factor: number
  /** The longest, ms, before the jitter. */
  readonly longest: number
  /** How far a wait is from what it would be, at most, as a share of it: those who lost one server come back apart. */
  readonly jitter: number
}

/** What gRPC's connection back-off protocol names as its defaults. */
export const GRPC_BACK_OFF: BackOffOptions = { first: 1_000, factor: 1.6, longest: 120_000, jitter: 0.2 }

/** Waits between tries, each longer than the one before. */
export class BackOff {
  readonly #options: BackOffOptions
  readonly #random: () => number
  #base: number

  /** @param random uniform in [0, 1) */
  constructor(options: BackOffOptions, random: () => number) {
    this.#options = options
    this.#random = random
    this.#base = options.first
  }

  /** How long to wait before the next try, ms. */
  next(): number {
    const { factor, longest, jitter } = this.#options
    const base = Math.min(this.#base, longest)
    this.#base = base * factor
    return base * (1 + jitter * (2 * this.#random() - 1))
  }

  /** Starts from the first wait again. */
  reset(): void {
    this.#base = this.#options.first
  }
}
