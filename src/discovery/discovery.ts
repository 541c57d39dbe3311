import { keptAlive } from '../balancer/keep-alive.js'
import type { NodeLike } from '../balancer/node.js'
import type {
  DiscoveryCounters,
  DiscoveryProblem,
  Following,
  FoundNode,
  NodeFollower,
  NodeSource,
} from '../balancer/node-source.js'
import { ClosedError, reasonOf } from '../errors.js'
import { publishDiscovered, publishDiscoveryProblem } from '../telemetry.js'
import { warn } from '../warn.js'
import type { Finder, Look, Problem } from './finder.js'
import { foundOf } from './found.js'

/**
 * Finds nodes and follows how they change. It looks while somebody follows it: balancers made with
 * `createBalancer({ nodes: discovery })`, and loops over it, which get all nodes after each change.
 *
 * What can't be used changes nothing: the nodes found before stay, the problem is counted, told on
 * `idlest:discovery:problem` and warned of (`IDLEST_DISCOVERY`): each kind once, until a look goes well.
 *
 * @example
 * ```ts
 * const discovery = dnsDiscovery({ hostname: 'api.example', port: 8080 })
 * for await (const nodes of discovery) console.log(nodes.map(({ id }) => id))
 * ```
 */
export class Discovery<N extends NodeLike = NodeLike> implements NodeSource<N>, AsyncIterable<readonly N[]> {
  /** What is looked at, for telemetry and warnings. */
  readonly name: string
  readonly #finder: Finder
  readonly #followers = new Set<NodeFollower<N>>()
  // Called at the end.
  readonly #waiting = new Set<() => void>()
  readonly #warned = new Set<DiscoveryProblem>()
  readonly #problems = { empty: 0, notFound: 0, timeout: 0, failed: 0, invalid: 0 }
  readonly #counters = { looks: 0, changes: 0, added: 0, removed: 0, asked: 0 }
  #nodes: readonly N[] = Object.freeze([])
  #list: readonly FoundNode<N>[] = []
  // By id; undefined before any is known.
  #found: ReadonlyMap<string, FoundNode<N>> | undefined
  #closed = false

  /**
   * @internal use `dnsDiscovery`, `fileDiscovery` or `eventDiscovery`
   * @param finder makes what looks, which tells of each look
   */
  constructor(name: string, finder: (onLook: (look: Look<N>) => void) => Finder) {
    this.name = name
    this.#finder = finder((look) => this.#take(look))
  }

  /** The nodes that were found last; frozen, another array after each change. Empty before any is known. */
  get nodes(): readonly N[] {
    return this.#nodes
  }

  /** Counters since it was made. */
  stats(): DiscoveryCounters {
    return { ...this.#counters, nodes: this.#nodes.length, problems: { ...this.#problems } }
  }

  /**
   * Resolves with the nodes as soon as any are known, however long that takes, and looks for them if nobody else has it
   * do so.
   *
   * @throws ClosedError (rejects)
   */
  async ready(): Promise<readonly N[]> {
    const iterator = this[Symbol.asyncIterator]()
    try {
      const { value, done } = await keptAlive(iterator.next())
      if (done === true) throw new ClosedError(`discovery ${this.name}`)
      return value
    } finally {
      await iterator.return(undefined)
    }
  }

  /** Asks for a look soon: at once, or as soon as the least time since the last one allows. */
  refresh(): void {
    if (this.#closed || this.#followers.size === 0) return
    this.#counters.asked++
    this.#finder.hasten()
  }

  /**
   * Tells a follower of the nodes: before this returns where they are known, and after each change.
   *
   * @throws ClosedError
   */
  follow(follower: NodeFollower<N>): Following {
    if (this.#closed) throw new ClosedError(`discovery ${this.name}`)
    this.#followers.add(follower)
    if (this.#found !== undefined) follower.take(this.#list)
    if (this.#followers.size === 1) this.#finder.start()
    return {
      failing: () => this.refresh(),
      counters: () => this.stats(),
      end: () => {
        if (this.#followers.delete(follower) && this.#followers.size === 0) this.#finder.stop()
      },
    }
  }

  /** All nodes as soon as any are known, and after each change; changes that come faster than they are taken are one. */
  async *[Symbol.asyncIterator](): AsyncGenerator<readonly N[], undefined, undefined> {
    let last: readonly N[] = []
    let wake = () => {}
    const following = this.follow({ take: () => wake() })
    try {
      while (!this.#closed) {
        if (this.#found !== undefined && this.#nodes !== last) {
          last = this.#nodes
          yield last
          continue
        }
        await new Promise<void>((resolve) => {
          wake = resolve
          this.#waiting.add(resolve)
        })
        this.#waiting.delete(wake)
      }
    } finally {
      following.end()
    }
    return undefined
  }

  /** Looks no more, and ends loops over it. Balancers that follow it keep their members. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#followers.clear()
    this.#finder.close()
    for (const wake of this.#waiting) wake()
  }

  /** As `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #take({ nodes, problems = [], looks = 1 }: Look<N>): void {
    if (this.#closed) return
    this.#counters.looks += looks
    const wrong = [...problems]
    try {
      if (nodes !== undefined) this.#change(nodes)
    } catch (error) {
      wrong.push({ kind: 'invalid', reason: reasonOf(error), error })
    }
    if (wrong.length === 0) this.#warned.clear()
    for (const problem of wrong) this.#tell(problem)
  }

  #change(nodes: readonly N[]): void {
    const before = this.#found
    const added: string[] = []
    let isOther = before === undefined || before.size !== nodes.length
    const found = foundOf(nodes).map((one) => {
      const known = before?.get(one.id)
      if (known === undefined) added.push(one.id)
      else if (known.node === one.node && known.tier === one.tier && known.part === one.part) return known
      isOther = true
      return one
    })
    if (!isOther) return
    const next = new Map<string, FoundNode<N>>()
    for (const one of found) next.set(one.id, one)
    const removed = [...(before?.keys() ?? [])].filter((id) => !next.has(id))
    const counters = this.#counters
    counters.changes++
    counters.added += added.length
    counters.removed += removed.length
    this.#found = next
    this.#list = found
    this.#nodes = Object.freeze(nodes.slice())
    publishDiscovered({ discovery: this.name, nodes: found.length, added, removed })
    for (const follower of [...this.#followers]) follower.take(found)
  }

  #tell({ kind, reason, error }: Problem): void {
    this.#problems[kind]++
    publishDiscoveryProblem({ discovery: this.name, kind, reason, error })
    if (this.#warned.has(kind)) return
    this.#warned.add(kind)
    const kept = this.#nodes.length
    const effect = kept === 0 ? 'no nodes are known' : `the ${kept} known stay`
    warn(`${this.name}: ${reason}; ${effect}`, 'IDLEST_DISCOVERY')
  }
}
