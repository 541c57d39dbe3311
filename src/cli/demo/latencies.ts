import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'

/** Percentiles of latencies, ms, to three digits; undefined where there are none. */
export interface LatencySummary {
  readonly p50: number | undefined
  readonly p99: number | undefined
  readonly p999: number | undefined
  readonly max: number | undefined
}

/** Latencies, kept as counts: its size and the time it takes do not grow with their number. */
export class Latencies {
  // µs, up to an hour.
  readonly #histogram: RecordableHistogram = createHistogram({ lowest: 1, highest: 3.6e9, figures: 3 })

  get count(): number {
    return this.#histogram.count
  }

  record(ms: number): void {
    this.#histogram.record(Math.max(1, Math.round(ms * 1000)))
  }

  /** The latency that `percent` of them don't exceed, ms. */
  percentile(percent: number): number | undefined {
    return this.count === 0 ? undefined : this.#histogram.percentile(percent) / 1000
  }

  summary(): LatencySummary {
    return {
      p50: this.percentile(50),
      p99: this.percentile(99),
      p999: this.percentile(99.9),
      max: this.count === 0 ? undefined : this.#histogram.max / 1000,
    }
  }
}
