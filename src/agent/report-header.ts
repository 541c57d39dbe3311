import { BadReportError } from '../errors.js'
import type { Report } from '../report.js'
import { type HeaderForm, writeOrcaHeader } from '../reports/orca-headers.js'

/** Clients take 16 KiB of headers, or less: with more they would refuse the whole response. */
const MAX_REPORT_HEADER = 8_192

/**
 * Writes a report for the header of a response.
 * @throws BadReportError where it has a metric whose name the form can't carry, or is too long for a header: 8 KiB
 */
export function reportHeader(report: Report, form: HeaderForm): string {
  const value = writeOrcaHeader(report, form)
  if (value.length > MAX_REPORT_HEADER) {
    throw new BadReportError('', value, `at most ${MAX_REPORT_HEADER} characters as a header`)
  }
  return value
}
