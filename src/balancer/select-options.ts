import * as v from 'valibot'
import { OptionError } from '../errors.js'
import { hasFields } from '../fields.js'
import type { Key } from '../keys/key-hash.js'
import { checkOptions, options } from '../options.js'
import type { NodeLike } from './node.js'

/** What `select`, `trySelect`, `acquire` and `run` take. */
export interface SelectOptions {
  /** Nodes that may not be picked this time, such as those that were tried; unknown ones are ignored. Default: none. */
  exclude?: readonly NodeLike[] | undefined
  /**
   * What to pick by, for `hashRing` and `maglev`: a string, also an empty one, bytes or a finite number. With any other
   * algorithm a key is an OptionError. Default: none.
   */
  key?: Key | undefined
}

const selectOptions = options({ exclude: v.optional(v.unknown()), key: v.optional(v.unknown()) })

/** The nodes that these options exclude; undefined where they name none. Throws OptionError. */
export function excludedBy(given: SelectOptions): readonly NodeLike[] | undefined {
  // What has a key is no list, set or promise by mistake; to look for these takes as long as the pick.
  if (given?.key === undefined && !hasFields(given)) {
    throw new OptionError('select', given, 'an array of nodes, or options such as { exclude: [node] }')
  }
  // A misspelt name would mean that the node which has just failed is picked again. The whole check costs several picks.
  for (const name in given) {
    if (name !== 'key' && name !== 'exclude') checkOptions('select', given, selectOptions)
  }
  const { exclude } = given
  if (exclude !== undefined && !Array.isArray(exclude)) {
    throw new OptionError('exclude', exclude, 'an array of nodes')
  }
  return exclude
}
