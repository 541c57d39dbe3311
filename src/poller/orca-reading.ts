import type { Report } from '../report.js'
import { MAX_REPORT } from '../reports/orca-fields.js'
import {
  BINARY_HEADER,
  FORMAT_HEADER,
  type HeaderForm,
  REPORT_HEADER,
  readOrcaBinaryHeader,
  readOrcaHeader,
} from '../reports/orca-headers.js'
import { readOrcaJson } from '../reports/orca-json.js'
import type { Answer } from './answer.js'
import type { HttpReading } from './http-exchange.js'
import type { AnswerHeaders } from './http-head.js'
import { HttpMembers } from './http-member.js'
import type { MakerContext } from './member-makers.js'
import type { HttpTarget } from './transports/http.js'

// A header that stands several times is two reports, or half of one.
function single(name: string, value: string | string[]): string {
  if (typeof value === 'string') return value
  throw new Error(`the header ${name} stands ${value.length} times`)
}

function reported(report: Report, at: number, unknown: readonly string[]): Answer {
  return { kind: 'report', report, at, ...(unknown.length === 0 ? {} : { unknown }) }
}

function readHeaders(headers: AnswerHeaders, at: number): Answer | undefined {
  const binary = headers[BINARY_HEADER]
  if (binary !== undefined) {
    return { kind: 'report', report: readOrcaBinaryHeader(single(BINARY_HEADER, binary)), at }
  }
  const text = headers[REPORT_HEADER]
  if (text === undefined) return undefined
  const unknown: string[] = []
  return reported(readOrcaHeader(single(REPORT_HEADER, text), unknown), at, unknown)
}

/** How reports in ORCA's forms are asked for and read. */
export function orcaReading(format: HeaderForm | undefined): HttpReading {
  return {
    headers: {
      accept: 'application/json',
      ...(format === undefined ? {} : { [FORMAT_HEADER]: format }),
    },
    bodyLimit: MAX_REPORT,
    readHeaders,
    readBody(body, at) {
      const unknown: string[] = []
      return reported(readOrcaJson(body, unknown), at, unknown)
    },
  }
}

/** Makes the members of one poller that report in ORCA's forms. */
export function orcaMembers(context: MakerContext): HttpMembers<HttpTarget> {
  return new HttpMembers(context, ({ format }) => orcaReading(format))
}
