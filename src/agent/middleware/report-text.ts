import type { HeaderForm } from '../../reports/orca-headers.js'
import { warn } from '../../warn.js'
import { reportHeader } from '../report-header.js'
import type { HeaderText } from './exchange.js'
import type { LoadSource } from './options.js'

/**
 * The current report in one form, as the value of a header. It is written anew only where it is older than `reuse` ms. The
 * traffic's counters tell what responses got.
 */
export class ReportText implements HeaderText {
  readonly #source: LoadSource
  readonly #form: HeaderForm
  readonly #reuse: number
  #text: string | undefined
  // For a response that is to have one, though there is none any more when it is sent.
  #last = ''
  #at = Number.NEGATIVE_INFINITY
  #warned = false

  /** @param reuse ms */
  constructor(source: LoadSource, form: HeaderForm, reuse: number) {
    this.#source = source
    this.#form = form
    this.#reuse = reuse
  }

  take(): string | undefined {
    const text = this.#now()
    this.#count(text !== undefined)
    return text
  }

  promise(): boolean {
    const is = (this.#text ?? this.#now()) !== undefined
    this.#count(is)
    return is
  }

  toString(): string {
    return this.#now() ?? this.#last
  }

  toJSON(): string {
    return this.toString()
  }

  #now(): string | undefined {
    const now = this.#source.traffic.clock.now()
    if (now - this.#at >= this.#reuse) {
      this.#text = this.#write()
      this.#at = now
      if (this.#text !== undefined) this.#last = this.#text
    }
    return this.#text
  }

  #count(is: boolean): void {
    const { counters } = this.#source.traffic
    if (is) counters.reports++
    else counters.withoutReport++
  }

  #write(): string | undefined {
    const report = this.#source.report()
    if (report === undefined) return undefined
    try {
      return reportHeader(report, this.#form)
    } catch (error) {
      // No response fails for want of a report.
      this.#source.traffic.counters.badReports++
      this.#warn(error)
      return undefined
    }
  }

  #warn(error: unknown): void {
    if (this.#warned) return
    this.#warned = true
    const why = error instanceof Error ? error.message : String(error)
    warn(`responses go without a report in ${this.#form}: ${why}`, 'IDLEST_REPORT_HEADER')
  }
}
