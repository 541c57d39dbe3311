import { threadId } from 'node:worker_threads'
import { type Algorithm, weightsOf } from '../algorithms/algorithm.js'
import type { Clock } from '../clock.js'
import { type Engine, type EngineName, unknownDraw } from '../engine/engine.js'
import {
  ClosedError,
  type IdlestError,
  NoNodesError,
  OptionError,
  UnknownLoadError,
  UnknownNodeError,
} from '../errors.js'
import type { NodeMeter } from '../meter/node-meter.js'
import type { NodeMeterOptions } from '../meter/options.js'
import { MeterRegistry } from '../meter/registry.js'
import type { Report } from '../report.js'
import { checkReport } from '../reports/check.js'
import type { TableMemory } from '../table/memory.js'
import { publish } from '../table/reading.js'
import { writeReport } from '../table/report.js'
import { sampleTime, tableTime } from '../table/table.js'
import { publishEmptySelect } from '../telemetry.js'
import { ArrayPicks, type Directory } from './array-picks.js'
import { Lease, type LeaseOwner, newLeaseCounters, type Outcome } from './lease.js'
import { type Member, Members, type Places } from './members.js'
import { idOf, looseId, type NodeLike } from './node.js'
import { newPickCounters, type PickCounters } from './pick-counters.js'
import { Picks } from './picks.js'
import { excludedBy, type SelectOptions } from './select-options.js'
import { type NodeSnapshot, snapshotOf } from './snapshot.js'

export interface PickerOptions {
  readonly name: string
  readonly engine: Engine
  readonly memory: TableMemory
  readonly clock: Clock
  readonly exact: boolean
  readonly algorithm: Algorithm
  readonly seed: readonly [number, number]
  readonly places: Places
  readonly directory: Directory
}

// Keeps the picks from arrays apart from the others, whatever the seed.
const ARRAY_STREAM = 0x9e3779b9

// In place of an index.
const NO_ONE = -1

/** Picks among members, from readings of a table: what balancers and attached balancers have in common. */
export class Picker<N extends NodeLike = NodeLike> {
  readonly name: string
  readonly algorithm: Algorithm
  /** The engine in use. */
  readonly engine: EngineName
  protected readonly members: Members<N>
  protected readonly clock: Clock
  protected readonly memory: TableMemory
  protected closed = false
  protected readonly counters = newPickCounters()
  protected readonly leases: LeaseOwner
  readonly #picks: Picks
  readonly #arrayPicks: ArrayPicks
  readonly #meters: MeterRegistry
  // Whether draws may fail for want of a load.
  readonly #mayFail: boolean
  // As the engine has them: what it was told last.
  #list: readonly Member<N>[] = []
  #nodes: readonly N[] = []
  // Picks by index, taken over by the members now and then: a small array stays in the cache, thousands of members not.
  #counts = new Float64Array(0)

  protected constructor(options: PickerOptions) {
    const { name, engine, memory, clock, exact, algorithm, seed } = options
    this.name = name
    this.engine = engine.name
    this.algorithm = algorithm
    this.clock = clock
    this.memory = memory
    this.#mayFail = algorithm.kind === 'powerOfTwo' && algorithm.unknown === 'fail'
    this.members = new Members(options.places, weightsOf(algorithm))
    this.leases = { memory, leases: newLeaseCounters(), released: (member) => this.onReleased(member) }
    this.#meters = new MeterRegistry(memory, clock, algorithm)
    this.#picks = new Picks({
      core: engine.createCore(memory, algorithm, seed, threadId),
      memory,
      clock,
      exact,
      source: {
        membersChanged: () => {
          this.checkOpen()
          return this.members.stale || this.#list !== this.members.list
        },
        memberArrays: () => {
          this.#countInMembers()
          this.#list = this.members.list
          this.#counts = new Float64Array(this.#list.length)
          this.#nodes = this.members.nodes
          return this.members.arrays
        },
      },
      onUsed: (decisions, count) => this.#count(decisions, count),
    })
    this.#arrayPicks = new ArrayPicks({
      engine,
      memory,
      directory: options.directory,
      algorithm,
      seed: [seed[0], (seed[1] ^ ARRAY_STREAM) >>> 0],
      thread: threadId,
      clock,
      exact,
      check: () => this.checkOpen(),
      out: this.members.out,
      onShown: undefined,
    })
  }

  /** The members' nodes; frozen, and another array after each change. `selectIndex` and `fill` index it. */
  get nodes(): readonly N[] {
    return this.members.nodes
  }

  /**
   * The node for the next call.
   * - without arguments: one of the members
   * - an array of nodes: one of its elements, the very one that was passed. Nodes that nobody has heard of count as
   *   missing; those that drain here are not picked. An id that stands twice has twice the chances.
   * - `exclude`: one of the members but these
   *
   * Throws NoNodesError where there is none to pick, BadNodeError for an element that is not a node, UnknownLoadError where
   * the algorithm was told to fail, ClosedError.
   */
  select(): N
  select<T extends NodeLike>(nodes: readonly T[]): T
  select(options: SelectOptions): N
  select(what?: readonly NodeLike[] | SelectOptions): NodeLike {
    if (what === undefined) {
      const index = this.#picks.next()
      if (index >= 0) return this.#nodes[index] as N
      throw this.#failed(index, this.#nodes)
    }
    const index = this.#indexFrom(what)
    const from = this.#listOf(what)
    const picked = from[index]
    if (picked !== undefined) return picked
    throw this.#failed(index, from)
  }

  /** As `select`, but undefined where that throws NoNodesError, UnknownLoadError or ClosedError. */
  trySelect(): N | undefined
  trySelect<T extends NodeLike>(nodes: readonly T[]): T | undefined
  trySelect(options: SelectOptions): N | undefined
  trySelect(what?: readonly NodeLike[] | SelectOptions): NodeLike | undefined {
    if (this.closed) return undefined
    const index = this.#indexFrom(what)
    const from = this.#listOf(what)
    const picked = from[index]
    if (picked === undefined) this.#failed(index, from)
    return picked
  }

  /** The index in `nodes` of the node for the next call, or -1 where there is none to pick. Throws UnknownLoadError, ClosedError. */
  selectIndex(): number {
    const index = this.#picks.next()
    if (index >= 0) return index
    const error = this.#failed(index, this.#nodes)
    if (error instanceof UnknownLoadError) throw error
    return -1
  }

  /**
   * Fills `into` with the next decisions, as indices of `nodes`: the ones that as many calls of `selectIndex` would
   * give. Returns how many: all, or 0 where there is no node to pick. Throws ClosedError, and UnknownLoadError where one
   * of these calls would: then all are made nonetheless, and `into` has 4,294,967,295 in the place of each that failed.
   */
  fill(into: Uint32Array): number {
    if (!(into instanceof Uint32Array)) throw new OptionError('into', into, 'a Uint32Array')
    // The native engine must not write to memory that another thread may be writing.
    const own = into.buffer instanceof ArrayBuffer ? into : new Uint32Array(into.length)
    const filled = this.#picks.fill(own)
    const error = this.#mayFail ? this.#takeFailed(own, filled) : undefined
    if (own !== into) into.set(own)
    if (error !== undefined) throw error
    if (filled === 0 && into.length > 0) this.#failed(NO_ONE, this.#nodes)
    return filled
  }

  /** A pick that counts as in flight until it is released. Throws as `select` does. */
  acquire(options?: SelectOptions): Lease<N> {
    const index = options === undefined ? this.#picks.next() : this.#nextBut(options)
    if (index < 0) throw this.#failed(index, this.#nodes)
    return new Lease(this.leases, this.#list[index] as Member<N>)
  }

  /**
   * Picks a node, runs `work` with it and releases it with what became of it: its latency, and its error if it throws
   * or rejects, which is passed on.
   */
  async run<R>(work: (node: N) => R | Promise<R>, options?: SelectOptions): Promise<R> {
    if (typeof work !== 'function') throw new OptionError('work', work, 'a function')
    const lease = this.acquire(options)
    const start = this.clock.now()
    const outcome: Outcome = { ok: false }
    try {
      const result = await work(lease.node)
      outcome.ok = true
      return result
    } catch (error) {
      outcome.error = error
      throw error
    } finally {
      outcome.latency = this.clock.now() - start
      lease.release(outcome)
    }
  }

  /**
   * Takes a report of a member, as though it had been polled. The very next pick of this thread sees it.
   * Returns whether any of it was stored: false where later samples are known of all that it says, the node is not a
   * member (it may just have left), there is nothing in it that the table keeps, or the balancer is closed. Throws
   * BadReportError.
   */
  report(node: NodeLike, report: Report): boolean {
    const checked = checkReport(report)
    const member = this.find(node)
    if (member === undefined || this.closed) {
      this.counters.reportsUnknown++
      return false
    }
    const time = sampleTime(tableTime(this.memory, this.clock.now()), checked.age ?? 0)
    const result = writeReport(this.memory, member.slot, member.generation, time, checked)
    if (result !== 'stored') {
      if (result === 'empty') this.counters.reportsEmpty++
      else this.counters.reportsOlder++
      return false
    }
    this.counters.reportsStored++
    publish(this.memory)
    return true
  }

  /**
   * Makes this thread a member's: a meter of its own queue, which picks on every thread of the table see, without any
   * polling. The node is this thread's until the last of its meters here is closed, the thread ends, or it hangs for longer
   * than the algorithm's `ttl` (10 s where it has none) and another thread registers.
   *
   * ```ts
   * const queue = attachBalancer(workerData.handle).meter('worker-3')
   * parentPort.on('message', ({ job, sent }) => queue.run(() => work(job), Date.now() - sent))
   * ```
   * Throws NodeTakenError where another thread has the node, or this one has a meter of the same metric; OptionError,
   * UnknownNodeError, TableError where the table keeps four other named metrics, ClosedError.
   */
  meter(node: NodeLike, options: NodeMeterOptions = {}): NodeMeter {
    this.checkOpen()
    const member = this.find(node)
    if (member === undefined) throw new UnknownNodeError(node)
    return this.#meters.meter(member, options)
  }

  /** What is known of each member now, in the order of `nodes`. */
  snapshot(): NodeSnapshot<N>[] {
    if (this.closed) return []
    const view = this.#picks.current()
    this.#countInMembers()
    const now = tableTime(this.memory, this.clock.now())
    return snapshotOf(this.#list, view, this.#picks.shares(), this.algorithm, this.memory, now)
  }

  /** What `console.log` shows: not the whole of the table. */
  [Symbol.for('nodejs.util.inspect.custom')](): object {
    const { name, engine, algorithm, nodes, closed } = this
    return { name, engine, algorithm, nodes, closed }
  }

  protected find(node: NodeLike): Member<N> | undefined {
    const id = looseId(node)
    return typeof id === 'string' ? this.members.find(id) : undefined
  }

  protected pickCounters(): PickCounters {
    if (!this.closed) this.#picks.current()
    return { ...this.counters }
  }

  /** Makes the next pick see that members changed. */
  protected changed(): void {
    this.#picks.invalidate()
    this.#arrayPicks.invalidate()
  }

  protected checkOpen(): void {
    if (this.closed) throw new ClosedError(`balancer ${this.name}`)
  }

  /** Called after each release of a lease. */
  protected onReleased(_member: Member): void {}

  protected closePicks(): void {
    this.#picks.current()
    this.#meters.close()
    this.closed = true
    this.#picks.close()
    this.#arrayPicks.close()
  }

  #indexFrom(what: readonly NodeLike[] | SelectOptions | undefined): number {
    if (Array.isArray(what)) {
      const index = this.#arrayPicks.select(what)
      if (index >= 0) this.counters.arrayPicks++
      return index
    }
    return what === undefined ? this.#picks.next() : this.#nextBut(what as SelectOptions)
  }

  // What a pick's index is of. A pick may take up changes of members, so this comes after it.
  #listOf(what: readonly NodeLike[] | SelectOptions | undefined): readonly NodeLike[] {
    return Array.isArray(what) ? what : this.#nodes
  }

  #nextBut(options: SelectOptions): number {
    const exclude = excludedBy(options)
    if (exclude === undefined) return this.#picks.next()
    // All ids first: reading one may run the caller's code, and that may change the members and so their indices.
    const ids = exclude.map(looseId)
    const indices = new Uint32Array(ids.length)
    let count = 0
    for (const id of ids) {
      const index = this.members.indexOf(id)
      if (index >= 0) indices[count++] = index
    }
    return this.#picks.nextExcluding(indices.subarray(0, count))
  }

  // Counts a pick that gave nothing, and says why.
  #failed(index: number, from: readonly NodeLike[]): IdlestError {
    const node = index < NO_ONE ? from[unknownDraw(index)] : undefined
    if (node !== undefined) {
      this.counters.unknown++
      return new UnknownLoadError(idOf(node))
    }
    this.counters.empty++
    publishEmptySelect(this.name, this.members.size)
    return new NoNodesError()
  }

  // Counts the draws that failed, and makes them `NO_ONE`. Returns the first one's error.
  #takeFailed(decisions: Uint32Array, count: number): IdlestError | undefined {
    let first: IdlestError | undefined
    for (let i = 0; i < count; i++) {
      const index = (decisions[i] as number) | 0
      if (index >= 0) continue
      const error = this.#failed(index, this.#nodes)
      first ??= error
      decisions[i] = NO_ONE
    }
    return first
  }

  #count(decisions: Uint32Array, count: number): void {
    const counts = this.#counts
    let failed = 0
    for (let i = 0; i < count; i++) {
      const index = decisions[i] as number
      if (index < counts.length) (counts[index] as number)++
      else failed++
    }
    this.counters.picks += count - failed
  }

  #countInMembers(): void {
    for (const [i, member] of this.#list.entries()) member.picks += this.#counts[i] as number
    this.#counts.fill(0)
  }
}
