import * as v from 'valibot'
import type { Clock } from '../clock.js'
import { BadReportError, reasonOf } from '../errors.js'
import { checkOptions, flag, options } from '../options.js'
import { reportUnknownFields } from '../poller/unknown-field-warnings.js'
import type { ReadReport, Report } from '../report.js'
import { BINARY_HEADER, readOrcaBinaryHeader, readOrcaHeader } from '../reports/orca-headers.js'
import { unknownStateReason } from '../reports/unknown-state.js'
import type { StoreResult } from '../table/report.js'
import { publishReportError } from '../telemetry.js'
import { isUint8Array } from '../typed-array.js'
import { InBandWarnings } from './in-band-warnings.js'
import type { Member } from './member.js'
import { type CarriedReport, carriedReport, type ReportSource, stripReport } from './report-headers.js'

/** How `observe` goes about it. */
export interface ObserveOptions {
  /** Takes the report's headers out of what was given, so that a proxy does not pass them on. Default false. */
  stripHeader?: boolean | undefined
}

/**
 * What became of a response's report: it was `stored`; all that it says is `older` than what is known; it says nothing that
 * is kept (`empty`); there is none (`absent`); it is `bad`; or the node is not a member (`unknown`).
 */
export type Observed = 'stored' | 'older' | 'empty' | 'absent' | 'bad' | 'unknown'

/**
/**
 * How many responses became what. `warned`: nodes and headers that were warned of, alone or with others; each is warned of
 * once. `unknownFields`: reports that had fields which are not known; the other fields were used.
 */
export type InBandCounters = Record<Observed | 'warned' | 'unknownFields', number>

export interface InBandOptions {
  /** The balancer's name. */
  readonly name: string
  readonly clock: Clock
  /** Takes a report of a member. */
  readonly take: (member: Member, report: Report) => StoreResult
}

const observeOptions = options({ stripHeader: v.optional(flag()) })

/** Takes reports off responses. What is wrong with them is the network's, so it is counted and told, and never thrown. */
export class InBand {
  readonly counters: InBandCounters = {
    stored: 0,
    older: 0,
    empty: 0,
    absent: 0,
    bad: 0,
    unknown: 0,
    warned: 0,
    unknownFields: 0,
  }
  readonly #options: InBandOptions
  // The headers that a member was warned of for.
  readonly #warned = new WeakMap<Member, Set<string>>()
  // Members that were warned of for unknown fields.
  readonly #misspelt = new WeakSet<Member>()
  readonly #warnings: InBandWarnings

  constructor(options: InBandOptions) {
    this.#options = options
    this.#warnings = new InBandWarnings(options.name, options.clock)
  }

  /** Gives the warnings that are held back. */
  close(): void {
    this.#warnings.flush()
  }

  /** Throws OptionError for what are no headers, or no options. */
  observe(
    member: Member | undefined,
    source: ReportSource | undefined | null,
    options: ObserveOptions | undefined,
  ): Observed {
    const stripHeader = options !== undefined && stripsHeader(options)
    const carried = source === undefined || source === null ? undefined : carriedReport(source)
    let observed: Observed = 'absent'
    if (carried !== undefined) observed = member === undefined ? 'unknown' : this.#take(member, carried)
    this.counters[observed]++
    if (stripHeader && carried !== undefined) stripReport(source as ReportSource)
    return observed
  }

  #take(member: Member, carried: CarriedReport): Observed {
    const unknown: string[] = []
    let report: ReadReport
    try {
      report = readCarried(carried, unknown)
    } catch (error) {
      this.#bad(member, carried, `can't be used: ${reasonOf(error)}`, error)
      return 'bad'
    }
    if (unknown.length > 0) this.#misread(member, carried, unknown)
    const { unknownState } = report
    if (unknownState !== undefined) {
      const reason = unknownStateReason(unknownState)
      this.#bad(member, carried, reason, new BadReportError('state', unknownState, 'a state that is known'))
    }
    const result = this.#options.take(member, report)
    return result === 'left' ? 'unknown' : result
  }

  #misread(member: Member, { header }: CarriedReport, unknown: readonly string[]): void {
    this.counters.unknownFields++
    if (this.#misspelt.has(member)) return
    this.#misspelt.add(member)
    reportUnknownFields(this.#options.name, [[member.id, unknown]], header)
  }

  #bad(member: Member, { header }: CarriedReport, reason: string, error: unknown): void {
    const { name: balancer } = this.#options
    const { id: node } = member
    publishReportError({ balancer, node, header, error })
    const warned = this.#warned.get(member) ?? new Set()
    if (warned.has(header)) return
    this.#warned.set(member, warned.add(header))
    this.counters.warned++
    this.#warnings.add({ node, header, reason })
  }
}

// The whole check takes as long as reading the report.
function stripsHeader(given: ObserveOptions): boolean {
  const { stripHeader } = given
  if (stripHeader !== true || Object.keys(given).length > 1) checkOptions('observe', given, observeOptions)
  return stripHeader === true
}

function readCarried({ header, value }: CarriedReport, unknown: string[]): ReadReport {
  const isBinary = header === BINARY_HEADER
  if (typeof value === 'string')
    return isBinary ? readOrcaBinaryHeader(value) : readOrcaHeader(value, unknown)
  if (isBinary && isUint8Array(value)) return readOrcaBinaryHeader(value)
  throw new BadReportError(header, value, isBinary ? 'base64 or bytes' : 'a text')
}
