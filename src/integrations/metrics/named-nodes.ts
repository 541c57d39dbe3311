/** A node, as far as it matters here. */
export interface Picked {
  readonly id: string
  /** Picks since it became a member. */
  readonly picks: number
}

/** By how many times its picks one has to exceed another to take its place: so that places don't go to and fro. */
const LEAD = 2

/**
 * Which nodes have series of their own: the most picked ones at first. Who has a place keeps it while it is a member, until
 * another has had twice as many picks.
 */
export class NamedNodes {
  readonly #most: number
  #named = new Set<string>()

  /** @param most how many may have one */
  constructor(most: number) {
    this.#most = most
  }

  /** Takes in who the members are now; returns who has a series. */
  update(nodes: readonly Picked[]): ReadonlySet<string> {
    if (nodes.length <= this.#most) {
      this.#named = new Set(nodes.map(({ id }) => id))
      return this.#named
    }
    const ranked = [...nodes].sort((a, b) => b.picks - a.picks)
    const staying = ranked.filter(({ id }) => this.#named.has(id))
    const coming = ranked.filter(({ id }) => !this.#named.has(id))
    const places = this.#most - staying.length
    const named = [...staying, ...coming.splice(0, places)]
    // The least picked of those with a place against the most picked without, as long as that leads.
    staying.reverse()
    for (const least of staying) {
      const next = coming[0]
      if (next === undefined || next.picks <= least.picks * LEAD) break
      named[named.indexOf(least)] = next
      coming.shift()
    }
    this.#named = new Set(named.map(({ id }) => id))
    return this.#named
  }
}
