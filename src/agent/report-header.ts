import { BadReportError } from '../errors.js'
import type { Report } from '../report.js'
import { writeOrcaBinary } from '../reports/orca-binary.js'
import {
  type HeaderForm,
  MAX_REPORT_HEADER,
  MAX_REPORT_TRAILER,
  writeOrcaHeader,
} from '../reports/orca-headers.js'
import { bufferOf } from './buffer.js'

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

/**
 * Writes a report for a trailer of gRPC, which goes on the wire in base64.
 * @throws BadReportError where it is too long for a trailer: 8 KiB in base64
 */
export function reportTrailer(report: Report): Buffer {
  const value = bufferOf(writeOrcaBinary(report))
  if (value.length > MAX_REPORT_TRAILER) {
    throw new BadReportError('', value, `at most ${MAX_REPORT_TRAILER} bytes as a trailer`)
  }
  return value
}
