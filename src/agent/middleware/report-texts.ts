import { type HeaderForm, writeOrcaHeader } from '../../reports/orca-headers.js'
import { warn as emitWarning } from '../../warn.js'
import type { LoadSource } from './options.js'

interface Written {
  readonly text: string | undefined
  readonly at: number
}

/**
 * The current report as the value of a header, written anew only where the last one is older than `reuse` ms. Counts in
 * the traffic's counters what responses got.
 */
export class ReportTexts {
  readonly #source: LoadSource
  readonly #reuse: number
  readonly #written = new Map<HeaderForm, Written>()
  #warned = false

  /** @param reuse ms */
  constructor(source: LoadSource, reuse: number) {
    this.#source = source
    this.#reuse = reuse
  }

  /** For one response; undefined where there is no report, or it can't be written in this form. */
  take(form: HeaderForm): string | undefined {
    const { clock, counters } = this.#source.traffic
    const now = clock.now()
    let written = this.#written.get(form)
    if (written === undefined || now - written.at >= this.#reuse) {
      written = { text: this.#write(form), at: now }
      this.#written.set(form, written)
    }
    const { text } = written
    if (text === undefined) counters.withoutReport++
    else counters.reports++
    return text
  }

  #write(form: HeaderForm): string | undefined {
    const report = this.#source.report()
    if (report === undefined) return undefined
    try {
      return writeOrcaHeader(report, form)
    } catch (error) {
      // No response fails for want of a report.
      this.#source.traffic.counters.badReports++
      this.#warn(form, error)
      return undefined
    }
  }

  #warn(form: HeaderForm, error: unknown): void {
    if (this.#warned) return
    this.#warned = true
    const why = error instanceof Error ? error.message : String(error)
    emitWarning(
      `responses go without a report: it can't be written as ${form}: ${why}`,
      'IDLEST_REPORT_HEADER',
    )
  }
}
