import * as v from 'valibot'
import { checkOptions, flag, options, whole } from '../../options.js'
import { type Weights, weightsOption } from '../weights.js'

/** `leastConnections()`: the fewest requests in flight among some. */
export interface LeastConnectionsAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'leastConnections'
  /** Members that are compared, at least 1. */
  readonly choices: number
  /** Whether all are compared. */
  readonly exact: boolean
  /** Fixed weights by id. */
  readonly weights?: Weights
}

/** Options of `leastConnections`. */
export interface LeastConnectionsOptions {
  /** Members that are compared at each pick, drawn at random, 1 to 64. Default 2. */
  choices?: number | undefined
  /** Compares all members, whatever their number: a pick is then linear in it. Default false. */
  exact?: boolean | undefined
  /**
   * What a node can take compared with others, by its id, 0 to 1e12: the least (in flight + 1) / weight is picked, so
   * that a node of twice the weight has twice as much in flight. 0: never picked. Not named: 1. Default none.
   */
  weights?: Weights | undefined
}

const leastConnectionsOptions = options({
  choices: v.optional(whole(1, 64), 2),
  exact: v.optional(flag(), false),
  weights: weightsOption,
})

/**
 * Picks the member with the fewest requests in flight of this process, among two drawn at random (or `choices`, or
 * all); ties by chance. Requests count as in flight between `acquire` and `release`, or during `run`, over all
 * balancers and threads of the table: a pick by `select` alone counts for nothing.
 *
 * Use it where this process sends a good part of what the nodes get: then what it has in flight tells at once who is
 * slow, and no report is needed. Never herds. Where many clients send little each, the counts say nothing, and it is
 * `random()`.
 *
 * @throws OptionError
 */
export function leastConnections(given: LeastConnectionsOptions = {}): LeastConnectionsAlgorithm {
  const { choices, exact, weights } = checkOptions('leastConnections', given, leastConnectionsOptions)
  return Object.freeze({ kind: 'leastConnections', choices, exact, ...(weights && { weights }) })
}
