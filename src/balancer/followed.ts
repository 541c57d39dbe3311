import type { Clock } from '../clock.js'
import { ClosedError, TableError } from '../errors.js'
import { Spaced } from '../spaced.js'
import { warn } from '../warn.js'
import type { Member } from './member.js'
import type { Members } from './members.js'
import type { NodeLike } from './node.js'
import type { DiscoveryCounters, Following, FoundNode, NodeSource } from './node-source.js'

export interface FollowedOptions<N extends NodeLike> {
  readonly source: NodeSource<N>
  /** The balancer's name. */
  readonly name: string
  readonly members: Members<N>
  readonly clock: Clock
  /** Least time between two changes, ms; 0: each at once. */
  readonly spacing: number
  /** The id of the local node, which stays whatever is found. */
  readonly self: string | undefined
  /** Called after the members were changed, with those who left. */
  readonly onChange: (left: readonly Member[]) => void
}

/** The share of the time that may go by with changes: where there are thousands of members, they come together for longer. */
const MOST_SHARE = 0.025

/**
 * Makes what a source finds the members. Only the difference to what it found before is applied: whoever stays keeps its
 * place, and so its readings, counts and turn; members that the source never found stay too. Changes that come fast are
 * taken in together, as each has the next pick look at all members anew.
 */
export class Followed<N extends NodeLike> {
  /** Resolves when the first nodes are members; rejects with ClosedError. */
  readonly first: Promise<void>
  readonly #options: FollowedOptions<N>
  readonly #following: Following
  readonly #soon: Spaced
  // As they came last, and as they were taken in.
  #latest: readonly FoundNode<N>[] = []
  #known = new Map<string, FoundNode<N>>()
  #isFull = false
  #resolve: () => void = () => {}
  #reject: (error: Error) => void = () => {}

  constructor(options: FollowedOptions<N>) {
    this.#options = options
    this.first = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // Nobody needs to wait for it.
    this.first.catch(() => {})
    this.#soon = new Spaced(() => this.#take(), options.clock, options.spacing, MOST_SHARE)
    this.#following = options.source.follow({
      take: (nodes) => {
        this.#latest = nodes
        this.#soon.soon()
      },
    })
  }

  counters(): DiscoveryCounters {
    return this.#following.counters()
  }

  /** Has the source look again soon: a member fails. */
  failing(): void {
    this.#following.failing()
  }

  close(): void {
    this.#soon.close()
    this.#following.end()
    this.#reject(new ClosedError(`balancer ${this.#options.name}`))
  }

  #take(): void {
    const { members, name } = this.#options
    try {
      this.#apply(members)
      this.#isFull = false
    } catch (error) {
      // Nobody called who could be told.
      if (!(error instanceof TableError)) throw error
      if (!this.#isFull) warn(`${name} keeps its members as they were: ${error.message}`, 'IDLEST_TABLE')
      this.#isFull = true
    }
    this.#resolve()
  }

  #apply(members: Members<N>): void {
    const known = this.#known
    const next = new Map<string, FoundNode<N>>()
    const others: FoundNode<N>[] = []
    let stayed = 0
    for (const found of this.#latest) {
      const before = known.get(found.id)
      if (before !== undefined) stayed++
      if (before !== found) others.push(found)
      next.set(found.id, found)
    }
    const left = stayed < known.size ? this.#leaving(next) : []
    const joined = others.filter(({ id }) => !known.has(id) && members.find(id) === undefined)
    let isOther = left.length > 0 || joined.length > 0
    if (isOther) members.change(left, joined)
    this.#known = next
    for (const found of others) {
      const member = members.find(found.id)
      if (member === undefined) continue
      if (member.node !== found.node) {
        members.renew(member, found.node)
        isOther = true
      }
      if (members.rank(member, found)) isOther = true
    }
    if (isOther) this.#options.onChange(left)
  }

  #leaving(next: ReadonlyMap<string, FoundNode<N>>): Member<N>[] {
    const { members, self } = this.#options
    const left: Member<N>[] = []
    for (const id of this.#known.keys()) {
      const member = next.has(id) || id === self ? undefined : members.find(id)
      if (member !== undefined) left.push(member)
    }
    return left
  }
}
