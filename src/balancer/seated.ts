import { type Algorithm, probingOf } from '../algorithms/registry.js'
import type { Engine } from '../engine/engine.js'
import { OptionError } from '../errors.js'
import type { ProbeAsker } from '../poller/probe-asker.js'
import type { PlacedTold } from '../poller/told.js'
import type { Seed } from '../seed.js'
import type { Table } from '../table/table.js'
import { checkSelf } from './cores.js'
import type { Member } from './member.js'
import { idOf, type NodeLike } from './node.js'
import { TablePicker } from './picker.js'
import { Probing } from './probing.js'
import type { BalancerStats } from './stats.js'
import type { TrustSettings } from './trust-options.js'

/** What a seated balancer is made with; checked. */
export interface SeatedOptions<N extends NodeLike> {
  readonly name: string
  readonly engine: Engine
  readonly table: Table
  /** Whether the table's clock is one of the user's, which is asked at each pick. */
  readonly exact: boolean
  readonly algorithm: Algorithm
  readonly seed: Seed
  /** The local process as a member. */
  readonly self?: N | undefined
  /** Least time between two publications of reports that come one by one, ms; 0: each at once. */
  readonly coalesce: number
  readonly trust: TrustSettings
}

/**
 * Picks among members that have their seats in a table of this thread. All that a balancer does but polling, sampling
 * and telling other threads: so it needs nothing of Node.js, and runs in simulations and in browsers as it does here.
 */
export class SeatedBalancer<N extends NodeLike = NodeLike> extends TablePicker<N> {
  protected readonly table: Table
  protected readonly self: { readonly node: N; readonly id: string } | undefined
  readonly #seed: Seed
  #probing: Probing | undefined

  /** It has no members yet. Throws OptionError where the algorithm needs a local node and there is none. */
  constructor({ table, self, ...options }: SeatedOptions<N>) {
    const { algorithm, seed } = options
    const selfId = self === undefined ? undefined : idOf(self)
    checkSelf(algorithm, selfId)
    const { memory, clock } = table
    super({ ...options, memory, clock, places: table, directory: table, self: selfId })
    this.table = table
    this.#seed = seed
    if (self !== undefined && selfId !== undefined) this.self = { node: self, id: selfId }
  }

  setNodes(nodes: readonly N[]): void {
    this.checkOpen()
    if (!Array.isArray(nodes)) throw new OptionError('nodes', nodes, 'an array of nodes')
    const { self } = this
    // Reading nodes and their ids runs getters of the user's, which may close this balancer, or change its members.
    const list = Array.from<N>(nodes)
    const ids = list.map(idOf)
    this.checkOpen()
    if (self !== undefined && !ids.includes(self.id)) {
      list.push(self.node)
      ids.push(self.id)
    }
    for (const member of this.members.set(list, ids)) this.letGo(member)
    this.changed()
  }

  add(node: N): boolean {
    this.checkOpen()
    const id = idOf(node)
    // A getter may have closed this.
    this.checkOpen()
    const added = this.members.add(node, id)
    if (!added) return false
    this.changed()
    const member = this.members.find(id)
    if (member !== undefined) this.letGo(member)
    return true
  }

  remove(node: NodeLike): boolean {
    this.checkOpen()
    const member = this.find(node)
    if (member === undefined) return false
    this.members.remove(member.id)
    this.changed()
    this.letGo(member)
    return true
  }

  override stats(): BalancerStats {
    return { ...super.stats(), probes: this.#probing && { ...this.#probing.counters } }
  }

  /**
   * Has members asked as picks are made, where the algorithm wants it; once.
   * @internal the simulator's probes do not go by a transport: these are promises, and its time does not wait for any
   */
  probeBy(asker: ProbeAsker): void {
    const probing = probingOf(this.algorithm)
    if (probing === undefined) return
    this.#probing = new Probing({
      table: this.table,
      clock: this.clock,
      seed: this.#seed,
      ...probing,
      asker,
      picks: () => this.picked,
      members: () => this.members.list,
      self: this.self?.id,
      publications: this.publications,
      onTold: (told) => this.hearOf(told),
      onProbe: (member, inFlight, latency, time) => this.probed(member, inFlight, latency, time),
      find: (id) => this.members.find(id),
    })
    this.watchPicks(this.#probing.watcher)
  }

  /** Lets go of all members. Picks throw ClosedError from now on. */
  close(): void {
    if (this.closed) return
    this.closePicks()
    this.members.clear()
    this.#probing?.close()
  }

  /** Takes what came by probes, or to another thread. */
  protected hearOf(told: PlacedTold): void {
    const member = this.members.at(told.slot, told.generation)
    if (member !== undefined) this.hear(member, told)
  }

  /** Called for a member that left, or was taken up again: nobody needs to wait for it. */
  protected letGo(_member: Member): void {}

  protected override heard(_told: PlacedTold): void {}
}
