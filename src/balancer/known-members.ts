import { type Algorithm, isKeyed, weightsOf } from '../algorithms/registry.js'
import type { Clock } from '../clock.js'
import { ClosedError, UnknownNodeError } from '../errors.js'
import type { NodeMeter } from '../meter/node-meter.js'
import type { NodeMeterOptions } from '../meter/options.js'
import { MeterRegistry } from '../meter/registry.js'
import { type PlacedTold, toldBy } from '../poller/told.js'
import type { Report } from '../report.js'
import { checkReport } from '../reports/check.js'
import type { TableMemory } from '../table/memory.js'
import { Publications } from '../table/publications.js'
import type { StoreResult } from '../table/report.js'
import { InBand, type Observed, type ObserveOptions } from './in-band.js'
import type { Member } from './member.js'
import { Members, type Places } from './members.js'
import { keyBy, looseId, type NodeLike } from './node.js'
import { type HealthCounters, PassiveHealth } from './passive-health.js'
import { newPickCounters } from './pick-counters.js'
import type { ReportSource } from './report-headers.js'
import { ReportIntake } from './report-intake.js'
import { Suspicion, type SuspicionCounters } from './suspicion.js'
import type { TrustSettings } from './trust-options.js'

export interface KnownMembersOptions {
  readonly name: string
  readonly memory: TableMemory
  readonly clock: Clock
  readonly algorithm: Algorithm
  readonly places: Places
  /** Least time between two publications of reports that come one by one, ms; 0: each at once. */
  readonly coalesce: number
  readonly trust: TrustSettings
}

/** The members of a balancer, and what is heard of them. */
export abstract class KnownMembers<N extends NodeLike = NodeLike> {
  readonly name: string
  readonly algorithm: Algorithm
  protected readonly members: Members<N>
  protected readonly clock: Clock
  protected readonly memory: TableMemory
  /** What decides whom the balancer trusts. */
  protected readonly trust: TrustSettings
  protected readonly counters = newPickCounters()
  readonly #reports: ReportIntake
  protected readonly inBand: InBand
  /** Where members are ejected for what becomes of their leases. */
  protected readonly health: PassiveHealth | undefined
  /** Where members may be suspect. */
  protected readonly suspicion: Suspicion | undefined
  protected readonly publications: Publications
  readonly #meters: MeterRegistry
  #closed = false

  protected constructor(options: KnownMembersOptions) {
    const { name, memory, clock, algorithm, places, coalesce, trust } = options
    this.name = name
    this.algorithm = algorithm
    this.clock = clock
    this.memory = memory
    this.trust = trust
    const keyOf = isKeyed(algorithm) ? keyBy(algorithm.keyOf) : undefined
    this.members = new Members(places, weightsOf(algorithm), keyOf)
    this.#reports = new ReportIntake(memory, clock, this.counters)
    this.publications = new Publications(memory, clock, coalesce)
    this.inBand = new InBand({ name, clock, take: (member, report) => this.#takeOff(member, report) })
    const watched = {
      name,
      clock,
      members: this.members as Members<NodeLike>,
      onChange: (members: readonly Member[]) => this.restood(members as readonly Member<N>[]),
    }
    if (trust.health !== false) this.health = new PassiveHealth({ ...watched, settings: trust.health })
    if (trust.suspicion !== false) {
      this.suspicion = new Suspicion({ ...watched, memory, algorithm, settings: trust.suspicion })
    }
    this.#meters = new MeterRegistry(memory, clock, algorithm)
  }

  get closed(): boolean {
    return this.#closed
  }

  report(node: NodeLike, report: Report): boolean {
    const checked = checkReport(report)
    const member = this.closed ? undefined : this.find(node)
    const isTold = member !== undefined && this.hear(member, checked)
    return this.#reports.take(member, checked, isTold)
  }

  observe(node: NodeLike, source: ReportSource | undefined | null, options?: ObserveOptions): Observed {
    return this.inBand.observe(this.closed ? undefined : this.find(node), source, options)
  }

  /**
   * Takes what nodes told of themselves.
   * @internal what a poller hears
   */
  told(list: readonly PlacedTold[]): void {
    if (this.closed) return
    const changed: Member<N>[] = []
    for (const told of list) {
      const member = this.members.at(told.slot, told.generation)
      // It has left meanwhile.
      if (member === undefined) this.counters.reportsUnknown++
      else if (this.members.tell(member, told)) changed.push(member)
    }
    if (changed.length > 0) this.restood(changed)
  }

  meter(node: NodeLike, options: NodeMeterOptions = {}): NodeMeter {
    this.checkOpen()
    return this.#meters.meter(() => {
      const member = this.find(node)
      this.checkOpen()
      if (member === undefined) throw new UnknownNodeError(node)
      return member
    }, options)
  }

  protected find(node: NodeLike): Member<N> | undefined {
    const id = looseId(node)
    return typeof id === 'string' ? this.members.find(id) : undefined
  }

  /** Takes what a report tells of its node that is for the members. Returns whether it tells anything. */
  protected hear(member: Member<N>, report: Report): boolean {
    const told = toldBy(member, report)
    if (told === undefined) return false
    if (this.members.tell(member, told)) {
      this.heard(told)
      this.restood([member])
    }
    return true
  }

  /** Called with what a node told, other than before, in a report that did not come from a poll. */
  protected abstract heard(told: PlacedTold): void

  /** Called after each change of who the members are, and of what was ordered of them. */
  protected changed(): void {
    this.#settle(() => this.membersChanged())
  }

  /** Called after what is known of these members changed, so that they may stand in another way. */
  protected restood(_members: readonly Member<N>[]): void {
    this.#settle(() => {
      // Else the same ones may be picked.
      if (this.members.stale) this.membersChanged()
    })
  }

  /** Makes the next pick see who may be picked. */
  protected abstract membersChanged(): void

  #settle(then: () => void): void {
    const returned = this.health?.membersChanged()
    this.members.settle()
    then()
    if (returned !== undefined) this.health?.told(returned)
  }

  protected healthCounters(): HealthCounters {
    const { isOpen, timesOpen } = this.members.standings
    const { counters = { ejections: 0, returned: 0, spared: 0, recalled: 0 } } = this.health ?? {}
    let ejected = 0
    for (const member of this.members.all()) if (member.ejected) ejected++
    return { ejected, ...counters, isOpen, timesOpen }
  }

  protected suspicionCounters(): SuspicionCounters {
    const { suspected, cleared } = this.suspicion?.counters ?? { suspected: 0, cleared: 0 }
    let suspects = 0
    for (const member of this.members.all()) if (member.suspect) suspects++
    return { suspects, suspected, cleared }
  }

  protected checkOpen(): void {
    if (this.closed) throw new ClosedError(`balancer ${this.name}`)
  }

  #takeOff(member: Member, report: Report): StoreResult {
    const isTold = this.hear(member as Member<N>, report)
    const result = this.#reports.store(member, report)
    if (result === 'stored') this.publications.soon()
    return isTold ? 'stored' : result
  }

  protected closeMembers(): void {
    this.publications.close()
    this.inBand.close()
    this.health?.close()
    this.#meters.close()
    this.#closed = true
  }
}
