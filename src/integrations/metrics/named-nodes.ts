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
 * another has had twice as many picks. Members are noted one by one, so that thousands can be over many turns.
 */
export class NamedNodes {
  readonly #most: number
  #named = new Set<string>()
  #staying: Picked[] = []
  #coming: Picked[] = []

  /** @param most how many may have one */
  constructor(most: number) {
    this.#most = most
  }

  /** Forgets what was noted since the last `end`. */
  begin(): void {
    this.#staying = []
    this.#coming = []
  }

  /** Takes in a member. */
  note(node: Picked): void {
    if (this.#named.has(node.id)) {
      this.#staying.push(node)
      return
    }
    // No more than have places can come.
    if (this.#coming.push(node) >= 2 * this.#most + 64) this.#keepMost()
  }

  /** Decides, after all members were noted. */
  end(): ReadonlySet<string> {
    this.#keepMost()
    const coming = this.#coming
    const staying = this.#staying.sort(byPicks)
    const named = [...staying, ...coming.splice(0, this.#most - staying.length)]
    // The least picked of those with a place against the most picked without, as long as that leads.
    for (let i = staying.length - 1; i >= 0; i--) {
      const next = coming[0]
      if (next === undefined || next.picks <= (staying[i] as Picked).picks * LEAD) break
      named[i] = next
      coming.shift()
    }
    this.#named = new Set(named.map(({ id }) => id))
    this.begin()
    return this.#named
  }

  #keepMost(): void {
    this.#coming.sort(byPicks)
    if (this.#coming.length > this.#most) this.#coming.length = this.#most
  }
}

function byPicks(a: Picked, b: Picked): number {
  return b.picks - a.picks
}
