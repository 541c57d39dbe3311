import { OTHER } from './catalogue.js'

/** A node's count since it became a member. */
export interface Count {
  readonly id: string
  readonly count: number
}

interface Series {
  /** The member's count when it was last seen. */
  seen: number
  /** What the series has come to. */
  value: number
}

/**
 * One count of a balancer by node, each series of which only grows: though members leave and come back, which counts them
 * anew, and though nodes get a series of their own or lose it. All series together are the balancer's own count.
 */
export class NodeCounts {
  readonly #series = new Map<string, Series>()
  // What members have counted that have no series.
  readonly #unnamed = new Map<string, number>()
  // What series came to that have ended.
  #ended = 0
  #other = 0

  /**
   * Takes in the counts as they are now.
   * @param named who has a series of its own; others, and what no member has counted, are `OTHER`
   * @param total the balancer's own count
   */
  update(counts: readonly Count[], named: ReadonlySet<string>, total: number): void {
    const members = new Set(counts.map(({ id }) => id))
    for (const [id, { value }] of this.#series) {
      if (members.has(id) && named.has(id)) continue
      this.#ended += value
      this.#series.delete(id)
    }
    for (const id of this.#unnamed.keys()) {
      if (!members.has(id)) this.#unnamed.delete(id)
    }
    let sum = this.#ended
    for (const { id, count } of counts) {
      if (!named.has(id)) {
        this.#unnamed.set(id, count)
        continue
      }
      sum += this.#grow(id, count)
    }
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

  // Returns what the node's series has come to.
  #grow(id: string, count: number): number {
    const series = this.#series.get(id)
    if (series !== undefined) {
      // Less than before: it has left and come back.
      series.value += count < series.seen ? count : count - series.seen
      series.seen = count
      return series.value
    }
    // What it did while it had none is in `OTHER`.
    const before = this.#unnamed.get(id) ?? 0
    this.#unnamed.delete(id)
    const value = count < before ? count : count - before
    this.#series.set(id, { seen: count, value })
    return value
  }
}
