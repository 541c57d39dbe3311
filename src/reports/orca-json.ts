import { BadReportError } from '../errors.js'
import type { Report } from '../report.js'
import { amount, finite, MAX_VALUE, record } from './values.js'

/** The longest text that is read as a report, in UTF-16 units: 64 KiB, the poller's own limit for a body. */
export const MAX_TEXT = 65_536

// So that what was read is a report that the API takes.
const MAX_UTILIZATION = MAX_VALUE / 100

/** How a field of `xds.data.orca.v3.OrcaLoadReport` is written, or `age_ms`, which is ours. */
type WireKind =
  /** 0-1 on the wire, percent in a report. */
  | 'utilization'
  /** The same number on both sides. */
  | 'plain'

type NumberField = 'cpu' | 'application' | 'memory' | 'qps' | 'eps' | 'age'

const NUMBERS: readonly (readonly [field: NumberField, wire: string, kind: WireKind])[] = [
  ['cpu', 'cpu_utilization', 'utilization'],
  ['application', 'application_utilization', 'utilization'],
  ['memory', 'mem_utilization', 'utilization'],
  ['qps', 'rps_fractional', 'plain'],
  ['eps', 'eps', 'plain'],
  ['age', 'age_ms', 'plain'],
]

// ORCA has no fields for these; they travel as metrics with these names.
const METRICS = [
  ['inFlight', 'in_flight'],
  ['latency', 'latency_ms'],
  ['queueDelay', 'queue_delay_ms'],
] as const
const metricFields: ReadonlyMap<string, (typeof METRICS)[number][0]> = new Map(
  METRICS.map(([field, metric]) => [metric, field]),
)

// Protobuf's JSON form spells the same names in lowerCamelCase, and its readers must take both.
function camel(wire: string): string {
  return wire.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** A wire field under either of its names; both at once are refused, as protobuf's JSON readers do. */
function wireField(
  fields: Record<string, unknown>,
  wire: string,
): { name: string; value: unknown } | undefined {
  const other = camel(wire)
  const first = Object.hasOwn(fields, wire)
  if (other !== wire && Object.hasOwn(fields, other)) {
    if (first) throw new BadReportError(other, fields[other], `${wire} or ${other}, not both`)
    return { name: other, value: fields[other] }
  }
  return first ? { name: wire, value: fields[wire] } : undefined
}

// 0.07 * 100 is 7.000000000000001; a billionth of a percentage point is far below what any node measures.
function toPercent(utilization: number): number {
  return Math.round(utilization * 1e11) / 1e9
}

function readNumbers(fields: Record<string, unknown>, report: Report): void {
  for (const [field, wire, kind] of NUMBERS) {
    const found = wireField(fields, wire)
    if (found === undefined) continue
    report[field] =
      kind === 'utilization'
        ? toPercent(amount(found.name, found.value, MAX_UTILIZATION))
        : amount(found.name, found.value)
  }
}

function readMetrics(fields: Record<string, unknown>, report: Report): void {
  const found = wireField(fields, 'named_metrics')
  if (found === undefined) return
  const named: [string, number][] = []
  for (const [metric, value] of Object.entries(record(found.name, found.value, 'an object of numbers'))) {
    const path = `${found.name}.${metric}`
    if (metric === '') throw new BadReportError(found.name, metric, 'a name for each metric')
    const field = metricFields.get(metric)
    if (field === undefined) named.push([metric, finite(path, value)])
    else report[field] = amount(path, value)
  }
  // fromEntries defines properties: a metric called `__proto__` stays a metric.
  if (named.length > 0) report.named = Object.fromEntries(named)
}

function checkMap(
  fields: Record<string, unknown>,
  wire: string,
  check: (field: string, value: unknown) => number,
): void {
  const found = wireField(fields, wire)
  if (found === undefined) return
  for (const [key, value] of Object.entries(record(found.name, found.value, 'an object of numbers'))) {
    check(`${found.name}.${key}`, value)
  }
}

function parse(text: string): unknown {
  if (text.length > MAX_TEXT) {
    throw new BadReportError('', text, `at most ${MAX_TEXT} characters of JSON`)
  }
  try {
    return JSON.parse(text)
  } catch {
    throw new BadReportError('', text, 'JSON such as {"cpu_utilization":0.375}')
  }
}

/**
 * Reads a report in the JSON form of ORCA's `OrcaLoadReport`: the names of the proto file or their lowerCamelCase
 * forms, and `age_ms`, the age of the sample. Utilizations of 0-1 become percent, above 1 is legal. The metrics
 * `in_flight`, `latency_ms` and `queue_delay_ms` become the report's own fields, the others its `named`. The maps
 * `utilization` and `request_cost` are checked and not kept; `rps`, deprecated, is skipped; unknown fields are
 * ignored, since later versions of ORCA may add some.
 * @throws BadReportError for what is not JSON, not an object, longer than 64 KiB, or has a field that is not a finite
 * number in range; a quoted number and null (which is what JavaScript writes for NaN) are none
 */
export function readOrcaJson(text: string): Report {
  const fields = record('', parse(text), 'a JSON object')
  const report: Report = {}
  readNumbers(fields, report)
  readMetrics(fields, report)
  checkMap(fields, 'utilization', (field, value) => amount(field, value))
  checkMap(fields, 'request_cost', finite)
  return report
}

/**
 * Writes a report as ORCA's JSON, with proto names; what {@link readOrcaJson} reads back as the same report, its
 * percentages to a billionth. Expects a checked report.
 */
export function writeOrcaJson(report: Report): string {
  const wire: Record<string, unknown> = {}
  for (const [field, name, kind] of NUMBERS) {
    const value = report[field]
    if (value !== undefined) wire[name] = kind === 'utilization' ? value / 100 : value
  }
  const metrics = Object.entries(report.named ?? {})
  // Of two with one name the last stays: the report's own field.
  for (const [field, metric] of METRICS) {
    const value = report[field]
    if (value !== undefined) metrics.push([metric, value])
  }
  if (metrics.length > 0) wire.named_metrics = Object.fromEntries(metrics)
  return JSON.stringify(wire)
}
