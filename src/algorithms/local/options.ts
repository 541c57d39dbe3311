import * as v from 'valibot'
import { checkOptions, oneOf, options } from '../../options.js'

/** `local()`: the balancer's `self`; another member where that can't be picked. */
export interface LocalAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'local'
  /** How the others are picked. */
  readonly otherwise: 'random' | 'roundRobin'
}

/** Options of `local`. */
export interface LocalOptions {
  /** How another member is picked where the local one can't be: it drains, is no member, or is excluded. Default `'random'`. */
  otherwise?: 'random' | 'roundRobin' | undefined
}

const localOptions = options({ otherwise: v.optional(oneOf(['random', 'roundRobin']), 'random') })

/**
 * Picks the balancer's `self`, the local process, while it is a member and up; else another one. Use it where what the
 * process does itself costs so much less than a call that load does not matter. Needs `self`: a balancer without it
 * throws OptionError.
 *
 * @throws OptionError
 */
export function local(given: LocalOptions = {}): LocalAlgorithm {
  const { otherwise } = checkOptions('local', given, localOptions)
  return Object.freeze({ kind: 'local', otherwise })
}
