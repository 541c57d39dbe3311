import { BadReportError } from '../errors.js'
import type { ReadReport, Report } from '../report.js'
import {
  AGE,
  camel,
  DEPRECATED,
  IncomingReport,
  MAX_REPORT,
  ORCA_MAPS,
  ORCA_NUMBERS,
  outgoingMetrics,
  outgoingNumbers,
  wirePlace,
} from './orca-fields.js'
import { addUnknown } from './unknown-fields.js'
import { record } from './values.js'

const camelNames: ReadonlyMap<string, string> = new Map(
  [...ORCA_NUMBERS, ...ORCA_MAPS, { wire: AGE }].map(({ wire }) => [wire, camel(wire)]),
)
const known: ReadonlySet<string> = new Set([...[...camelNames].flat(), DEPRECATED])

/** A wire field under either of its names; both at once are refused, as protobuf's JSON readers do. */
function wireField(
  fields: Record<string, unknown>,
  wire: string,
): { name: string; value: unknown } | undefined {
  const other = camelNames.get(wire) ?? wire
  const first = Object.hasOwn(fields, wire)
  if (other !== wire && Object.hasOwn(fields, other)) {
    if (first) throw new BadReportError(other, fields[other], `${wire} or ${other}, not both`)
    return { name: other, value: fields[other] }
  }
  return first ? { name: wire, value: fields[wire] } : undefined
}

function parse(text: string): unknown {
  if (text.length > MAX_REPORT) {
    throw new BadReportError('', text, `at most ${MAX_REPORT} characters of JSON`)
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
 * `in_flight`, `latency_ms`, `queue_delay_ms`, `age_ms`, `idlest_state` (0 up, 1 drain, 2 maint, 3 down),
 * `idlest_weight` and `idlest_max_in_flight` become the report's own fields, the others its `named`. A state of 4 to 255 is
 * one of a later version and becomes `unknownState`. The entry `NAME` of `utilization` becomes `utilization.NAME` in
 * `named`, 0-1. The map `request_cost` is checked and not kept; `rps`, deprecated, is skipped; unknown fields are skipped
 * too, since later versions of ORCA may add some.
 * @param unknown the names of the first unknown fields are added to it
 * @throws BadReportError for what is not JSON, not an object, longer than 64 KiB, or has a field that is not a finite
 * number in range; a quoted number and null (which is what JavaScript writes for NaN) are none
 */
export function readOrcaJson(text: string, unknown?: string[]): ReadReport {
  const fields = record('', parse(text), 'a JSON object')
  const report = new IncomingReport()
  for (const number of ORCA_NUMBERS) {
    const found = wireField(fields, number.wire)
    if (found !== undefined) report.number(number, found.name, found.value)
  }
  for (const map of ORCA_MAPS) {
    const found = wireField(fields, map.wire)
    if (found === undefined) continue
    for (const [key, value] of Object.entries(record(found.name, found.value, 'an object of numbers'))) {
      report.entry(map, found.name, key, value)
    }
  }
  const age = wireField(fields, AGE)
  if (age !== undefined) {
    if (report.hasAge) throw new BadReportError(age.name, age.value, 'one age: as a field or as a metric')
    report.age(age.name, age.value)
  }
  if (unknown !== undefined) {
    for (const name of Object.keys(fields)) if (!known.has(name)) addUnknown(unknown, name)
  }
  return report.finish()
}

/**
 * Writes a report as ORCA's JSON, with proto names; what {@link readOrcaJson} reads back as the same report, its
 * percentages to a billionth. Expects a checked report.
 */
export function writeOrcaJson(report: Report): string {
  const wire: Record<string, unknown> = {}
  for (const [{ wire: name }, value] of outgoingNumbers(report)) wire[name] = value
  const metrics = outgoingMetrics(report)
  if (report.age !== undefined) {
    wire[AGE] = report.age
    metrics.delete(AGE)
  }
  const maps = new Map<string, [name: string, value: number][]>()
  for (const [metric, value] of metrics) {
    const { map, name } = wirePlace(metric, value)
    const entries = maps.get(map.wire)
    if (entries === undefined) maps.set(map.wire, [[name, value]])
    else entries.push([name, value])
  }
  for (const [map, entries] of maps) wire[map] = Object.fromEntries(entries)
  return JSON.stringify(wire)
}
