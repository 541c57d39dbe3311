import * as v from 'valibot'
import type { HashName } from '../../keys/key-hash.js'
import { checkOptions, method, options } from '../../options.js'
import type { NodeKey } from '../keyed.js'
import { hashOption, isTableSize, MOST_CELLS } from '../keyed.js'
import { type Weights, weightsOption } from '../weights.js'

/** `maglev()`: the node in a cell of a table. */
export interface MaglevAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'maglev'
  /** Cells: a prime number. */
  readonly tableSize: number
  /** How keys and nodes are hashed. */
  readonly hash: HashName
  /** Fixed weights by the nodes' keys. */
  readonly weights: Weights | undefined
  /** The key of a node; undefined: its own, or its id. Other threads receive the keys, not this function. */
  readonly keyOf?: NodeKey | undefined
}

/** Options of `maglev`. */
export interface MaglevOptions<N = unknown> {
  /**
   * Cells of the table, a prime number from 3 to 16,777,213, of 4 bytes each. Shares differ by one cell at most, so a
   * hundred times the number of nodes makes them even within 1 %; where there are more nodes than cells, some get no
   * key. Default 65,537.
   */
  tableSize?: number | undefined
  /** What hashes keys and ids. Default `'murmur3'`. */
  hash?: HashName | undefined
  /**
   * Fixed weights by node key, which is the id of a node that has no other: a node of weight 2 has twice the cells, 0 is never picked; one that is not named weighs 1.
   * Default: all 1.
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

const maglevOptions = options({
  tableSize: v.optional(
    v.custom<number>(
      isTableSize,
      `a prime number from 3 to ${MOST_CELLS}, such as 251, 4093, 65537 or 655373`,
    ),
    65_537,
  ),
  hash: hashOption,
  weights: weightsOption,
  keyOf: v.optional(method<NodeKey>()),
})

/**
 * Picks by a key, as `hashRing` does, from a table that gives every node as many cells as every other (Maglev, Eisenbud
 * et al. 2016): shares are even, and a pick is one look at the table. The price: where a node joins, leaves or drains, a
 * few keys of the others move too. Without a key a pick is uniformly random, and counted as `keyless`.
 *
 * Use it where a node that knows a key is faster, but may have to learn some anew; `hashRing` where that is dear.
 *
 * @throws OptionError
 */
export function maglev<N = unknown>(given: MaglevOptions<N> = {}): MaglevAlgorithm {
  const { tableSize, hash, weights, keyOf } = checkOptions('maglev', given, maglevOptions)
  return Object.freeze({ kind: 'maglev', tableSize, hash, weights, ...(keyOf && { keyOf }) })
}
