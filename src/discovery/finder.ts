import type { NodeLike } from '../balancer/node.js'
import type { DiscoveryProblem } from '../balancer/node-source.js'

/** Something that was wrong with a look. */
export interface Problem {
  readonly kind: DiscoveryProblem
  /** In words, after what was looked at. */
  readonly reason: string
  readonly error?: unknown
}

/** What one look came to: nodes, problems, or both where only a part is wrong. */
export interface Look<N extends NodeLike> {
  /** All that there are now; undefined where that is not known, and those found before stay. */
  readonly nodes?: readonly N[] | undefined
  readonly problems?: readonly Problem[]
  /** How many looks it was. Default 1. */
  readonly looks?: number
}

/** What looks for nodes. */
export interface Finder {
  /** Looks now, or when it would have if it had not been stopped, and from then on. */
  start(): void
  /** Looks soon, but not too soon after the last time. */
  hasten(): void
  /** Looks no more until it is started again. */
  stop(): void
  /** Looks no more, ever. */
  close(): void
}
