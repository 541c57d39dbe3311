import { threadId } from 'node:worker_threads'
import { type Algorithm, isKeyed, weightsOf } from '../algorithms/algorithm.js'
import type { Clock } from '../clock.js'
import type { Engine, EngineName, Learner } from '../engine/engine.js'
import { ClosedError, OptionError, UnknownLoadError, UnknownNodeError } from '../errors.js'
import type { Key } from '../keys/key-hash.js'
import type { NodeMeter } from '../meter/node-meter.js'
import type { NodeMeterOptions } from '../meter/options.js'
import { MeterRegistry } from '../meter/registry.js'
import type { Report } from '../report.js'
import { checkReport } from '../reports/check.js'
import type { TableBuffer, TableMemory } from '../table/memory.js'
import { publish } from '../table/reading.js'
import { writeReport } from '../table/report.js'
import { sampleTime, tableTime } from '../table/table.js'
import type { ArrayPicker, ArrayPicksOptions, Directory } from './array-picks.js'
import { coreOf, turnsFor } from './cores.js'
import { type CustomRunner, runnerOf } from './custom.js'
import { arrayPickerOf } from './custom-arrays.js'
import { FailedPicks, NO_ONE } from './failed-picks.js'
import { KeyedPicks } from './keyed-picks.js'
import { type Learning, Lease, type LeaseOwner, newLeaseCounters, type Outcome } from './lease.js'
import { type Member, Members, type Places } from './members.js'
import { looseId, type NodeLike } from './node.js'
import { newPickCounters, type PickCounters } from './pick-counters.js'
import { Picks, type PickWatcher } from './picks.js'
import { excludedBy, type SelectOptions } from './select-options.js'
import { type NodeSnapshot, snapshotOf } from './snapshot.js'
import { TurnClock } from './turn-clock.js'

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
  /** The id of the local node. */
  readonly self: string | undefined
  /** Where turns are taken together with other threads; where there is none, and the algorithm needs it, one is made. */
  readonly turns?: TableBuffer | undefined
}

// Keeps the picks from arrays apart from the others, whatever the seed.
const ARRAY_STREAM = 0x9e3779b9

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
  /** Where turns are taken together with other threads. */
  protected readonly turns: TableBuffer | undefined
  protected readonly leases: LeaseOwner
  readonly #picks: Picks
  readonly #arrayPicks: ArrayPicker
  readonly #custom: CustomRunner | undefined
  readonly #failures: FailedPicks
  readonly #meters: MeterRegistry
  // Whether draws may fail for want of a load.
  readonly #mayFail: boolean
  // Where the algorithm takes keys.
  readonly #keyed: KeyedPicks<N> | undefined
  // As the engine has them: what it was told last.
  #list: readonly Member<N>[] = []
  // A copy that is not frozen: to read an element of a frozen array takes a third of a pick.
  #nodes: readonly N[] = []

  protected constructor(options: PickerOptions) {
    const { name, engine, memory, clock, exact, algorithm, seed, self } = options
    this.name = name
    this.engine = engine.name
    this.algorithm = algorithm
    this.clock = clock
    this.memory = memory
    this.#mayFail = algorithm.kind === 'powerOfTwo' && algorithm.unknown === 'fail'
    this.members = new Members(options.places, weightsOf(algorithm))
    const members = () => this.members.size
    this.#failures = new FailedPicks({ name, counters: this.counters, members })
    this.#meters = new MeterRegistry(memory, clock, algorithm)
    this.turns = options.turns ?? turnsFor(algorithm, seed)
    const custom = runnerOf({ algorithm, name, memory, clock, seed, counters: this.counters })
    this.#custom = custom
    const core = coreOf({
      engine,
      memory,
      algorithm,
      seed,
      thread: threadId,
      turns: this.turns,
      custom,
      membersOf: () => this.#list,
      indexOfSelf: () => this.members.indexOf(self),
    })
    this.leases = {
      memory,
      leases: newLeaseCounters(),
      released: (member) => this.onReleased(member),
      ended: custom && (({ node }, outcome) => custom.released(node, outcome)),
      learning: core.learner && this.#learning(core.learner),
    }
    if (isKeyed(algorithm)) {
      this.#keyed = new KeyedPicks({
        algorithm,
        tables: engine.keyTables,
        members: this.members,
        leases: this.leases.leases,
        check: () => this.checkOpen(),
      })
    }
    this.#picks = new Picks({
      core,
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
          this.#picks.counts = new Float64Array(this.#list.length)
          this.#nodes = this.members.nodes.slice()
          return this.members.arrays
        },
      },
    })
    const arrays: ArrayPicksOptions = {
      engine,
      memory,
      directory: options.directory,
      algorithm,
      turns: this.turns,
      self,
      seed: [seed[0], (seed[1] ^ ARRAY_STREAM) >>> 0],
      thread: threadId,
      clock,
      exact,
      check: () => this.checkOpen(),
      out: this.members.out,
      onShown: undefined,
    }
    this.#arrayPicks = arrayPickerOf(arrays, custom)
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
   * - `key`: the member for this key, by `hashRing` or `maglev`
   *
   * Throws NoNodesError where there is none to pick, BadNodeError for an element that is not a node, BadKeyError,
   * OptionError, UnknownLoadError where the algorithm was told to fail, TableError where `hashRing` would have more than
   * 2^27 points, ClosedError.
   */
  select(): N
  select<T extends NodeLike>(nodes: readonly T[]): T
  select(options: SelectOptions): N
  select(what?: readonly NodeLike[] | SelectOptions): NodeLike {
    if (what === undefined) {
      const index = this.#picks.nextAlone()
      if (index >= 0) return this.#nodes[index] as N
      this.#failures.note(index, this.#nodes)
    } else {
      const picked = this.#selectFrom(what)
      if (picked !== undefined) return picked
    }
    throw this.#failures.take()
  }

  /** As `select`, but undefined where that throws NoNodesError, UnknownLoadError or ClosedError. */
  trySelect(): N | undefined
  trySelect<T extends NodeLike>(nodes: readonly T[]): T | undefined
  trySelect(options: SelectOptions): N | undefined
  trySelect(what?: readonly NodeLike[] | SelectOptions): NodeLike | undefined {
    if (this.closed) return undefined
    const picked = this.#selectFrom(what)
    if (picked === undefined) this.#failures.take()
    return picked
  }

  /** The index in `nodes` of the node for the next call, or -1 where there is none to pick. Throws UnknownLoadError, ClosedError. */
  selectIndex(): number {
    const index = this.#picks.nextAlone()
    if (index >= 0) return index
    this.#failures.note(index, this.#nodes)
    const error = this.#failures.take()
    if (error instanceof UnknownLoadError) throw error
    return NO_ONE
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
    const error = this.#mayFail ? this.#failures.takeAll(own, filled, this.#nodes) : undefined
    if (own !== into) into.set(own)
    if (error !== undefined) throw error
    if (filled === 0 && into.length > 0) this.#failures.take()
    return filled
  }

  /**
   * The member for a key that is hashed already: the one that `select({ key })` gives for a key of this hash.
   * @param hash an unsigned 32-bit number
   *
   * Throws NoNodesError, OptionError for anything else and where the algorithm takes no keys, ClosedError.
   */
  selectHash(hash: number): N {
    const keyed = this.#keyed ?? this.#noKeys()
    if (typeof hash !== 'number' || hash >>> 0 !== hash) {
      throw new OptionError('hash', hash, 'a whole number from 0 to 4294967295')
    }
    const member = keyed.pick(hash) ?? this.#anyMember(false)
    if (member === undefined) throw this.#failures.take()
    return member.node
  }

  /**
   * The nodes for a key and its copies: distinct, the first the one that `select({ key })` gives now, then those that
   * come after it. At most as many as are up; none where no one is. Counts as no pick.
   * @param count how many, a whole number of at least 1
   *
   * Throws BadKeyError, OptionError, also where the algorithm takes no keys, ClosedError.
   */
  replicas(key: Key, count: number): N[] {
    const keyed = this.#keyed ?? this.#noKeys()
    if (!Number.isInteger(count) || count < 1) {
      throw new OptionError('count', count, 'a whole number of at least 1')
    }
    return keyed.replicas(keyed.hashOf(key), count).map((member) => member.node)
  }

  /**
   * Resolves when picks by key go by the members as they are now: large tables are built in the background. At once
   * where the algorithm takes no keys. Rejects with ClosedError.
   */
  async settled(): Promise<void> {
    this.checkOpen()
    await this.#keyed?.settled()
  }

  /** A pick that counts as in flight until it is released. Throws as `select` does. */
  acquire(options?: SelectOptions): Lease<N> {
    const member = options === undefined ? this.#anyMember(true) : this.#memberBut(options, true)
    if (member === undefined) throw this.#failures.take()
    return new Lease(this.leases, member)
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
    const shares = this.#keyed?.shares(this.#list) ?? this.#picks.shares()
    return snapshotOf(this.#list, view, shares, this.algorithm, this.memory, now)
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
    this.counters.reportsIgnored = this.#picks.ignored
    const { used, atRandom } = this.#picks
    const picks = used + (this.#keyed?.used ?? 0)
    const keyless = this.#keyed === undefined ? 0 : used + this.counters.arrayPicks
    return { picks, keyless, atRandom, ...this.counters }
  }

  /** Picks of members so far, but those by keys. */
  protected get picked(): number {
    return this.#picks.used
  }

  /** Has somebody woken by picks, where the algorithm is a live one. */
  protected watchPicks(watcher: PickWatcher): void {
    this.#picks.watcher = watcher
  }

  /** Takes what a member said. Where the members have changed since the last pick, the next one finds it in the table. */
  protected probed(member: Member, inFlight: number, latency: number, time: number): void {
    if (this.#list[member.index] === member) this.#picks.probed(member.index, inFlight, latency, time)
  }

  /** Makes the next pick see that members changed. */
  protected changed(): void {
    this.#picks.invalidate()
    this.#arrayPicks.invalidate()
    this.#custom?.membersChanged(this.members.list)
    this.#keyed?.invalidate()
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
    this.#keyed?.invalidate()
  }

  #selectFrom(what: readonly NodeLike[] | SelectOptions | undefined): NodeLike | undefined {
    if (Array.isArray(what)) {
      const index = this.#arrayPicks.select(what)
      this.#failures.note(index, what)
      if (index < 0) return undefined
      this.counters.arrayPicks++
      return what[index]
    }
    const member = what === undefined ? this.#anyMember(false) : this.#memberBut(what as SelectOptions, false)
    return member?.node
  }

  #anyMember(isLease: boolean): Member<N> | undefined {
    // A pick may take up changes of members, so these are looked at after it.
    const index = isLease ? this.#picks.next() : this.#picks.nextAlone()
    this.#failures.note(index, this.#nodes)
    return this.#list[index]
  }

  #memberBut(options: SelectOptions, isLease: boolean): Member<N> | undefined {
    const exclude = excludedBy(options)
    const { key } = options
    if (key !== undefined) {
      const keyed = this.#keyed ?? this.#noKeys(key)
      const member = keyed.pick(keyed.hashOf(key), exclude?.map(looseId))
      // Else one may be left that the table does not have yet.
      if (member !== undefined) return member
    }
    if (exclude === undefined) return this.#anyMember(isLease)
    const index = this.#nextBut(exclude, isLease)
    this.#failures.note(index, this.#nodes)
    return this.#list[index]
  }

  #nextBut(exclude: readonly NodeLike[], isLease: boolean): number {
    // All ids first: reading one may run the caller's code, and that may change the members and so their indices.
    const ids = exclude.map(looseId)
    const indices = new Uint32Array(ids.length)
    let count = 0
    for (const id of ids) {
      const index = this.members.indexOf(id)
      if (index >= 0) indices[count++] = index
    }
    return this.#picks.nextExcluding(indices.subarray(0, count), isLease)
  }

  #learning(learner: Learner): Learning {
    const clock = new TurnClock(this.clock)
    return {
      now: () => clock.now(),
      ended: (member, left, ok, latency) => {
        // Not where members changed since the last pick: the engine has other indices.
        if (this.#list[member.index] === member) learner.ended(member.index, left, ok, latency)
      },
    }
  }

  #noKeys(key?: Key): never {
    const expected = `hashRing() or maglev(): ${this.algorithm.kind}() takes no keys`
    if (key === undefined) throw new OptionError('algorithm', this.algorithm.kind, expected)
    throw new OptionError('key', key, `no key, or the algorithm ${expected}`)
  }

  // Members take picks over now and then: a small array of counts stays in the cache, thousands of members do not.
  #countInMembers(): void {
    const { counts } = this.#picks
    for (const [i, member] of this.#list.entries()) member.picks += counts[i] as number
    counts.fill(0)
  }
}
