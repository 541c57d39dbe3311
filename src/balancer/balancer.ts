import { cpuSampler } from '../agent/samplers/index.js'
import { createSampling, type Sampling } from '../agent/sampling.js'
import { defaultAlgorithm, needsOf, probingOf, unreachableAfter } from '../algorithms/registry.js'
import { needDescriptors } from '../descriptors.js'
import { chooseEngine } from '../engine/load.js'
import { Generator } from '../engine/portable/generator.js'
import { OptionError, UnknownNodeError } from '../errors.js'
import type { ServeOptions } from '../live/options.js'
import type { LiveServer } from '../live/server.js'
import { checkOptions } from '../options.js'
import type { PollFailure } from '../poller/failures.js'
import { Poller, type Readiness } from '../poller/poller.js'
import type { PlacedTold } from '../poller/told.js'
import { processClock } from '../process-clock.js'
import { type Seed, streamOf, toSeed } from '../seed.js'
import { NO_SLOT } from '../table/layout.js'
import { type Entry, sampleTime, Table } from '../table/table.js'
import type { Balancer } from './contract.js'
import { Drains } from './drains.js'
import { Followed } from './followed.js'
import { type BalancerHandle, HandleServer } from './handle.js'
import { keptAlive } from './keep-alive.js'
import type { Member } from './member.js'
import type { NodeLike } from './node.js'
import type { NodeSource } from './node-source.js'
import { type BalancerOptions, balancerOptions, pollDefaults } from './options.js'
import { type PollPlan, planPolling } from './poll-plan.js'
import { processTable } from './process-table.js'
import { Reachability } from './reachability.js'
import { SeatedBalancer } from './seated.js'
import { warnOfShortTtl } from './short-ttl.js'
import { isOrderedOut } from './standings.js'
import type { BalancerStats } from './stats.js'
import type { TrustSettings } from './trust-options.js'

// Keeps jitter apart from picks, whatever the seed.
const JITTER_STREAM = 0x85ebca6b

let unnamed = 0

/** Picks among its members, and polls them where it was told how. */
class PollingBalancer<N extends NodeLike = NodeLike> extends SeatedBalancer<N> implements Balancer<N> {
  readonly #drains: Drains
  readonly #poller: Poller | undefined
  readonly #sampling: Sampling | undefined
  readonly #onSamplerError: number | 'stale'
  readonly #coalesce: number
  readonly #pollInterval: number | undefined
  readonly #pollsNodes: boolean
  readonly #served = new Set<LiveServer>()
  readonly #followed: Followed<N> | undefined
  readonly #reachability: Reachability | undefined
  readonly #unlisten: () => void
  #handles: HandleServer | undefined
  // Whose standing attached threads are to be told; all: who the members are, too.
  #toTell: Set<Member> | 'all' | undefined

  constructor(given: BalancerOptions<N>) {
    const options = checkOptions('', given, balancerOptions)
    const table = tableFor(options.table, options.clock)
    const { clock } = table
    const name = options.name ?? `balancer-${++unnamed}`
    const seed = toSeed(options.seed)
    const algorithm = options.algorithm ?? defaultAlgorithm()
    const { health, suspicion, maxShare, retryBudget } = options
    const trust: TrustSettings = { health, suspicion, maxShare, retryBudget }
    const hasSelf = options.self !== undefined
    const poll = planPolling(options.poll, algorithm, hasSelf)
    super({
      name,
      engine: chooseEngine(options.engine),
      table,
      exact: clock !== processClock,
      algorithm,
      seed,
      self: options.self as N | undefined,
      coalesce: options.coalesce,
      trust,
    })
    this.#coalesce = options.coalesce
    this.#pollInterval = poll?.interval
    this.#pollsNodes = poll?.transport !== undefined
    this.#drains = new Drains(table.memory, clock)
    this.#onSamplerError = options.onSamplerError
    if (hasSelf) {
      this.#sampling = createSampling({
        sampler: options.sampler ?? cpuSampler(),
        timeout: poll?.timeout ?? pollDefaults.timeout,
        clock,
        source: name,
      })
    }
    const polls = health === false ? 0 : (health.polls ?? unreachableAfter(algorithm))
    if (polls > 0) {
      const onChange = (changed: readonly Member[]) => this.restood(changed as readonly Member<N>[])
      this.#reachability = new Reachability({ polls, members: this.members, onChange })
    }
    if (poll !== undefined) {
      warnOfShortTtl(algorithm, poll)
      this.#poller = this.#makePoller(poll, options.coalesce, seed)
      if (this.#pollsNodes && probingOf(algorithm) !== undefined) this.probeBy(this.#poller.probes())
    }
    const unlisten = table.listen((told) => this.#hearOfOthers(told))
    const unlistenToSeats = table.onSeated((places) => {
      if (this.members.seated(places)) this.changed()
    })
    this.#unlisten = () => {
      unlisten()
      unlistenToSeats()
    }
    if (Array.isArray(options.nodes)) {
      this.setNodes(options.nodes as readonly N[])
      this.#poller?.start()
    } else {
      this.setNodes([])
      this.#followed = this.#follow(options.nodes as NodeSource<N>)
      // Polls of nobody would say that it is ready.
      this.#followed.first.then(
        () => this.#poller?.start(),
        () => {},
      )
    }
  }

  async drain(node: NodeLike): Promise<void> {
    this.checkOpen()
    const member = this.find(node)
    if (member === undefined) throw new UnknownNodeError(node)
    if (this.members.order(member, 'drain')) this.changed()
    await keptAlive(this.#drains.wait(member))
  }

  async ready(): Promise<Readiness> {
    this.checkOpen()
    if (this.#followed !== undefined) await keptAlive(this.#followed.first)
    if (this.#poller === undefined) return { nodes: 0, answered: 0 }
    return keptAlive(this.#poller.ready)
  }

  override stats(): BalancerStats {
    const poll = this.#poller?.counted()
    return {
      ...super.stats(),
      poll,
      discovery: this.#followed?.counters(),
      sampler: this.#sampling && { ...this.#sampling.counters },
    }
  }

  handle(): BalancerHandle {
    this.checkOpen()
    if (needsOf(this.algorithm).ownThread) {
      throw new OptionError(
        'algorithm',
        this.algorithm,
        'one that can be posted to a thread: custom() has functions',
      )
    }
    this.#handles ??= new HandleServer({
      name: this.name,
      table: this.table.share(),
      memory: this.memory,
      algorithm: this.algorithm,
      engine: this.engine,
      ownClock: this.clock !== processClock,
      self: this.self?.id,
      turns: this.turns,
      coalesce: this.#coalesce,
      trust: this.trust,
      members: () => this.members.list,
      places: () => this.members.places,
      takeRestood: () => this.members.takeRestood(),
      onTold: (told) => this.hearOf(told),
    })
    return this.#handles.handle()
  }

  async serve(options?: ServeOptions): Promise<LiveServer> {
    this.checkOpen()
    // Loaded where it is used.
    needDescriptors()
    const { startLiveServer } = await import('../live/server.js')
    const { name, clock } = this
    const watched = {
      name,
      clock,
      pollInterval: this.#pollInterval,
      rules: () => this.rules(),
      stats: () => this.stats(),
      snapshotParts: () => this.snapshotParts(),
    }
    const server = await startLiveServer(watched, options)
    if (this.closed) await server.close()
    this.checkOpen()
    this.#served.add(server)
    return server
  }

  override async close(): Promise<void> {
    if (!this.closed) {
      this.#followed?.close()
      super.close()
      this.#unlisten()
      this.#drains.close()
      this.#handles?.close()
    }
    for (const server of this.#served) await keptAlive(server.close())
    if (this.#poller !== undefined) await keptAlive(this.#poller.close())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  protected override failureOf({ id }: Member): PollFailure | undefined {
    return this.#poller?.failureOf(id)
  }

  protected override onReleased(member: Member): void {
    this.#drains.look(member)
  }

  protected override letGo(member: Member): void {
    this.#drains.letGo(member)
  }

  // The poller knows what its polls told last, and would not say it again.
  protected override heard(told: PlacedTold): void {
    this.table.tell([told])
    this.#poller?.forget([told])
  }

  // What nodes told other processes.
  #hearOfOthers(list: readonly PlacedTold[]): void {
    const told = list.filter(({ slot, generation }) => this.members.at(slot, generation) !== undefined)
    this.#poller?.forget(told)
    this.told(told)
  }

  protected override changed(): void {
    super.changed()
    this.#tellSoon('all')
  }

  protected override restood(members: readonly Member<N>[]): void {
    super.restood(members)
    this.#tellSoon(members)
    if (members.some((member) => member.ejected)) this.#followed?.failing()
  }

  // The poller and attached threads are told once a turn, however many members changed in it.
  #tellSoon(changed: readonly Member[] | 'all'): void {
    const waits = this.#toTell !== undefined
    if (changed === 'all') this.#toTell = 'all'
    else if (this.#toTell === undefined) this.#toTell = new Set(changed)
    else if (this.#toTell !== 'all') for (const member of changed) this.#toTell.add(member)
    if (waits) return
    queueMicrotask(() => {
      const changed = this.#toTell
      this.#toTell = undefined
      if (this.closed) return
      if (changed === 'all') this.#tellMembers()
      else if (changed !== undefined) this.#handles?.restood([...changed])
    })
  }

  #tellMembers(): void {
    if (this.#pollsNodes && this.#poller !== undefined) {
      const entries: Entry[] = []
      const self = this.self?.id
      for (const { id, slot, place } of this.members.list) {
        // A member without a slot is polled when it has one.
        if (slot !== NO_SLOT && id !== self) entries.push(place as Entry)
      }
      this.#poller.setMembers(entries)
    }
    this.#handles?.changed()
  }

  #follow(source: NodeSource<N>): Followed<N> {
    return new Followed({
      source,
      name: this.name,
      members: this.members,
      clock: this.clock,
      spacing: this.#coalesce,
      self: this.self?.id,
      onChange: (left) => {
        this.changed()
        for (const member of left) this.letGo(member)
      },
    })
  }

  #makePoller(poll: PollPlan, coalesce: number, seed: Seed): Poller {
    const self = this.self?.id
    return new Poller({
      ...poll,
      coalesce,
      name: this.name,
      table: this.table,
      clock: this.clock,
      random: jitterFrom(seed),
      sampleSelf: self === undefined ? undefined : () => this.#sampleSelf(self),
      onTold: (told) => {
        this.table.tell(told)
        this.told(told)
      },
      isLeaving: (node) => isOrderedOut(this.members.find(node)),
      onCycle: ({ failed }) => {
        // A node that is gone does not answer: but one that never does is not asked about again.
        if (failed.some(({ node, kind }) => kind === 'exit' && this.#isNew(node))) this.#followed?.failing()
        if (!this.closed) this.#reachability?.polled(failed)
      },
    })
  }

  // Whether the last round is the first of a row in which this node failed.
  #isNew(node: string): boolean {
    return this.#poller?.failureOf(node)?.count === 1
  }

  async #sampleSelf(self: string): Promise<void> {
    // What a slow sampler says is of the time when it was asked.
    const time = sampleTime(this.table.now(), 0)
    const outcome = await this.#sampling?.sample()
    const member = this.members.find(self)
    if (outcome === undefined || outcome.kind === 'none' || member === undefined) return
    const cpu = outcome.kind === 'value' ? outcome.percent : this.#onSamplerError
    if (cpu === 'stale') return
    this.table.write(member.place as Entry, time, { cpu })
  }
}

/**
 * Makes a balancer of ids. With `poll` it starts to poll its members.
 *
 * @example
 * ```ts
 * const balancer = createBalancer({ nodes: ['10.0.0.1:8080', '10.0.0.2:8080'] })
 * const response = await balancer.run((node) => fetch(`http://${node}/`))
 * ```
 * @throws OptionError, BadNodeError, DuplicateNodeError, TableError
 * @throws EngineError where the engine that was asked for can't be loaded
 */
export function createBalancer(options?: BalancerOptions<string>): Balancer<string>
/**
 * Makes a balancer of objects with an `id`; picks return these very objects. With `poll` it starts to poll its members.
 *
 * @example
 * ```ts
 * const nodes = [{ id: '10.0.0.1:8080', zone: 'a' }, { id: '10.0.0.2:8080', zone: 'b' }]
 * const balancer = createBalancer({ nodes })
 * const { zone } = balancer.select()
 * ```
 * @throws OptionError, BadNodeError, DuplicateNodeError, TableError, EngineError
 */
export function createBalancer<N extends { readonly id: string }>(options: BalancerOptions<N>): Balancer<N>
/**
 * Makes a balancer of either. With `poll` it starts to poll its members.
 *
 * @throws OptionError, BadNodeError, DuplicateNodeError, TableError, EngineError
 */
export function createBalancer<N extends NodeLike>(options: BalancerOptions<N>): Balancer<N>
export function createBalancer(options: BalancerOptions = {}): Balancer {
  return new PollingBalancer(options)
}

/** The table to use: the one given, one of its own for a clock of the user's, or the process's. */
export function tableFor(table: Table | undefined, clock: Table['clock'] | undefined): Table {
  if (table === undefined) return clock === undefined ? processTable() : new Table(clock)
  if (clock !== undefined && clock !== table.clock) {
    throw new OptionError('clock', clock, "the table's own clock: give it to createTable({ clock }) alone")
  }
  return table
}

function jitterFrom(seed: Seed): () => number {
  const generator = new Generator(streamOf(seed, JITTER_STREAM))
  return () => generator.next() / 2 ** 32
}
