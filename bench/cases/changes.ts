import type { FoundNode, NodeFollower, NodeSource } from '../../dist/balancer/node-source.js'
import { type Balancer, createBalancer, createTable, leastCpu } from '../../dist/index.js'
import { type BenchCase, type CaseFamily, consume, UNITS } from '../case.js'
import { engines } from '../engines.js'
import { nodeIds } from '../pool.js'

/** The name of the case that has a bar. */
export const CHANGES = 'select(), 1,000 changes a second'
/** Members that change. */
export const CHANGES_NODES = [1_000, 10_000] as const

/** As balancers take in what a discovery finds: so rarely, ms, and of the time at most so large a share. */
const SPACING = 50
const MOST_SHARE = 0.025
const CHANGES_A_MS = 1

/** A source whose nodes are replaced, the oldest first. */
class Replacing implements NodeSource<string> {
  readonly nodes: readonly string[] = []
  #list: FoundNode<string>[]
  #follower: NodeFollower<string> | undefined
  #next: number
  readonly #ids: readonly string[]

  constructor(nodes: number) {
    this.#ids = nodeIds(2 * nodes)
    this.#next = nodes
    this.#list = this.#ids.slice(0, nodes).map((id) => ({ node: id, id, tier: 0, part: 1 }))
  }

  follow(follower: NodeFollower<string>): ReturnType<NodeSource['follow']> {
    this.#follower = follower
    follower.take(this.#list)
    const problems = { empty: 0, notFound: 0, timeout: 0, failed: 0, invalid: 0 }
    const counters = { nodes: 0, looks: 0, changes: 0, added: 0, removed: 0, asked: 0, problems }
    return { failing: () => {}, counters: () => counters, end: () => {} }
  }

  /** So many nodes leave, and as many others come. */
  replace(count: number): void {
    const list = this.#list.slice()
    for (let i = 0; i < count; i++) {
      const id = this.#ids[this.#next % this.#ids.length] as string
      list[this.#next % list.length] = { node: id, id, tier: 0, part: 1 }
      this.#next++
    }
    this.#list = list
    this.#follower?.take(list)
  }
}

// Picks for as long as it is until the next changes are taken in, these included.
function sampleChanging(source: Replacing, balancer: Balancer<string>): () => number {
  return () => {
    const start = performance.now()
    // Each is one that leaves or one that comes.
    source.replace((SPACING * CHANGES_A_MS) / 2)
    const spacing = Math.max(SPACING, (performance.now() - start) / MOST_SHARE)
    consume(balancer.select().length)
    let picks = 1
    for (; performance.now() - start < spacing; picks += UNITS) {
      let last = ''
      for (let i = 0; i < UNITS; i++) last = balancer.select()
      consume(last.length)
    }
    return (performance.now() - start) / picks
  }
}

/** What picks cost while a discovery finds other nodes all the time. */
export function changesCases(): CaseFamily {
  const balancers: Balancer<string>[] = []
  const cases = CHANGES_NODES.flatMap((nodes) =>
    engines.map((engine): BenchCase => {
      const source = new Replacing(nodes)
      const options = { algorithm: leastCpu(), engine, poll: false, table: createTable(), seed: 1 } as const
      const balancer = createBalancer<string>({ ...options, nodes: source, coalesce: 0 })
      balancers.push(balancer)
      return { name: CHANGES, engine, nodes, iterations: 1, sample: sampleChanging(source, balancer) }
    }),
  )
  return {
    topic: 'changes',
    cases,
    close: async () => {
      for (const balancer of balancers) await balancer.close()
    },
  }
}
