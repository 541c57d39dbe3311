import type { Report } from '../../report.js'
import { warn } from '../../warn.js'
import type { LoadSource } from './options.js'

/** How a report is written for responses. */
export interface ReportForm<T> {
  /** Its name, for a warning. */
  readonly name: string
  /** Throws where the report can't be written so. */
  write(report: Report): T
}

/**
 * The current report in one form. It is written anew only where it is older than `reuse` ms. The traffic's counters tell what
 * responses got.
 */
export class WrittenReport<T> {
  readonly #source: LoadSource
  readonly #form: ReportForm<T>
  readonly #reuse: number
  #written: T | undefined
  #at = Number.NEGATIVE_INFINITY
  #warned = false

  /** @param reuse ms */
  constructor(source: LoadSource, form: ReportForm<T>, reuse: number) {
    this.#source = source
    this.#form = form
    this.#reuse = reuse
  }

  /** For one response; undefined where there is no report, or it can't be written in this form. */
  take(): T | undefined {
    const { clock, counters } = this.#source.traffic
    const now = clock.now()
    if (now - this.#at >= this.#reuse) {
      this.#written = this.#write()
      this.#at = now
    }
    if (this.#written === undefined) counters.withoutReport++
    else counters.reports++
    return this.#written
  }

  #write(): T | undefined {
    const report = this.#source.report()
    if (report === undefined) return undefined
    try {
      return this.#form.write(report)
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
    warn(`responses go without a report in ${this.#form.name}: ${why}`, 'IDLEST_REPORT_HEADER')
  }
}
