import { BadReportError } from '../errors.js'
import type { ReadReport, Report } from '../report.js'
import { readOrcaBinary, writeOrcaBinary } from './orca-binary.js'
import {
  AGE,
  DEPRECATED,
  IncomingReport,
  NAMED_METRICS,
  ORCA_MAPS,
  ORCA_NUMBERS,
  outgoingMetrics,
  outgoingNumbers,
  wirePlace,
} from './orca-fields.js'
import { readOrcaJson, writeOrcaJson } from './orca-json.js'
import { addUnknown } from './unknown-fields.js'
import { decimal } from './values.js'

/** The response header that carries a report: a form's name, a space, the report. */
export const REPORT_HEADER = 'endpoint-load-metrics'
/** The response header or gRPC trailer that carries a serialized report, in base64. It goes before the other. */
export const BINARY_HEADER = 'endpoint-load-metrics-bin'
/** The request header that asks for reports, and names the form. */
export const FORMAT_HEADER = 'endpoint-load-metrics-format'

/** Longest report in a header, characters. Clients take 16 KiB of headers in all, or less. */
export const MAX_REPORT_HEADER = 8_192
/** Longest serialized report in a header or trailer, bytes: as long in base64. */
export const MAX_REPORT_TRAILER = (MAX_REPORT_HEADER / 4) * 3

/**
 * The form of a report in a header: gRPC's text (`TEXT cpu_utilization=0.3`), ORCA's JSON, or the serialized message in
 * base64.
 */
export type HeaderForm = 'TEXT' | 'JSON' | 'BIN'

/** The forms of a report in a header. */
export const HEADER_FORMS = ['TEXT', 'JSON', 'BIN'] as const satisfies readonly HeaderForm[]

const numbersByName = new Map(ORCA_NUMBERS.map((number) => [number.wire, number]))
const mapsByName = new Map<string, (typeof ORCA_MAPS)[number]>(ORCA_MAPS.map((map) => [map.wire, map]))

function readTextPair(
  name: string,
  value: number | string,
  report: IncomingReport,
  unknown: string[] | undefined,
): void {
  const number = numbersByName.get(name)
  if (number !== undefined) {
    report.number(number, name, value)
    return
  }
  const dot = name.indexOf('.')
  const map = dot < 0 ? undefined : mapsByName.get(name.slice(0, dot))
  if (map !== undefined) {
    const key = name.slice(dot + 1)
    if (key === '') throw new BadReportError(name, value, `a name after ${map.wire}.`)
    report.entry(map, map.wire, key, value)
  } else if (name === AGE) {
    report.age(name, value)
  } else if (unknown !== undefined && name !== DEPRECATED) {
    addUnknown(unknown, name)
  }
}

function readText(content: string, unknown: string[] | undefined): ReadReport {
  const report = new IncomingReport()
  const seen = new Set<string>()
  for (const part of content.split(',')) {
    const pair = part.trim()
    if (pair === '') continue
    const sign = pair.search(/[=:]/)
    const name = pair.slice(0, Math.max(sign, 0)).trimEnd()
    if (name === '') throw new BadReportError('', pair, 'a name and a number such as cpu_utilization=0.375')
    // Both are the same age.
    const key = name === `${NAMED_METRICS.wire}.${AGE}` ? AGE : name
    if (seen.has(key)) throw new BadReportError(name, pair, 'each name once')
    seen.add(key)
    const text = pair.slice(sign + 1).trimStart()
    // What is no number stays text, which every check refuses.
    readTextPair(name, decimal(text) ?? text, report, unknown)
  }
  return report.finish()
}

// Buffer.from skips what is not base64.
const BASE64 = /^([A-Za-z0-9+/]*)(={0,2})$/

function readBase64(text: string): ReadReport {
  const [, digits = '', padding = ''] = BASE64.exec(text) ?? []
  const padded = padding === '' || text.length % 4 === 0
  if (digits.length + padding.length !== text.length || digits.length % 4 === 1 || !padded) {
    throw new BadReportError('', text, 'base64, padded or not')
  }
  return readOrcaBinary(Buffer.from(text, 'base64'))
}

// Before anything is read: whoever sends requests to a node may have it answer with such a header each time.
function checkLength(value: string | Uint8Array): void {
  const [most, unit] =
    typeof value === 'string' ? [MAX_REPORT_HEADER, 'characters'] : [MAX_REPORT_TRAILER, 'bytes']
  if (value.length > most) throw new BadReportError('', value, `at most ${most} ${unit} as a header`)
}

/**
 * Reads the value of an `endpoint-load-metrics` header: `TEXT cpu_utilization=0.375,named_metrics.foo=1` (`:` for `=`
 * too, spaces around either and around commas), `JSON {...}` or `BIN` and base64. What becomes of each field is as in
 * `readOrcaJson`; the age is `age_ms` or `named_metrics.age_ms`. In TEXT unknown names are skipped, as in the other
 * forms, but a name may stand once only.
 * @param unknown the names of the first unknown fields are added to it; BIN has none
 * @throws BadReportError for another form, a value longer than 8 KiB, a pair without a name or a number, a name that
 * stands twice, or what the readers of JSON and of serialized reports refuse
 */
export function readOrcaHeader(value: string, unknown?: string[]): ReadReport {
  checkLength(value)
  const space = value.indexOf(' ')
  const form = space < 0 ? value : value.slice(0, space)
  const content = value.slice(form.length).trim()
  switch (form) {
    case 'TEXT':
      return readText(content, unknown)
    case 'JSON':
      return readOrcaJson(content, unknown)
    case 'BIN':
      return readBase64(content)
    default:
      throw new BadReportError('', value, 'TEXT, JSON or BIN, and then the report')
  }
}

/**
 * Reads the value of an `endpoint-load-metrics-bin` header or trailer: a serialized report, as bytes or in base64, padded
 * or not.
 * @throws BadReportError for a text that is not base64, a value longer than 8 KiB in base64, and what `readOrcaBinary` refuses
 */
export function readOrcaBinaryHeader(value: string | Uint8Array): ReadReport {
  checkLength(value)
  if (typeof value !== 'string') return readOrcaBinary(value)
  return readBase64(value.trim())
}

// What a header may hold, without the signs of TEXT itself.
const TEXT_NAME = /^(?:(?![,=:])[ -~])+$/

function writeText(report: Report): string {
  const pairs = outgoingNumbers(report).map(([{ wire }, value]) => `${wire}=${value}`)
  for (const [metric, value] of outgoingMetrics(report)) {
    if (!TEXT_NAME.test(metric) || metric.trim() !== metric) {
      throw new BadReportError(
        `named.${metric}`,
        value,
        "a name of printable ASCII without ',', '=', ':' and outer spaces",
      )
    }
    const { map, name } = wirePlace(metric, value)
    pairs.push(`${map.wire}.${name}=${value}`)
  }
  return pairs.join(',')
}

// A header takes printable ASCII; JSON can say everything in it.
function writeJson(report: Report): string {
  return writeOrcaJson(report).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/**
 * Writes the value of an `endpoint-load-metrics` header, in printable ASCII; what {@link readOrcaHeader} reads back as the
 * same report, its percentages to a billionth. In TEXT and BIN the age is the named metric `age_ms`. The value of a
 * `-bin` header is that of BIN without the word. Expects a checked report.
 * @throws BadReportError for a metric whose name TEXT can't carry; the other forms take any
 */
export function writeOrcaHeader(report: Report, form: HeaderForm): string {
  switch (form) {
    case 'TEXT':
      return `TEXT ${writeText(report)}`
    case 'JSON':
      return `JSON ${writeJson(report)}`
    case 'BIN':
      return `BIN ${Buffer.from(writeOrcaBinary(report)).toString('base64')}`
  }
}
