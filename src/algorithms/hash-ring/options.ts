import * as v from 'valibot'
import { OptionError } from '../../errors.js'
import type { HashName } from '../../keys/key-hash.js'
import { checkOptions, method, number, options, whole } from '../../options.js'
import type { NodeKey } from '../keyed.js'
import { hashOption, MOST_POINTS } from '../keyed.js'
import { type Weights, weightsOption } from '../weights.js'

/** `hashRing()`: the node that comes next on a ring. */
export interface HashRingAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'hashRing'
  /** Points of a node of weight 1. */
  readonly points: number
  /** How keys and nodes are hashed. */
  readonly hash: HashName
  /** What a node may have in flight, in means; undefined: any number. */
  readonly boundedLoad: number | undefined
  /** Fixed weights by the nodes' keys. */
  readonly weights: Weights | undefined
  /** The key of a node; undefined: its own, or its id. Other threads receive the keys, not this function. */
  readonly keyOf?: NodeKey | undefined
}

/** Options of `hashRing`. */
export interface HashRingOptions<N = unknown> {
  /**
   * Points of a node on the ring, 1 to 10,000. More make shares more even, and take 8 bytes each and about 4 for the
   * index: the standard deviation of a node's share is 1 / sqrt(points) of it, 8 % at 160. All nodes together may have
   * 2^27; picks by key of a balancer with more throw TableError. Default 160.
   */
  points?: number | undefined
  /** What hashes keys and ids. Default `'murmur3'`. */
  hash?: HashName | undefined
  /**
   * Keeps a node below so many times the mean of what is in flight, at least 1: a node takes no more than
   * `ceil(boundedLoad * (in flight + 1) / members that are up)`, with weights its part of that, and keys walk on to the
   * next one that is below its own. In flight are the open leases of this balancer alone, also those at nodes that
   * drain or have left. Default: no bound.
   */
  boundedLoad?: number | undefined
  /**
   * Fixed weights by node key, which is the id of a node that has no other: a node of weight 2 has twice the points, 0 is never
   * picked; one that is not named weighs 1. A weight above 0 gives at least one point, and at most 100,000. Default: all 1.
   */
  weights?: Weights | undefined
  /**
   * What a node is known by among keys, in place of its id: a string of 1 to 1,024 characters that stays the same when the
   * node's address changes, such as the name of a StatefulSet's pod. Of several members with one key the one that joined
   * last gets its keys. Called with each node as it becomes a member; `weights` go by it. Default: the node's `key` where
   * it is an object that has one, else its id.
   */
  keyOf?: NodeKey<N> | undefined
}

const hashRingOptions = options({
  points: v.optional(whole(1, 10_000), 160),
  hash: hashOption,
  boundedLoad: v.optional(number(1)),
  weights: weightsOption,
  keyOf: v.optional(method<NodeKey>()),
})

/**
 * Picks by a key: the same node for the same key for as long as that node is up, in every process that has the same
 * members (consistent hashing, Karger et al. 1997; bounded loads, Mirrokni et al. 2018). Where a node leaves or drains
 * its own keys alone move, and where one joins it takes what it gets from all others alike. Without a key a pick is
 * uniformly random, and counted as `keyless`.
 *
 * Use it where a node that knows a key is faster than one that does not: caches, sessions, sharded state. It listens to
 * no report: a key that is asked for more than others makes its node busier, unless `boundedLoad` is given.
 *
 * @example
 * ```ts
 * const balancer = createBalancer({ nodes, algorithm: hashRing({ boundedLoad: 1.25 }) })
 * const node = balancer.select({ key: 'user-4711' })
 * const [first, second] = balancer.replicas('user-4711', 2)
 * ```
 * @throws OptionError
 */
export function hashRing<N = unknown>(given: HashRingOptions<N> = {}): HashRingAlgorithm {
  const { points, hash, boundedLoad, weights, keyOf } = checkOptions('hashRing', given, hashRingOptions)
  const most = MOST_POINTS / points
  for (const [id, weight] of Object.entries(weights ?? {})) {
    if (weight > most) throw new OptionError(`hashRing.weights.${id}`, weight, `a number from 0 to ${most}`)
  }
  return Object.freeze({ kind: 'hashRing', points, hash, boundedLoad, weights, ...(keyOf && { keyOf }) })
}
