import { threadId } from 'node:worker_threads'
import { mayFail } from '../algorithms/registry.js'
import { type Engine, type EngineName, NO_ONE } from '../engine/engine.js'
import { OptionError, UnknownLoadError, UnknownNodeError } from '../errors.js'
import type { Key } from '../keys/key-hash.js'
import type { PollFailure } from '../poller/failures.js'
import type { TableBuffer } from '../table/memory.js'
import { isUint32Array } from '../typed-array.js'
import type { ArrayPicker, ArrayPicksOptions, Directory } from './array-picks.js'
import type { Picker } from './contract.js'
import { turnsFor } from './cores.js'
import { type CustomRunner, runnerOf } from './custom.js'
import { arrayPickerOf } from './custom-arrays.js'
import { type Explanation, explain } from './explain.js'
import { FailedPicks } from './failed-picks.js'
import { KnownMembers, type KnownMembersOptions } from './known-members.js'
import { type Lease, type LeaseOwner, newLeaseCounters, OpenLease } from './lease.js'
import type { Member } from './member.js'
import { MemberPicks } from './member-picks.js'
import type { NodeLike } from './node.js'
import type { PickCounters } from './pick-counters.js'
import type { Picks, PickWatcher } from './picks.js'
import { type Rules, rulesOf } from './reasons.js'
import { RetryBudget } from './retry-budget.js'
import { type RunOptions, run, type Work } from './run.js'
import type { SelectOptions } from './select-options.js'
import type { NodeSnapshot, SnapshotParts } from './snapshot.js'
import type { BalancerStats } from './stats.js'

export interface PickerOptions extends KnownMembersOptions {
  readonly engine: Engine
  readonly exact: boolean
  readonly seed: readonly [number, number]
  readonly directory: Directory
  /** The id of the local node. */
  readonly self: string | undefined
  /** Where turns are taken together with other threads; where there is none, and the algorithm needs it, one is made. */
  readonly turns?: TableBuffer | undefined
  /** Called before picks that do not look at the table, where members are another thread's: it may change them. */
  readonly catchUp?: () => void
}

/** How many members a part of a snapshot has: some 0.3 ms. */
const SNAPSHOT_PART = 64

// Keeps the picks from arrays apart from the others, whatever the seed.
const ARRAY_STREAM = 0x9e3779b9

/** Picks among members, from readings of a table. */
export abstract class TablePicker<N extends NodeLike = NodeLike>
  extends KnownMembers<N>
  implements Picker<N>
{
  readonly engine: EngineName
  readonly retryBudget: RetryBudget
  /** Where turns are taken together with other threads. */
  protected readonly turns: TableBuffer | undefined
  protected readonly leases: LeaseOwner
  readonly #memberPicks: MemberPicks<N>
  // What the engine draws, and the nodes as it has them. By way of `#memberPicks` a pick takes an eighth longer.
  readonly #picks: Picks
  #nodes: readonly N[] = []
  readonly #arrayPicks: ArrayPicker
  readonly #custom: CustomRunner | undefined
  readonly #failures: FailedPicks
  readonly #self: string | undefined
  // Whether draws may fail for want of a load.
  readonly #mayFail: boolean

  protected constructor(options: PickerOptions) {
    const { name, engine, memory, clock, exact, algorithm, seed, self } = options
    super(options)
    this.engine = engine.name
    this.retryBudget = new RetryBudget(options.trust.retryBudget)
    this.#self = self
    this.#mayFail = mayFail(algorithm)
    const members = () => this.members.size
    this.#failures = new FailedPicks({ name, counters: this.counters, members })
    this.turns = options.turns ?? turnsFor(algorithm, seed)
    const custom = runnerOf(algorithm, { name, memory, clock, seed, counters: this.counters })
    this.#custom = custom
    const leases = newLeaseCounters()
    const check = () => this.checkOpen()
    this.#memberPicks = new MemberPicks({
      engine,
      memory,
      clock,
      exact,
      algorithm,
      seed,
      turns: this.turns,
      custom,
      members: this.members,
      self,
      leases,
      failures: this.#failures,
      maxShare: options.trust.maxShare,
      onRefresh: this.suspicion && (() => this.suspicion?.look()),
      check,
      catchUp: options.catchUp,
      onNodes: (nodes) => {
        this.#nodes = nodes
      },
    })
    this.#picks = this.#memberPicks.picks
    this.leases = {
      memory,
      leases,
      released: (member) => this.onReleased(member),
      ended: custom && (({ node }, outcome) => custom.released(node, outcome)),
      health: this.health,
      learning: this.#memberPicks.learning,
    }
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
      check,
      standings: this.members.standings,
      onShown: undefined,
    }
    this.#arrayPicks = arrayPickerOf(arrays, custom)
  }

  get nodes(): readonly N[] {
    return this.members.nodes
  }

  get available(): readonly N[] {
    return this.members.available
  }

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

  trySelect(): N | undefined
  trySelect<T extends NodeLike>(nodes: readonly T[]): T | undefined
  trySelect(options: SelectOptions): N | undefined
  trySelect(what?: readonly NodeLike[] | SelectOptions): NodeLike | undefined {
    if (this.closed) return undefined
    const picked = this.#selectFrom(what)
    if (picked === undefined) this.#failures.take()
    return picked
  }

  selectIndex(): number {
    const index = this.#picks.nextAlone()
    if (index >= 0) return index
    this.#failures.note(index, this.#nodes)
    const error = this.#failures.take()
    if (error instanceof UnknownLoadError) throw error
    return NO_ONE
  }

  fill(into: Uint32Array): number {
    if (!isUint32Array(into)) throw new OptionError('into', into, 'a Uint32Array')
    // The native engine must not write to memory that another thread may be writing.
    const own = into.buffer instanceof ArrayBuffer ? into : new Uint32Array(into.length)
    const filled = this.#picks.fill(own)
    const error = this.#mayFail ? this.#failures.takeAll(own, filled, this.#nodes) : undefined
    if (own !== into) into.set(own)
    if (error !== undefined) throw error
    if (filled === 0 && into.length > 0) this.#failures.take()
    return filled
  }

  selectHash(hash: number): N {
    const node = this.#memberPicks.nodeByHash(hash)
    if (node === undefined) throw this.#failures.take()
    return node
  }

  replicas(key: Key, count: number): N[] {
    return this.#memberPicks.replicas(key, count).map((member) => member.node)
  }

  async settled(): Promise<void> {
    this.checkOpen()
    await this.#memberPicks.settled()
  }

  acquire(options?: SelectOptions): Lease<N> {
    const member = options === undefined ? this.#memberPicks.any(true) : this.#memberPicks.by(options, true)
    if (member === undefined) throw this.#failures.take()
    return new OpenLease(this.leases, member)
  }

  lease(node: NodeLike): Lease<N> {
    this.checkOpen()
    const member = this.find(node)
    if (member === undefined) throw new UnknownNodeError(node)
    return new OpenLease(this.leases, member)
  }

  run<R>(work: Work<N, R>, options?: RunOptions): Promise<R> {
    return run(this, () => this.clock.now(), work, options)
  }

  snapshot(): NodeSnapshot<N>[] {
    if (this.closed) return []
    const parts = this.#parts()
    return parts.part(0, parts.size)
  }

  *snapshotParts(size = SNAPSHOT_PART): Generator<NodeSnapshot<N>[], void, undefined> {
    if (!Number.isInteger(size) || size < 1)
      throw new OptionError('size', size, 'a whole number of at least 1')
    if (this.closed) return
    const parts = this.#parts()
    for (let from = 0; from < parts.size && !this.closed; from += size) yield parts.part(from, from + size)
  }

  explain(): Explanation<N>[]
  explain(node: NodeLike): Explanation<N>
  explain(node?: NodeLike): Explanation<N>[] | Explanation<N> {
    this.checkOpen()
    const explained = explain(this.snapshot(), this.rules(), this.#self)
    if (node === undefined) return explained
    const id = this.find(node)?.id
    const one = explained.find((other) => other.id === id)
    if (one === undefined) throw new UnknownNodeError(node)
    return one
  }

  stats(): BalancerStats {
    return {
      name: this.name,
      engine: this.engine,
      members: this.members.size,
      picks: this.pickCounters(),
      leases: { ...this.leases.leases },
      retries: { ...this.retryBudget.counters },
      health: this.healthCounters(),
      suspicion: this.suspicionCounters(),
      guard: { ...this.#memberPicks.guardCounters },
      inBand: { ...this.inBand.counters },
      poll: undefined,
      probes: undefined,
      discovery: undefined,
      sampler: undefined,
    }
  }

  /** What JSON has of it: no more of its nodes than their ids, since the objects may hold secrets, or each other. */
  toJSON(): object {
    const { name, engine, algorithm, closed } = this
    return { name, engine, algorithm, nodes: this.members.list.map(({ id }) => id), closed }
  }

  /** What `console.log` shows: not the whole of the table. */
  [Symbol.for('nodejs.util.inspect.custom')](): object {
    return this.toJSON()
  }

  /** What decides now who is picked. */
  protected rules(): Rules {
    return rulesOf(this.algorithm, this.trust, this.members.standings.isOpen)
  }

  protected pickCounters(): PickCounters {
    if (!this.closed) this.#picks.current()
    this.counters.reportsIgnored = this.#picks.ignored
    const { used, atRandom } = this.#picks
    const { byKey } = this.#memberPicks
    const keyless = byKey === undefined ? 0 : used + this.counters.arrayPicks
    return { picks: used + (byKey ?? 0), keyless, atRandom, ...this.counters }
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
    this.#memberPicks.probed(member, inFlight, latency, time)
  }

  protected override changed(): void {
    super.changed()
    this.#memberPicks.reweigh()
  }

  protected override restood(members: readonly Member<N>[]): void {
    super.restood(members)
    this.#memberPicks.reweigh()
  }

  protected override membersChanged(): void {
    this.#memberPicks.invalidate()
    this.#arrayPicks.invalidate()
    this.#custom?.membersChanged(this.members.list)
  }

  /** How polling a member failed last; undefined where it did not, or nobody polls. */
  protected failureOf(_member: Member): PollFailure | undefined {
    return undefined
  }

  /** Called after each release of a lease. */
  protected onReleased(_member: Member): void {}

  protected closePicks(): void {
    this.#picks.current()
    this.closeMembers()
    this.#memberPicks.close()
    this.#arrayPicks.close()
  }

  #parts(): SnapshotParts<N> {
    const { health, suspicion } = this
    const failureOf = (member: Member) => this.failureOf(member)
    return this.#memberPicks.snapshot({ health, suspicion, failureOf })
  }

  #selectFrom(what: readonly NodeLike[] | SelectOptions | undefined): NodeLike | undefined {
    if (Array.isArray(what)) {
      const index = this.#arrayPicks.select(what)
      this.#failures.note(index, what)
      if (index < 0) return undefined
      this.counters.arrayPicks++
      return what[index]
    }
    if (what === undefined) return this.#memberPicks.any(false)?.node
    return this.#memberPicks.nodeBy(what as SelectOptions)
  }
}
