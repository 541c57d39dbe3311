import * as v from 'valibot'
import { idOf, looseId, type NodeLike } from '../balancer/node.js'
import type { Clock } from '../clock.js'
import { OptionError, reasonOf } from '../errors.js'
import { checkOptions, clockSchema, milliseconds, options, text } from '../options.js'
import { processClock } from '../process-clock.js'
import { Spaced } from '../spaced.js'
import { Discovery } from './discovery.js'
import type { Finder, Look } from './finder.js'
import { foundOf, rankOf } from './found.js'

/** All nodes as they are now; or who comes and who goes, where who comes replaces a node of the same id. */
export type NodeEvent<N extends NodeLike = NodeLike> =
  | readonly N[]
  | { readonly add?: readonly N[]; readonly remove?: readonly NodeLike[] }

/** Options of `eventDiscovery`. */
export interface EventDiscoveryOptions {
  /** Least time between two changes that are passed on, ms; 0: each at once. Default 50. */
  coalesce?: number | undefined
  /** For telemetry and warnings. Default `events`. */
  name?: string | undefined
  /** Where time comes from. Default the process's. */
  clock?: Clock | undefined
}

const eventOptions = options({
  coalesce: v.optional(milliseconds(0), 50),
  name: v.optional(text(), 'events'),
  clock: v.optional(clockSchema, () => processClock),
})

/**
 * Nodes by events, such as those of a watch on a registry.
 *
 * It is read from once somebody follows the discovery, and until `close`. Unlike an answer of DNS, an empty list is
 * believed: it was said on purpose. When the events end or throw, the nodes stay.
 *
 * Nodes are ids or objects with an `id`, of which `weight` and `priority` are read. An event that makes no sense changes
 * nothing.
 *
 * @example
 * ```ts
 * async function* watch() {
 *   yield ['10.0.0.1:8080']
 *   yield { add: ['10.0.0.2:8080'] }
 * }
 * const discovery = eventDiscovery(watch())
 * const balancer = createBalancer({ nodes: discovery })
 * ```
 * @throws OptionError
 */
export function eventDiscovery<N extends NodeLike>(
  events: AsyncIterable<NodeEvent<N>>,
  given: EventDiscoveryOptions = {},
): Discovery<N> {
  if (typeof events !== 'object' || events === null || !(Symbol.asyncIterator in events)) {
    throw new OptionError('events', events, 'an async iterable, such as what an async function* returns')
  }
  const { name, clock, coalesce } = checkOptions('eventDiscovery', given, eventOptions)
  return new Discovery<N>(name, (onLook) => new EventFinder(events, clock, coalesce, onLook))
}

/** The share of the time that may go by with passing changes on. */
const MOST_SHARE = 0.05

class EventFinder<N extends NodeLike> implements Finder {
  readonly #events: AsyncIterable<NodeEvent<N>>
  readonly #onLook: (look: Look<N>) => void
  readonly #soon: Spaced
  #nodes = new Map<string, N>()
  #iterator: AsyncIterator<NodeEvent<N>> | undefined
  #closed = false
  // Events that were not passed on yet.
  #waiting = 0

  constructor(
    events: AsyncIterable<NodeEvent<N>>,
    clock: Clock,
    coalesce: number,
    onLook: (look: Look<N>) => void,
  ) {
    this.#events = events
    this.#onLook = onLook
    this.#soon = new Spaced(() => this.#pass(), clock, coalesce, MOST_SHARE)
  }

  start(): void {
    if (this.#iterator === undefined) this.#read()
  }

  // Events come when they come.
  hasten(): void {}

  // They could not be read again from where they were left.
  stop(): void {}

  close(): void {
    this.#closed = true
    this.#soon.close()
    // Whatever comes of it: nobody listens any more.
    this.#iterator?.return?.()?.then(undefined, () => {})
  }

  async #read(): Promise<void> {
    try {
      const iterator = this.#events[Symbol.asyncIterator]()
      this.#iterator = iterator
      for (;;) {
        const { value, done } = await iterator.next()
        if (this.#closed) return
        if (done === true) break
        this.#take(value)
      }
      this.#end('the events have ended')
    } catch (error) {
      this.#end(`the events have ended: ${reasonOf(error)}`, error)
    }
  }

  #take(event: NodeEvent<N>): void {
    try {
      this.#apply(event)
    } catch (error) {
      const reason = `an event that makes no sense: ${reasonOf(error)}`
      this.#onLook({ problems: [{ kind: 'invalid', reason, error }] })
      return
    }
    this.#waiting++
    this.#soon.soon()
  }

  #apply(event: NodeEvent<N>): void {
    if (Array.isArray(event)) {
      this.#nodes = new Map(foundOf(event as readonly N[]).map(({ id, node }) => [id, node]))
      return
    }
    const { add = [], remove = [] } = Object(event) as Exclude<NodeEvent<N>, readonly N[]>
    const isChange = typeof event === 'object' && event !== null && ('add' in event || 'remove' in event)
    if (!isChange || !Array.isArray(add) || !Array.isArray(remove)) {
      throw new OptionError('event', event, 'an array of nodes, or { add, remove } with arrays of nodes')
    }
    // All or nothing.
    const added = add.map((node: N): [string, N] => {
      rankOf(node)
      return [idOf(node), node]
    })
    for (const node of remove) this.#nodes.delete(looseId(node) as string)
    for (const [id, node] of added) this.#nodes.set(id, node)
  }

  #pass(): void {
    const looks = this.#waiting
    this.#waiting = 0
    this.#onLook({ nodes: [...this.#nodes.values()], looks })
  }

  #end(reason: string, error?: unknown): void {
    if (!this.#closed) this.#onLook({ looks: 0, problems: [{ kind: 'failed', reason, error }] })
  }
}
