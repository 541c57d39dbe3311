import type { Dispatcher } from 'undici'
import type { NodeLike } from '../../index.js'

/** What sends the requests of one node. */
export interface Upstream<N extends NodeLike> {
  readonly node: N
  readonly origin: string
  readonly dispatcher: Dispatcher
  /** Whether it has as much to do as it takes, until it says 'drain'. */
  isBusy: boolean
}

/** Told of what happens at the nodes' dispatchers. */
export interface UpstreamEvents {
  connect(origin: URL, targets: readonly Dispatcher[]): void
  disconnect(origin: URL, targets: readonly Dispatcher[], error: Error): void
  connectionError(origin: URL, targets: readonly Dispatcher[], error: Error): void
  drain(origin: URL, targets: readonly Dispatcher[]): void
}

export interface UpstreamsOptions<N extends NodeLike> {
  /** Where a node is. */
  readonly originOf: (node: N) => string
  readonly make: (origin: string, node: N) => Dispatcher
  readonly events: UpstreamEvents
}

/** The dispatchers of the nodes: made when a node is first picked, and closed when it has left. */
export class Upstreams<N extends NodeLike> {
  readonly #options: UpstreamsOptions<N>
  readonly #byId = new Map<string, Upstream<N>>()
  // Those that finish what they have begun.
  readonly #leaving = new Set<Dispatcher>()
  #nodes: readonly N[] = []
  #busy = 0

  constructor(options: UpstreamsOptions<N>) {
    this.#options = options
  }

  /** How many there are. */
  get size(): number {
    return this.#byId.size
  }

  /**
   * Whether none of these nodes would begin with another request now.
   * @param available those that may be picked
   */
  areBusy(available: readonly N[]): boolean {
    if (this.#busy === 0 || available.length === 0) return false
    return available.every((node) => this.#byId.get(idOf(node))?.isBusy === true)
  }

  /**
   * Takes in who the members are: who has left is closed, once its requests have ended. Cheap where nothing has changed.
   * @param nodes another array after each change
   */
  follow(nodes: readonly N[]): void {
    if (nodes === this.#nodes) return
    this.#nodes = nodes
    const ids = new Set(nodes.map(idOf))
    for (const [id, upstream] of this.#byId) if (!ids.has(id)) this.#retire(id, upstream)
  }

  /** The one of a node. Throws what the user's functions throw, and OptionError where a node has no origin. */
  of(node: N): Upstream<N> {
    const id = idOf(node)
    const known = this.#byId.get(id)
    if (known !== undefined && known.node === node) return known
    const origin = this.#options.originOf(node)
    // The same node by another object, as discovery gives it anew, keeps its connections unless it has moved.
    const kept = known?.origin === origin ? known.dispatcher : undefined
    if (known !== undefined && kept === undefined) this.#retire(id, known)
    const dispatcher = kept ?? this.#options.make(origin, node)
    const upstream = { node, origin, dispatcher, isBusy: kept !== undefined && known?.isBusy === true }
    this.#byId.set(id, upstream)
    if (kept === undefined) this.#listen(id, dispatcher)
    return upstream
  }

  /** Notes that a node takes no more for now. */
  fill(upstream: Upstream<N>): void {
    if (upstream.isBusy || this.#byId.get(idOf(upstream.node)) !== upstream) return
    upstream.isBusy = true
    this.#busy++
  }

  /** Ends once all requests have. */
  async close(): Promise<void> {
    for (const [id, upstream] of this.#byId) this.#retire(id, upstream)
    await Promise.all([...this.#leaving].map((dispatcher) => closed(dispatcher)))
  }

  /** Ends all requests with an error. */
  async destroy(error: Error): Promise<void> {
    const all = new Set([...this.#leaving, ...[...this.#byId.values()].map(({ dispatcher }) => dispatcher)])
    this.#byId.clear()
    this.#busy = 0
    await Promise.all([...all].map((dispatcher) => dispatcher.destroy(error)))
  }

  #retire(id: string, upstream: Upstream<N>): void {
    const { dispatcher } = upstream
    this.#byId.delete(id)
    this.#free(upstream)
    this.#leaving.add(dispatcher)
    void closed(dispatcher).then(() => this.#leaving.delete(dispatcher))
  }

  #free(upstream: Upstream<N> | undefined): void {
    if (!upstream?.isBusy) return
    upstream.isBusy = false
    this.#busy--
  }

  #listen(id: string, dispatcher: Dispatcher): void {
    const { events } = this.#options
    dispatcher.on('connect', (...event) => events.connect(...event))
    dispatcher.on('disconnect', (...event) => events.disconnect(...event))
    dispatcher.on('connectionError', (...event) => events.connectionError(...event))
    dispatcher.on('drain', (origin: URL, targets: readonly Dispatcher[] = []) => {
      const upstream = this.#byId.get(id)
      if (upstream?.dispatcher === dispatcher) this.#free(upstream)
      events.drain(origin, targets)
    })
  }
}

function idOf(node: NodeLike): string {
  return typeof node === 'string' ? node : node.id
}

// One that is closing or destroyed already has nothing more to close.
async function closed(dispatcher: Dispatcher): Promise<void> {
  try {
    await dispatcher.close()
  } catch {}
}
