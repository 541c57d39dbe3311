import type { Clock } from '../clock.js'
import { type CpuCounters, type CpuSource, cpuCounters, percentBetween } from '../reports/node-cpu.js'
import type { Answer } from './answer.js'
import type { HttpReading } from './http-exchange.js'
import { HttpNode } from './http-node.js'
import type { PlacedMember } from './member.js'
import type { MakerContext, MemberMaker } from './member-makers.js'
import { SecureContexts } from './secure-contexts.js'
import type { Place } from './store.js'
import type { NodeExporterTarget } from './transports/node-exporter.js'

/** Longest page, bytes: a machine of many cores and disks has some hundred KiB. */
const PAGE_LIMIT = 4 * 1024 * 1024

/** Makes CPU readings of the pages of one node. */
export class CpuRate implements HttpReading {
  readonly headers = { accept: 'text/plain;version=0.0.4' }
  readonly bodyLimit = PAGE_LIMIT
  readonly #source: CpuSource
  #before: { readonly counters: CpuCounters; readonly at: number } | undefined

  constructor(source: CpuSource) {
    this.#source = source
  }

  readBody(page: string, at: number): Answer {
    const counters = cpuCounters(page, this.#source, at)
    const before = this.#before
    const cpu = before === undefined ? undefined : percentBetween(before.counters, counters)
    // cAdvisor looks less often than it may be asked: the next new sample is compared with the last one.
    if (before === undefined || counters.total !== before.counters.total) this.#before = { counters, at }
    if (before === undefined || cpu === undefined) return { kind: 'heard' }
    return { kind: 'report', report: { cpu, age: (at - before.at) / 2 }, at }
  }
}

/** A node whose CPU is read off a page for Prometheus, with its slot. */
class NodeExporterMember extends HttpNode implements PlacedMember {
  readonly id: string
  readonly slot: number
  readonly generation: number

  constructor(target: NodeExporterTarget, place: Place, contexts: SecureContexts, now: () => number) {
    super(target, new CpuRate(target.source), contexts, now)
    this.id = target.id
    this.slot = place.slot
    this.generation = place.generation
  }
}

/** Makes the members of one poller that have pages for Prometheus; they share TLS contexts. */
export class NodeExporterMembers implements MemberMaker<NodeExporterTarget> {
  readonly #contexts = new SecureContexts()
  readonly #clock: Clock

  constructor({ clock }: MakerContext) {
    this.#clock = clock
  }

  make(target: NodeExporterTarget, place: Place): PlacedMember {
    return new NodeExporterMember(target, place, this.#contexts, () => this.#clock.now())
  }
}
