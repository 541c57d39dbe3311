import type { Generator } from '../../dist/engine/portable/generator.js'

/** Which nodes are compared at a pick. */
export interface Comparing {
  /** All, where there are at most so many. */
  readonly all: number
  /** Else those of the least cost, */
  readonly cheapest: number
  /** those that ran empty last, */
  readonly emptied: number
  /** and some at random. */
  readonly drawn: number
}

/** The nodes that a pick compares: a bounded number, whatever their number in all. */
export class Candidates {
  /** Filled by `gather`; some may be there twice. */
  readonly nodes: Int32Array
  /** Room for what they score. */
  readonly scores: Float64Array
  readonly #rules: Comparing
  readonly #generator: Generator
  readonly #members: readonly number[]
  #cheapest: readonly number[] = []
  #emptied: number[] = []
  #oldest = 0

  /** @param members whoever changes them calls `changed` */
  constructor(rules: Comparing, generator: Generator, members: readonly number[]) {
    const most = Math.max(rules.all, rules.cheapest + rules.emptied + rules.drawn)
    this.#rules = rules
    this.#generator = generator
    this.#members = members
    this.nodes = new Int32Array(most)
    this.scores = new Float64Array(most)
  }

  /** Says how many there are. */
  gather(): number {
    const members = this.#members
    const all = members.length <= this.#rules.all
    let count = 0
    if (all) for (const node of members) this.nodes[count++] = node
    else {
      for (const node of this.#cheapest) this.nodes[count++] = node
      for (const node of this.#emptied) this.nodes[count++] = node
      for (let k = 0; k < this.#rules.drawn; k++) {
        this.nodes[count++] = members[this.#generator.below(members.length)] as number
      }
    }
    return count
  }

  /** A node has nothing of this process's in flight any more. */
  emptied(node: number): void {
    if (this.#members.length <= this.#rules.all || !this.#members.includes(node)) return
    this.#emptied[this.#oldest] = node
    this.#oldest = (this.#oldest + 1) % this.#rules.emptied
  }

  /** Costs are new. */
  order(cost: Float64Array): void {
    if (this.#members.length <= this.#rules.all) return
    const by = (a: number, b: number) => (cost[a] as number) - (cost[b] as number)
    this.#cheapest = [...this.#members].sort(by).slice(0, this.#rules.cheapest)
  }

  /** Members are others. */
  changed(): void {
    this.#cheapest = []
    this.#emptied = []
    this.#oldest = 0
  }
}
