import { type CpuCounters, type CpuSource, cpuCounters, percentBetween } from '../reports/node-cpu.js'
import type { Answer } from './answer.js'
import type { HttpReading } from './http-exchange.js'
import { HttpMembers } from './http-member.js'
import type { MakerContext } from './member-makers.js'
import { PageCosts } from './page-costs.js'
import type { NodeExporterTarget } from './transports/node-exporter.js'

/** Longest page, bytes: a machine of many cores and disks has some hundred KiB. */
const PAGE_LIMIT = 4 * 1024 * 1024

/** Longest line, bytes. */
const LINE_LIMIT = 65_536

/** How long a line takes beside its characters, in characters of lines that are skipped. */
const LINE_WORK = 16
/** How many times as long it takes to read a character of a wanted line as one of a line that is skipped. */
const READ_TIMES = 50

/** Makes CPU readings of the pages of one node. */
export class CpuRate implements HttpReading {
  readonly headers = { accept: 'text/plain;version=0.0.4' }
  readonly bodyLimit = PAGE_LIMIT
  readonly lineLimit = LINE_LIMIT
  work = 0
  readonly #source: CpuSource
  #before: { readonly counters: CpuCounters; readonly at: number } | undefined

  constructor(source: CpuSource) {
    this.#source = source
  }

  readBody(page: string, at: number): Answer {
    const cost = { lines: 0, read: 0 }
    let counters: CpuCounters
    try {
      counters = cpuCounters(page, this.#source, at, cost)
    } finally {
      this.work = page.length + LINE_WORK * cost.lines + READ_TIMES * cost.read
    }
    const before = this.#before
    const cpu = before === undefined ? undefined : percentBetween(before.counters, counters)
    // cAdvisor looks less often than it may be asked: the next new sample is compared with the last one.
    if (before === undefined || counters.total !== before.counters.total) this.#before = { counters, at }
    if (before === undefined || cpu === undefined) return { kind: 'heard' }
    return { kind: 'report', report: { cpu, age: (at - before.at) / 2 }, at }
  }
}

/** Makes the members of one poller that have pages for Prometheus. */
export function nodeExporterMembers(context: MakerContext): HttpMembers<NodeExporterTarget> {
  return new HttpMembers(context, ({ source }) => new CpuRate(source), new PageCosts())
}
