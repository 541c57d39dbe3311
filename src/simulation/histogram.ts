/** Buckets that a factor of two is cut into: each is 1.45 % wide. */
const STEPS = 48

/** What is shorter goes into the first bucket, and what is longer into the last, ms: a microsecond and two weeks. */
const LEAST = 1e-3
const BUCKETS = STEPS * 40

/** How often times come, in buckets of equal ratio: a quantile is right to 1 %, whatever the times are. */
export class Histogram {
  /** Times in all. */
  count = 0
  readonly #counts = new Uint32Array(BUCKETS)

  /** Counts a time, ms. */
  add(time: number): void {
    const bucket = Math.floor(Math.log2(time / LEAST) * STEPS)
    // A time of 0 is at minus infinity.
    const kept = bucket > 0 ? Math.min(bucket, BUCKETS - 1) : 0
    this.#counts[kept] = (this.#counts[kept] as number) + 1
    this.count++
  }

  /** The time that a share `q` of all is at most, ms, by nearest rank; not a number where there is none. */
  quantile(q: number): number {
    if (this.count === 0) return Number.NaN
    const rank = Math.max(1, Math.ceil(q * this.count))
    let before = 0
    for (let i = 0; i < BUCKETS; i++) {
      before += this.#counts[i] as number
      if (before >= rank) return middle(i)
    }
    return middle(BUCKETS - 1)
  }

  /**
   * How many times lie between bounds that grow by a constant ratio, from the first to the last that has any.
   * @param steps bounds a factor of two; divides 48
   */
  bars(steps: number): { readonly from: number; readonly to: number; readonly count: number }[] {
    const width = STEPS / steps
    const bars: { from: number; to: number; count: number }[] = []
    for (let i = 0; i < BUCKETS; i += width) {
      const count = this.#counts.subarray(i, i + width).reduce((sum, some) => sum + some, 0)
      if (count > 0 || bars.length > 0) bars.push({ from: bound(i), to: bound(i + width), count })
    }
    while (bars.at(-1)?.count === 0) bars.pop()
    return bars
  }
}

function bound(bucket: number): number {
  return LEAST * 2 ** (bucket / STEPS)
}

function middle(bucket: number): number {
  return bound(bucket + 0.5)
}
