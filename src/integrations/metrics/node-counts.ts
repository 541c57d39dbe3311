import { OTHER } from './catalogue.js'

interface Series {
  /** The member's count when it was last seen. */
  readonly seen: number
  /** What the series has come to. */
  readonly value: number
}

/**
 * One count of a balancer by node, each series of which only grows: though members leave and come back, which counts them
 * anew, and though nodes get a series of their own or lose it. All series together are the balancer's own count.
 */
export class NodeCounts {
  #series = new Map<string, Series>()
  // What members have counted that have no series.
  #unnamed = new Map<string, number>()
  // As they are noted.
  #nextSeries = new Map<string, Series>()
  #nextUnnamed = new Map<string, number>()
  // What series came to that have ended.
  #ended = 0
  #other = 0

  /** Forgets what was noted since the last `end`. */
  begin(): void {
    this.#nextSeries = new Map()
    this.#nextUnnamed = new Map()
  }

  /**
   * Takes in a member's count as it is now: since it became a member.
   * @param isNamed whether it has a series of its own; others, and what no member has counted, are `OTHER`
   */
  note(id: string, count: number, isNamed: boolean): void {
    if (isNamed) this.#nextSeries.set(id, this.#grown(id, count))
    else this.#nextUnnamed.set(id, count)
  }

  /**
   * Ends the series of all that were not noted with one.
   * @param total the balancer's own count
   */
  end(total: number): void {
    for (const [id, { value }] of this.#series) if (!this.#nextSeries.has(id)) this.#ended += value
    this.#series = this.#nextSeries
    this.#unnamed = this.#nextUnnamed
    this.begin()
    let sum = this.#ended
    for (const { value } of this.#series.values()) sum += value
    // Never less, though a member may be seen before the balancer counts what it did.
    this.#other = Math.max(this.#other, total - sum)
  }

  /** The series, by node. */
  *entries(): IterableIterator<[node: string, value: number]> {
    let other = this.#other
    for (const [id, { value }] of this.#series) {
      if (id === OTHER) other += value
      else yield [id, value]
    }
    if (other > 0) yield [OTHER, other]
  }

  #grown(id: string, count: number): Series {
    const series = this.#series.get(id)
    if (series !== undefined) {
      const { seen, value } = series
      // Less than before: it has left and come back.
      return { seen: count, value: value + (count < seen ? count : count - seen) }
    }
    // What it did while it had none is in `OTHER`.
    const before = this.#unnamed.get(id) ?? 0
    return { seen: count, value: count < before ? count : count - before }
  }
}
