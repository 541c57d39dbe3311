/** Values that are kept of each series: at a view a second, four minutes; no terminal shows more. */
const KEPT = 240

class Series {
  // NaN where it was not known.
  readonly #values = new Float32Array(KEPT)
  #next = 0
  #count = 0

  push(value: number | undefined): void {
    this.#values[this.#next] = value ?? Number.NaN
    this.#next = (this.#next + 1) % KEPT
    this.#count = Math.min(KEPT, this.#count + 1)
  }

  last(count: number): (number | undefined)[] {
    const length = Math.min(count, this.#count)
    return Array.from({ length }, (_, i) => {
      const value = this.#values[(this.#next - length + i + KEPT) % KEPT] as number
      return Number.isNaN(value) ? undefined : value
    })
  }
}

/** What series have been lately; some 1 KB each. */
export class History {
  #series = new Map<string, Series>()

  /** Takes one more value of every series; one that is not among them is forgotten. */
  push(values: Iterable<readonly [key: string, value: number | undefined]>): void {
    const kept = new Map<string, Series>()
    for (const [key, value] of values) {
      const series = this.#series.get(key) ?? new Series()
      series.push(value)
      kept.set(key, series)
    }
    this.#series = kept
  }

  /** The last values, oldest first: at most `count` of them. */
  last(key: string, count: number): (number | undefined)[] {
    return this.#series.get(key)?.last(count) ?? []
  }
}
