import type { NodeLike } from '../../balancer/node.js'
import { OptionError } from '../../errors.js'
import { hasFields } from '../../fields.js'
import { ignoreRejection, type NotAsync } from '../../rejections.js'
import type { KeptReport, NodeState } from '../../report.js'

/** What is known of a node at this moment. */
export interface CustomReading {
  /** CPU in percent, 0-100, however old; undefined where none is known. */
  readonly cpu: number | undefined
  /** Age of that sample, ms; undefined where none is known. */
  readonly age: number | undefined
  /** Requests in flight by this process, over all balancers and threads of the table. */
  readonly inFlight: number
}

/** What a balancer lends to an algorithm of yours. Its functions may be kept and passed on. */
export interface CustomContext {
  /** The balancer's name. */
  readonly balancer: string
  /** The time by the balancer's clock, ms. */
  readonly now: () => number
  /** A number of at least 0 and below 1, from the balancer's seed. */
  readonly random: () => number
}

/** One pick that is to be made. */
export interface CustomChoice<N extends NodeLike = NodeLike> extends CustomContext {
  /**
   * Who may be picked, at least one: the members that are up, without those that `exclude` names; or of `select(nodes)`
   * the elements that do not drain here.
   */
  readonly nodes: readonly N[]
  /** What is known of one of them, by its index in `nodes`. */
  readonly reading: (index: number) => CustomReading
  /** All that its last reports said, however old, in single precision; what was never said is left out. */
  readonly report: (index: number) => KeptReport
}

/** What became of a member: it came, left, takes work again, or for one of three reasons is sent no more. */
export interface CustomNodeChange<N extends NodeLike = NodeLike> {
  /** What happened to it: it came, it went, or the state that it is in now. */
  readonly kind: 'add' | 'remove' | NodeState
  /** The node, as it was given. */
  readonly node: N
}

/** How the work of a lease went. */
export interface CustomOutcome {
  /** Whether the work succeeded. */
  readonly ok: boolean
  /** What went wrong, if the release said so. */
  readonly error: unknown
  /** Which kind of failure it was, if the release said so. */
  readonly kind: string | undefined
  /** How long it took, ms; undefined if the release did not say. */
  readonly latency: number | undefined
  /** Whether it says nothing of the node, as where the caller gave up. */
  readonly neutral: boolean
}

/**
 * An algorithm of yours: all but `select` may be left out, and other fields are its own. Every call is synchronous.
 *
 * `select` is called once a pick, also for each decision of a `fill`.
 */
export interface CustomPicker<N extends NodeLike = NodeLike> {
  /** For warnings and telemetry. Default `custom`. */
  readonly name?: string | undefined
  /**
   * Called once by each balancer, before the first `onNodeChange`. Not async. `createBalancer` throws what this throws.
   */
  init?(context: CustomContext): NotAsync
  /**
   * Picks one of `choice.nodes`: its index there, or the node, or its id; or undefined for none, which is as though there
   * were no node. Anything else counts in `badPicks`, is warned of once, and a random one of `choice.nodes` is picked.
   * What it throws, the caller of `select`, `acquire` and so on gets, and nothing was picked.
   */
  select(choice: CustomChoice<N>): number | N | string | undefined
  /** Told of each change of the members, the first ones too. Not async. What it throws counts in `hookErrors` and is warned of once, as does the rejection of a promise that it returns all the same. */
  onNodeChange?(change: CustomNodeChange<N>): NotAsync
  /** Told of each lease that is released. Not async. What it throws counts in `hookErrors` and is warned of once, as does the rejection of a promise that it returns all the same. */
  onRelease?(node: N, outcome: CustomOutcome): NotAsync
}

/** `custom()`: what picks is the user's. Can't be posted. */
export interface CustomAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'custom'
  /** Gives what picks for one balancer. Throws OptionError. */
  readonly make: () => CustomPicker
}

const hooks = ['init', 'onNodeChange', 'onRelease'] as const

/**
 * An algorithm of your own, with the members, leases, draining and counters of the others. Give a function where it
 * keeps state, so that each balancer gets one of its own.
 *
 * It runs in TypeScript whatever the `engine`, once a pick, so that its picks cost what it costs. A balancer with it has
 * no `handle()`: functions can't be posted to a thread.
 *
 * @example
 * ```ts
 * const stickiest = custom({ select: ({ nodes }) => nodes[0] })
 *
 * const idlestOfThree = custom(() => {
 *   let picks = 0
 *   return {
 *     name: 'idlest of three',
 *     select({ nodes, reading, random }) {
 *       picks++
 *       const drawn = [0, 1, 2].map(() => Math.floor(random() * nodes.length))
 *       return drawn.reduce((a, b) => (reading(a).inFlight <= reading(b).inFlight ? a : b))
 *     },
 *   }
 * })
 * ```
 * @throws OptionError
 */
export function custom<N extends NodeLike = NodeLike>(
  given: CustomPicker<N> | (() => CustomPicker<N>),
): CustomAlgorithm {
  if (typeof given === 'function') return Object.freeze({ kind: 'custom', make: () => checkPicker(given()) })
  const picker = checkPicker(given)
  return Object.freeze({ kind: 'custom', make: () => picker })
}

function checkPicker<N extends NodeLike>(picker: CustomPicker<N>): CustomPicker {
  if (!hasFields(picker)) {
    ignoreRejection(picker)
    throw new OptionError('custom', picker, 'an object with select(choice), or a function that makes one')
  }
  const { name, select } = picker
  if (typeof select !== 'function') throw new OptionError('custom.select', select, 'a function')
  if (name !== undefined && (typeof name !== 'string' || name === '')) {
    throw new OptionError('custom.name', name, 'a string that is not empty')
  }
  for (const hook of hooks) {
    const value = picker[hook]
    if (value !== undefined && typeof value !== 'function')
      throw new OptionError(`custom.${hook}`, value, 'a function')
  }
  // It is only ever given nodes of the balancer that it was written for.
  return picker
}
