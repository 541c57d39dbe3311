import type { Algorithm } from '../algorithms/registry.js'
import type { EngineName } from '../engine/engine.js'
import type { Key } from '../keys/key-hash.js'
import type { ServeOptions } from '../live/options.js'
import type { LiveServer } from '../live/server.js'
import type { NodeMeter } from '../meter/node-meter.js'
import type { NodeMeterOptions } from '../meter/options.js'
import type { Readiness } from '../poller/poller.js'
import type { PlacedTold } from '../poller/told.js'
import type { Report } from '../report.js'
import type { Explanation } from './explain.js'
import type { BalancerHandle } from './handle.js'
import type { Observed, ObserveOptions } from './in-band.js'
import type { Lease } from './lease.js'
import type { NodeLike } from './node.js'
import type { ReportSource } from './report-headers.js'
import type { RetryBudget } from './retry-budget.js'
import type { RunOptions, Work } from './run.js'
import type { SelectOptions } from './select-options.js'
import type { NodeSnapshot } from './snapshot.js'
import type { BalancerStats } from './stats.js'

/**
 * Picks among members, from what is known of them: what balancers and attached balancers have in common.
 */
export interface Picker<N extends NodeLike = NodeLike> {
  /** The balancer's name, as telemetry has it. */
  readonly name: string
  /** How it picks. */
  readonly algorithm: Algorithm
  /** The engine in use. */
  readonly engine: EngineName
  /** The members' nodes; frozen, and another array after each change. `selectIndex` and `fill` index it. */
  readonly nodes: readonly N[]
  /** The nodes that may be picked now: not those that drain, are down, ejected or in reserve. Another array after each change. */
  readonly available: readonly N[]
  /** Limits retries: of `run`, of all dispatchers over this balancer, and of your own. */
  readonly retryBudget: RetryBudget
  /** Whether `close` was called, or of an attached balancer the balancer's. */
  readonly closed: boolean

  /**
   * One of the members, for the next call.
   *
   * @example
   * ```ts
   * const node = balancer.select()
   * const response = await fetch(`http://${node}/`) // as anywhere
   * ```
   * @throws NoNodesError where there is none to pick
   * @throws UnknownLoadError where the algorithm was told to fail
   * @throws TableError where `hashRing` would have more than 2^27 points
   * @throws ClosedError
   * @category Pick
   */
  select(): N
  /**
   * One of the elements of an array, the very one that was passed. Nodes that nobody has heard of count as missing; those
   * that drain here are not picked. An id that stands twice has twice the chances.
   *
   * @throws BadNodeError for an element that is not a node
   * @throws NoNodesError where there is none to pick
   * @throws UnknownLoadError, TableError, ClosedError
   * @category Pick
   */
  select<T extends NodeLike>(nodes: readonly T[]): T
  /**
   * One of the members but some (`exclude`), or the member for a key (`key`), by `hashRing` or `maglev`.
   *
   * @example
   * ```ts
   * const first = balancer.select()
   * const second = balancer.select({ exclude: [first] })
   * ```
   * @throws NoNodesError where there is none to pick
   * @throws BadKeyError, OptionError, UnknownLoadError, TableError, ClosedError
   * @category Pick
   */
  select(options: SelectOptions): N

  /**
   * As `select()`, but undefined where that throws NoNodesError, UnknownLoadError or ClosedError.
   *
   * @throws TableError
   * @category Pick
   */
  trySelect(): N | undefined
  /**
   * As `select(nodes)`, but undefined where that throws NoNodesError, UnknownLoadError or ClosedError.
   *
   * @throws BadNodeError, TableError
   * @category Pick
   */
  trySelect<T extends NodeLike>(nodes: readonly T[]): T | undefined
  /**
   * As `select(options)`, but undefined where that throws NoNodesError, UnknownLoadError or ClosedError.
   *
   * @throws BadKeyError, OptionError, TableError
   * @category Pick
   */
  trySelect(options: SelectOptions): N | undefined

  /**
   * The index in `nodes` of the node for the next call, or -1 where there is none to pick.
   *
   * @throws UnknownLoadError, ClosedError
   * @category Pick
   */
  selectIndex(): number

  /**
   * Fills `into` with the next decisions, as indices of `nodes`: the ones that as many calls of `selectIndex` would
   * give.
   *
   * @returns how many: all, or 0 where there is no node to pick
   * @throws ClosedError
   * @throws UnknownLoadError where one of these calls would: then all are made nonetheless, and `into` has 4,294,967,295
   * in the place of each that failed
   * @category Pick
   */
  fill(into: Uint32Array): number

  /**
   * The member for a key that is hashed already: the one that `select({ key })` gives for a key of this hash.
   *
   * @param hash an unsigned 32-bit number
   * @throws OptionError for anything else, and where the algorithm takes no keys
   * @throws NoNodesError, ClosedError
   * @category Pick
   */
  selectHash(hash: number): N

  /**
   * The nodes for a key and its copies: distinct, the first the one that `select({ key })` gives now, then those that
   * come after it. At most as many as are up; none where no one is. Counts as no pick.
   *
   * @param count how many, a whole number of at least 1
   * @throws OptionError, also where the algorithm takes no keys
   * @throws BadKeyError, ClosedError
   * @category Pick
   */
  replicas(key: Key, count: number): N[]

  /**
   * Resolves when picks by key go by the members as they are now: large tables are built in the background. At once
   * where the algorithm takes no keys.
   *
   * @throws ClosedError (rejects)
   * @category Pick
   */
  settled(): Promise<void>

  /**
   * A pick that counts as in flight until it is released. Throws as `select` does.
   *
   * @example
   * ```ts
   * const lease = balancer.acquire()
   * try {
   *   const response = await fetch(`http://${lease.node}/`)
   *   lease.release({ ok: response.ok })
   * } catch (error) {
   *   lease.release({ error })
   * }
   * ```
   * @category Leases
   */
  acquire(options?: SelectOptions): Lease<N>

  /**
   * A lease on a member that was picked before, or by other means: it counts as in flight until it is released, and as
   * no pick.
   *
   * @throws UnknownNodeError, ClosedError
   * @category Leases
   */
  lease(node: NodeLike): Lease<N>

  /**
   * Picks a node, runs `work` with it and releases it with the outcome: how long it took, and whether it failed.
   *
   * What `work` throws counts as a failure of the node, but for: an `AbortError`; anything once `signal` is aborted; an idle
   * connection that the server had closed; an HTTP/2 stream that it refused; and what `setOutcome` says otherwise. So throw
   * what is the node's fault, such as a status of 500, and not a 404.
   *
   * With `attempts` above 1 failures, closed connections and refused streams are retried on another node, within `retryBudget`.
   *
   * @example
   * ```ts
   * const text = await balancer.run(
   *   async (node, { signal }) => {
   *     const response = await fetch(`http://${node}/`, { signal })
   *     if (response.status >= 500) throw new Error(`status ${response.status}`)
   *     return response.text()
   *   },
   *   { attempts: 2, signal: AbortSignal.timeout(2_000) },
   * )
   * ```
   * @returns what `work` returns. Rejects with what the last attempt threw, as it is
   * @throws what `select` throws, and the reason of `signal` where it is aborted already (rejects)
   * @category Leases
   */
  run<R>(work: Work<N, R>, options?: RunOptions): Promise<R>

  /**
   * Takes a report of a member, as though it had been polled. The very next pick of this thread sees it. What it says of
   * the node's state, weight and most requests in flight stays until told anew, each by itself, whatever the age.
   *
   * @returns whether any of it was stored: false where later samples are known of all that it says, the node is not a
   * member (it may just have left), there is nothing in it that is kept, or the balancer is closed
   * @throws BadReportError
   * @category Reports
   */
  report(node: NodeLike, report: Report): boolean

  /**
   * Takes a member's report off its response: the header `endpoint-load-metrics-bin`, else `endpoint-load-metrics`. Picks
   * see it within `coalesce` ms, and what it says of the node's state, weight and most requests in flight at once.
   *
   * @example
   * ```ts
   * const node = balancer.select()
   * const response = await fetch(`http://${node}/`)
   * balancer.observe(node, response.headers)
   * ```
   * @param source headers or trailers: an object by names in lower case, `Headers`, a `Map`, grpc-js `Metadata`, or
   * names and values in turn; undefined where there are none
   * @returns what became of the report. What is wrong with it is counted in `stats().inBand`, told on
   * `idlest:report:error` and warned of once a node and header, never thrown. Unknown fields are ignored,
   * counted, and warned of once a node.
   * @throws OptionError for what can hold no headers, for a misspelt option, and where `stripHeader` may not change them
   * @category Reports
   */
  observe(node: NodeLike, source: ReportSource | undefined | null, options?: ObserveOptions): Observed

  /**
   * Makes this thread a member's: a meter of its own queue, which picks on every thread of the table see, without any
   * polling. The node is this thread's until the last of its meters here is closed, the thread ends, or it hangs for longer
   * than the algorithm's `ttl` (10 s where it has none) and another thread registers.
   *
   * @example
   * ```ts
   * const queue = attachBalancer(workerData.handle).meter('worker-3')
   * parentPort?.on('message', ({ job, sent }) => queue.run(() => work(job), Date.now() - sent))
   * ```
   * @throws NodeTakenError where another thread has the node, or this one has a meter of the same metric
   * @throws TableError where the table keeps four other named metrics
   * @throws OptionError, UnknownNodeError, ClosedError
   * @category Reports
   */
  meter(node: NodeLike, options?: NodeMeterOptions): NodeMeter

  /**
   * What is known of each member now, in the order of `nodes`; none once it is closed. Takes about 4 ms of the thread for
   * 1,000 members: for thousands see `snapshotParts`.
   *
   * @category Look
   */
  snapshot(): NodeSnapshot<N>[]

  /**
   * What `snapshot` gives, in parts, for thousands of members: let the event loop turn between two parts. Members are those
   * at the first part. Values of a member are read when its part is taken. It ends early when the balancer is closed.
   *
   * @example
   * ```ts
   * for (const nodes of balancer.snapshotParts()) {
   *   for (const { id, cpu } of nodes) console.log(id, cpu)
   *   await new Promise(setImmediate)
   * }
   * ```
   * @param size members in a part, at least 1. Default 64
   * @throws OptionError
   * @category Look
   */
  snapshotParts(size?: number): IterableIterator<readonly NodeSnapshot<N>[]>

  /**
   * Why each member would or would not be picked now, in words and data, in the order of `nodes`.
   *
   * @throws ClosedError
   * @category Look
   */
  explain(): Explanation<N>[]
  /**
   * Why this member would or would not be picked now, in words and data.
   *
   * @example
   * ```ts
   * const { words } = balancer.explain('10.0.0.1:8080') // 'not picked: report is 12 s old, ttl is 10 s'
   * ```
   * @throws UnknownNodeError, ClosedError
   * @category Look
   */
  explain(node: NodeLike): Explanation<N>

  /**
   * Counters since it was made, of this thread alone.
   *
   * @category Look
   */
  stats(): BalancerStats
}

/**
 * Picks among its members, and polls them. Made by `createBalancer`.
 */
export interface Balancer<N extends NodeLike = NodeLike> extends Picker<N> {
  /**
   * Makes these the members (and `self`). Only the difference is applied: those that stay keep readings, counts and
   * state. Where it throws, it changes nothing.
   *
   * @throws OptionError, BadNodeError, DuplicateNodeError, TableError, ClosedError
   * @category Members
   */
  setNodes(nodes: readonly N[]): void

  /**
   * Adds a member, or takes one up again that `drain` was called for. What the node itself told, such as that it drains,
   * stays.
   *
   * @returns false where it is a member and was not to drain
   * @throws BadNodeError, TableError, ClosedError
   * @category Members
   */
  add(node: N): boolean

  /**
   * Removes a member; leases on it may still be released.
   *
   * @returns false where it is none
   * @throws ClosedError
   * @category Members
   */
  remove(node: NodeLike): boolean

  /**
   * Sends a member no more work. Resolves when no request is in flight at it, from any balancer or thread of the
   * table; or when it is removed or taken up again by `add`. Until then it stays a member.
   *
   * @throws UnknownNodeError, ClosedError (rejects)
   * @category Members
   */
  drain(node: NodeLike): Promise<void>

  /**
   * Resolves after the first complete poll cycle, with how many nodes were polled and how many of them answered; later,
   * with those of the last cycle. It does not reject where all polls failed: compare the two. Until it resolves picks by
   * reports are even: for up to `startupJitter + timeout`. A balancer that polls nobody is ready at once, with
   * `{ nodes: 0, answered: 0 }`. With a discovery it first waits for the first nodes, however long that takes.
   *
   * @throws ClosedError (rejects) where the balancer is closed, or is closed before it is ready
   * @category Life
   */
  ready(): Promise<Readiness>

  /**
   * Something to post to a worker thread, for `attachBalancer`. The balancer there picks from the same table with an
   * engine of its own, follows the members here, and closes with this one.
   *
   * @throws OptionError where the algorithm is `custom`: functions can't be posted
   * @throws ClosedError
   * @category Threads
   */
  handle(): BalancerHandle

  /**
   * Shows this balancer as it runs: a page at `url`, the same as one JSON document at `/snapshot`, and as a stream of
   * server-sent events at `/stream`, which `openFeed` reads. On loopback unless told otherwise. Costs nothing while nobody
   * looks; else one look an interval, however many do. Does not keep the process alive, and ends with the balancer.
   *
   * @example
   * ```ts
   * const { url } = await balancer.serve({ port: 9090 })
   * ```
   * @throws OptionError, ListenError, ClosedError (rejects)
   * @category Look
   */
  serve(options?: ServeOptions): Promise<LiveServer>

  /** @internal Takes what a poller heard that nodes told of themselves. */
  told(list: readonly PlacedTold[]): void

  /**
   * Stops polling, lets go of all members, and ends those who wait. Picks throw ClosedError from now on. Safe to call
   * again.
   *
   * @category Life
   */
  close(): Promise<void>

  /**
   * As `close`, for `await using`.
   *
   * @category Life
   */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Picks on this thread for a balancer of another one: the same table and members, an engine of its own. Its nodes are
 * ids. Made by `attachBalancer`.
 */
export interface AttachedBalancer extends Picker<string> {
  /**
   * Lets go of the balancer; it goes on without this thread.
   *
   * @category Life
   */
  close(): void

  /**
   * As `close`, for `using`.
   *
   * @category Life
   */
  [Symbol.dispose](): void
}
