import { threadId } from 'node:worker_threads'
import { type Algorithm, isKeyed, KEYED_CALLS } from '../algorithms/registry.js'
import type { Clock } from '../clock.js'
import type { Engine, EngineCore } from '../engine/engine.js'
import { Generator } from '../engine/portable/generator.js'
import { OptionError } from '../errors.js'
import type { Key } from '../keys/key-hash.js'
import { streamOf } from '../seed.js'
import type { TableBuffer, TableMemory } from '../table/memory.js'
import { tableTime } from '../table/table.js'
import type { MemberSource } from './core-view.js'
import { coreOf } from './cores.js'
import type { CustomRunner } from './custom.js'
import type { FailedPicks } from './failed-picks.js'
import { Guard, type GuardCounters } from './guard.js'
import { KeyedPicks } from './keyed-picks.js'
import { LeaseLearning } from './learning.js'
import type { Learning, LeaseCounters } from './lease.js'
import type { Member } from './member.js'
import type { Members } from './members.js'
import { looseId, type NodeLike } from './node.js'
import { Picks } from './picks.js'
import { excludedBy, type SelectOptions } from './select-options.js'
import { type SnapshotParts, snapshotOf, type Watchers } from './snapshot.js'
import { WELL } from './standings.js'

export interface MemberPicksOptions<N extends NodeLike> {
  readonly engine: Engine
  readonly memory: TableMemory
  readonly clock: Clock
  readonly exact: boolean
  readonly algorithm: Algorithm
  readonly seed: readonly [number, number]
  /** Where turns are taken together with other threads. */
  readonly turns: TableBuffer | undefined
  /** Runs the algorithm, where it is the user's. */
  readonly custom: CustomRunner | undefined
  readonly members: Members<N>
  /** The id of the local node. */
  readonly self: string | undefined
  /** Of the balancer that picks. */
  readonly leases: LeaseCounters
  /** Told of draws that failed. */
  readonly failures: FailedPicks
  /** The share of the picks that a member may have. */
  readonly maxShare: number
  /** Called before each look at members and readings. */
  readonly onRefresh: (() => void) | undefined
  /** Throws where picks are no longer allowed. */
  readonly check: () => void
  /** Called before picks that do not look at the table, where members are another thread's: it may change them. */
  readonly catchUp: (() => void) | undefined
  /** Told of the members' nodes as the engine has them, which what it draws are indices of. */
  onNodes(nodes: readonly N[]): void
}

// Keeps what is drawn here apart from what the engine draws, whatever the seed.
const GUARD_STREAM = 0x27d4eb2f

/** Picks among the members: any of them, by what the engine draws; one for a key; or any but some. */
export class MemberPicks<N extends NodeLike> {
  /** What the engine draws. */
  readonly picks: Picks
  // What `any` reads is plain: it is the hot path. Members and nodes are as the engine has them: what it was told last.
  private list: readonly Member<N>[] = []
  private nodes: readonly N[] = []
  private readonly failures: FailedPicks
  readonly #options: MemberPicksOptions<N>
  // Where the algorithm takes keys.
  readonly #keyed: KeyedPicks<N> | undefined
  readonly #generator: Generator
  readonly #guard: Guard
  /** Learns from leases, where the algorithm does. */
  readonly learning: Learning | undefined

  constructor(options: MemberPicksOptions<N>) {
    this.#options = options
    const { memory, clock, exact, seed, algorithm, maxShare } = options
    this.#generator = new Generator(streamOf(seed, GUARD_STREAM))
    this.#guard = new Guard({ memory, algorithm, generator: this.#generator, maxShare })
    this.failures = options.failures
    const core = this.#core()
    const { learner } = core
    // As the engine has them: members may have changed since the last pick.
    const members = () => this.list
    this.learning = learner && new LeaseLearning({ learner, clock, leases: options.leases, members })
    this.#keyed = keyedPicksOf(options)
    this.picks = new Picks({
      core,
      memory,
      clock,
      exact,
      source: this.#source(),
      onRefresh: options.onRefresh,
    })
  }

  /** Any member; undefined where the draw failed, which is noted. */
  any(isLease: boolean): Member<N> | undefined {
    // A pick may take up changes of members, so these are looked at after it.
    const index = isLease ? this.picks.next() : this.picks.nextAlone()
    this.failures.note(index, this.nodes)
    return this.list[index]
  }

  /** The member for a key, or any but those that are excluded. Throws OptionError, BadKeyError. */
  by(options: SelectOptions, isLease: boolean): Member<N> | undefined {
    const exclude = excludedBy(options)
    const { key } = options
    if (key !== undefined) {
      const keyed = this.#keyed ?? this.#noKeys(key)
      const number = keyed.pick(keyed.hashOf(key), exclude?.map(looseId))
      if (number >= 0) return keyed.memberOf(number)
    }
    return this.#anyOr(exclude, isLease)
  }

  /** The node of the member that `by` gives where the pick is no lease: without a look at the member, where that can be. */
  nodeBy(options: SelectOptions): N | undefined {
    const exclude = excludedBy(options)
    const { key } = options
    if (key !== undefined) {
      const keyed = this.#keyed ?? this.#noKeys(key)
      const number = keyed.pick(keyed.hashOf(key), exclude?.map(looseId))
      if (number >= 0) return keyed.nodeOf(number)
    }
    return this.#anyOr(exclude, false)?.node
  }

  /** The node for a hash. Throws OptionError. */
  nodeByHash(hash: number): N | undefined {
    const keyed = this.#keyed ?? this.#noKeys()
    if (typeof hash !== 'number' || hash >>> 0 !== hash) {
      throw new OptionError('hash', hash, 'a whole number from 0 to 4294967295')
    }
    const number = keyed.pick(hash | 0)
    return number >= 0 ? keyed.nodeOf(number) : this.any(false)?.node
  }

  /** The members for a key and its copies. Throws OptionError, BadKeyError. */
  replicas(key: Key, count: number): readonly Member<N>[] {
    const keyed = this.#keyed ?? this.#noKeys()
    if (!Number.isInteger(count) || count < 1) {
      throw new OptionError('count', count, 'a whole number of at least 1')
    }
    return keyed.replicas(keyed.hashOf(key), count)
  }

  /** Resolves when picks by key go by the members as they are now. */
  async settled(): Promise<void> {
    await this.#keyed?.settled()
  }

  /** Takes what a member said. Where the members have changed since the last pick, the next one finds it in the table. */
  probed(member: Member, inFlight: number, latency: number, time: number): void {
    if (this.#isKnown(member)) this.picks.probed(member.index, inFlight, latency, time)
  }

  /**
   * What is known of each member now, or when its part is asked for. Members that come or go meanwhile change nothing.
   * @param watchers what looks at how they do
   */
  snapshot(watchers: Watchers): SnapshotParts<N> {
    const { algorithm, memory, clock } = this.#options
    const { values } = this.picks.current()
    this.#countInMembers()
    const now = tableTime(memory, clock.now())
    const { list } = this
    const options = {
      // A copy: picks between two parts may refresh the view.
      values: values.slice(),
      shares: this.#keyed?.shares(list) ?? this.picks.shares(),
      algorithm,
      memory,
      now,
      clockTime: clock.now(),
      isCapped: (index: number) => list === this.list && this.#guard.isCapped(index),
      tier: this.#options.members.standings.tier,
      watchers,
    }
    return { size: list.length, part: (from, to) => snapshotOf(list, options, from, to) }
  }

  /** Picks by keys so far; undefined where the algorithm takes none. */
  get byKey(): number | undefined {
    return this.#keyed?.used
  }

  /** Makes the next pick see that members changed. */
  invalidate(): void {
    this.picks.invalidate()
    this.#keyed?.invalidate()
  }

  /** Makes the next pick see that weights and limits changed. */
  reweigh(): void {
    const { members, maxShare } = this.#options
    this.#guard.reweigh()
    this.picks.guardBy(maxShare < 1 || members.standings.guarded > 0 ? this.#guard : undefined)
  }

  /** Of how members were passed over. */
  get guardCounters(): GuardCounters {
    return this.#guard.counters
  }

  close(): void {
    this.picks.close()
    this.#keyed?.invalidate()
  }

  #core(): EngineCore {
    const { members, self } = this.#options
    return coreOf({
      ...this.#options,
      thread: threadId,
      membersOf: () => this.list,
      indexOfSelf: () => members.indexOf(self),
    })
  }

  #source(): MemberSource {
    const { members, check, onNodes } = this.#options
    return {
      membersChanged: () => {
        check()
        return members.stale || this.list !== members.list
      },
      memberArrays: () => {
        this.#countInMembers()
        this.list = members.list
        this.picks.counts = new Float64Array(this.list.length)
        // Not frozen: to read an element of a frozen array takes a third of a pick.
        this.nodes = members.plainNodes
        this.#guard.take(this.list)
        onNodes(this.nodes)
        return members.arrays
      },
    }
  }

  #isKnown(member: Member): boolean {
    return this.list[member.index] === member
  }

  // Also where a key has no one in the table: one may be left that is not there yet.
  #anyOr(exclude: readonly NodeLike[] | undefined, isLease: boolean): Member<N> | undefined {
    return exclude === undefined ? this.any(isLease) : this.#anyBut(exclude, isLease)
  }

  #anyBut(exclude: readonly NodeLike[], isLease: boolean): Member<N> | undefined {
    // All ids first: reading one may run the caller's code, and that may change the members and so their indices.
    const indices = this.#options.members.indicesOf(exclude.map(looseId))
    const index = this.picks.nextExcluding(indices, isLease)
    this.failures.note(index, this.nodes)
    return this.list[index] ?? this.#illBut(indices, isLease)
  }

  // One of those that are in reserve, down or ejected, where nobody else is left.
  #illBut(excluded: Uint32Array, isLease: boolean): Member<N> | undefined {
    const { ill } = this.#options.members.standings
    if (ill.size === 0) return undefined
    const left = bestOf(this.list.filter(({ id, index }) => ill.has(id) && !excluded.includes(index)))
    const member = left[this.#generator.below(left.length)]
    if (member !== undefined) this.picks.picked(member.index, isLease)
    return member
  }

  #noKeys(key?: Key): never {
    const { kind } = this.#options.algorithm
    const expected = `${KEYED_CALLS}: ${kind}() takes no keys`
    if (key === undefined) throw new OptionError('algorithm', kind, expected)
    throw new OptionError('key', key, `no key, or the algorithm ${expected}`)
  }

  // Members take picks over now and then: a small array of counts stays in the cache, thousands of members do not.
  #countInMembers(): void {
    const { counts } = this.picks
    for (let i = 0; i < counts.length; i++) {
      const count = counts[i] as number
      if (count > 0) (this.list[i] as Member<N>).picks += count
    }
    counts.fill(0)
    this.#keyed?.countInMembers()
  }
}

// Those in reserve, of the lowest tier, before those that are ill.
function bestOf<N extends NodeLike>(ill: readonly Member<N>[]): readonly Member<N>[] {
  const well = ill.filter(({ grade }) => grade === WELL)
  const best = well.length > 0 ? well : ill
  const lowest = best.reduce((least, { tier }) => Math.min(least, tier), Number.POSITIVE_INFINITY)
  return best.filter(({ tier }) => tier === lowest)
}

function keyedPicksOf<N extends NodeLike>(options: MemberPicksOptions<N>): KeyedPicks<N> | undefined {
  const { algorithm, engine, members, leases, check, catchUp } = options
  if (!isKeyed(algorithm)) return undefined
  return new KeyedPicks({ algorithm, tables: engine.keyTables, members, leases, check, catchUp })
}
