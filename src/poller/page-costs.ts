/** Pages that take up to so many times as much to read as a usual one are read in each round. */
const MOST_TIMES = 4
/** A page that takes no more than this is a usual one: some 100 KiB, as node_exporter has them. */
const LEAST_USUAL = 131_072

/**
 * What it takes to read the pages of one poller's members, in bytes that are skipped: about a nanosecond each. Members with
 * pages that take much more than those of others are asked less often: a few of them must not take most of the polling
 * thread's time.
 */
export class PageCosts {
  readonly #costs = new Map<object, number>()
  #usual = LEAST_USUAL
  // Since the usual cost was worked out.
  #noted = 0

  /** Notes what a member's page took. Returns in how many rounds it is not asked then. */
  note(member: object, cost: number): number {
    this.#costs.set(member, cost)
    this.#noted++
    if (cost <= MOST_TIMES * LEAST_USUAL) return 0
    this.#update()
    return Math.ceil(cost / (MOST_TIMES * this.#usual)) - 1
  }

  forget(member: object): void {
    this.#costs.delete(member)
  }

  // The median of all members, about once a round: a minority can't change it much.
  #update(): void {
    if (this.#noted < this.#costs.size) return
    this.#noted = 0
    const sorted = Float64Array.from(this.#costs.values()).sort()
    this.#usual = Math.max(LEAST_USUAL, sorted[sorted.length >> 1] ?? 0)
  }
}
