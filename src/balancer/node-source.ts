import type { NodeLike } from './node.js'

/** A node, and how much of the work it is to get by whoever found it. */
export interface FoundNode<N extends NodeLike = NodeLike> {
  /** The node, as it was given. */
  readonly node: N
  /** The node's id. */
  readonly id: string
  /** Which nodes are picked first: those of the lowest tier of which any is up. */
  readonly tier: number
  /** Its part of the picks by that of the others of its tier, 0 (never picked) to 1, which the largest has. */
  readonly part: number
}

/** Why a look for nodes found none that can be used. The nodes found before stay. */
export type DiscoveryProblem =
  /** The answer has nobody in it. */
  | 'empty'
  /** There is no such name, or no such file. */
  | 'notFound'
  /** No answer in time. */
  | 'timeout'
  /** The look failed in another way: a DNS server that refuses, a file that may not be read, events that ended. */
  | 'failed'
  /** What was found makes no sense: half a file, a node twice, a bad weight. */
  | 'invalid'

/** What became of looks for nodes, since the discovery was made. */
export interface DiscoveryCounters {
  /** Nodes that are known now. */
  readonly nodes: number
  /** Looks: lookups, reads of a file, events. */
  readonly looks: number
  /** Looks that found something else than before. */
  readonly changes: number
  /** Nodes that came. */
  readonly added: number
  /** Nodes that went. */
  readonly removed: number
  /** What was wrong, by kind: more than one thing may be in one look. */
  readonly problems: Readonly<Record<DiscoveryProblem, number>>
  /** Looks that were asked for out of turn: a node failed, or somebody called `refresh`. */
  readonly asked: number
}

/** Who is told of nodes as they are found. */
export interface NodeFollower<N extends NodeLike = NodeLike> {
  /**
   * Takes the nodes as they are now, each once. Not called before any is known.
   * @param nodes another array after each change
   */
  take(nodes: readonly FoundNode<N>[]): void
}

/** One who follows a source. */
export interface Following {
  /** Asks for a fresh look soon, since a node fails: it may be gone. */
  failing(): void
  /** What the source has found so far. */
  counters(): DiscoveryCounters
  /** Wants to hear no more. */
  end(): void
}

/** What finds nodes, such as `dnsDiscovery()`, for `createBalancer({ nodes })`. */
export interface NodeSource<N extends NodeLike = NodeLike> {
  /** What was found last; empty before. */
  readonly nodes: readonly N[]
  /** Tells a follower of the nodes: before this returns where they are known, and after each change. */
  follow(follower: NodeFollower<N>): Following
}

/** Whether a value is a source of nodes. */
export function isNodeSource(value: unknown): value is NodeSource {
  return (
    typeof value === 'object' && value !== null && 'follow' in value && typeof value.follow === 'function'
  )
}
