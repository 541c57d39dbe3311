import type { HeaderForm } from '../../reports/orca-headers.js'
import { warn } from '../../warn.js'
import { reportHeader } from '../report-header.js'
import type { LoadSource } from './options.js'

/**
 * The current report in one form, as the value of a header. It is written anew only where it is older than `reuse` ms. The
 * traffic's counters tell what responses got.
 */
export class ReportText {
  readonly #source: LoadSource
  readonly #form: HeaderForm
  readonly #reuse: number
  #text: string | undefined
  #at = Number.NEGATIVE_INFINITY
  #warned = false

  /** @param reuse ms */
  constructor(source: LoadSource, form: HeaderForm, reuse: number) {
    this.#source = source
    this.#form = form
    this.#reuse = reuse
  }

  /** For one response; undefined where there is no report, or it can't be written in this form. */
  take(): string | undefined {
    const { clock, counters } = this.#source.traffic
    const now = clock.now()
    if (now - this.#at >= this.#reuse) {
      this.#text = this.#write()
      this.#at = now
    }
    if (this.#text === undefined) counters.withoutReport++
    else counters.reports++
    return this.#text
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
