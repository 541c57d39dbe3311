import { BadReportError } from '../errors.js'
import type { NodeState, ReadReport, Report } from '../report.js'
import { NODE_STATES } from './check.js'
import { amount, finite, MAX_VALUE } from './values.js'

/** The longest report that is read, in UTF-16 units or bytes: 64 KiB, whatever it comes in. */
export const MAX_REPORT = 65_536

/** A number of `xds.data.orca.v3.OrcaLoadReport` that is a field of a report. */
export interface OrcaNumber {
  readonly field: 'cpu' | 'application' | 'memory' | 'qps' | 'eps'
  /** Its name in the proto file. */
  readonly wire: string
  /** Its number in the proto file; a double. */
  readonly number: number
  /** 0-1 on the wire and percent in a report, or the same number on both sides. */
  readonly unit: 'utilization' | 'plain'
}

/** What of `OrcaLoadReport` has a field of its own in a report. Beside it `rps`, 3, is skipped: see {@link DEPRECATED}. */
export const ORCA_NUMBERS: readonly OrcaNumber[] = [
  { field: 'cpu', wire: 'cpu_utilization', number: 1, unit: 'utilization' },
  { field: 'application', wire: 'application_utilization', number: 9, unit: 'utilization' },
  { field: 'memory', wire: 'mem_utilization', number: 2, unit: 'utilization' },
  { field: 'qps', wire: 'rps_fractional', number: 6, unit: 'plain' },
  { field: 'eps', wire: 'eps', number: 7, unit: 'plain' },
]

/** A `map<string, double>` of `OrcaLoadReport`. */
export interface OrcaMap {
  readonly wire: 'named_metrics' | 'request_cost' | 'utilization'
  /** Its number in the proto file. */
  readonly number: number
}

/** The map that is kept as a report's `named`. */
export const NAMED_METRICS: OrcaMap = { wire: 'named_metrics', number: 8 }
/** The map that is kept as entries `utilization.NAME` of a report's `named`: 0-1, as on the wire. */
const UTILIZATION: OrcaMap = { wire: 'utilization', number: 5 }
const UTILIZATION_PREFIX = `${UTILIZATION.wire}.`

/** All maps of `OrcaLoadReport`: `request_cost` is checked and not kept. */
export const ORCA_MAPS: readonly OrcaMap[] = [NAMED_METRICS, { wire: 'request_cost', number: 4 }, UTILIZATION]

/** Protobuf's JSON form spells the same names in lowerCamelCase, and its readers must take both. */
export function camel(wire: string): string {
  return wire.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** A field of `OrcaLoadReport` that is deprecated, and skipped. */
export const DEPRECATED = 'rps'

/** The sample's age, ms: a field of ours in JSON, a named metric in forms that have no place for such. */
export const AGE = 'age_ms'
const STATE = 'idlest_state'

// ORCA has no fields for these; they travel as metrics with these names.
const METRICS = [
  ['inFlight', 'in_flight'],
  ['latency', 'latency_ms'],
  ['queueDelay', 'queue_delay_ms'],
  ['age', AGE],
  ['weight', 'idlest_weight'],
  ['maxInFlight', 'idlest_max_in_flight'],
] as const
type MetricField = (typeof METRICS)[number][0]

/** The fields of a report that travel as metrics, with the names of these. */
export const METRIC_FIELDS: readonly (readonly [field: keyof Report, metric: string])[] = [
  ...METRICS,
  ['state', STATE],
]

const metricFields: ReadonlyMap<string, MetricField> = new Map(
  METRICS.map(([field, metric]) => [metric, field]),
)

// So that what was read is a report that the API takes.
const MAX_UTILIZATION = MAX_VALUE / 100

// 0.07 * 100 is 7.000000000000001; a billionth of a percentage point is far below what any node measures.
function toPercent(utilization: number): number {
  return Math.round(utilization * 1e11) / 1e9
}

/** The largest number of a state that a later version may send. */
const MOST_STATE = 255

// Undefined for a state of a later version.
function readState(path: string, value: number): NodeState | undefined {
  const state = NODE_STATES[value]
  const mayBeNewer = Number.isInteger(value) && value >= NODE_STATES.length && value <= MOST_STATE
  if (state !== undefined || mayBeNewer) return state
  throw new BadReportError(path, value, '0 (up), 1 (drain), 2 (maint) or 3 (down)')
}

/** A report on its way in, whatever the form it comes in. What is set twice has the later value. */
export class IncomingReport {
  readonly #report: ReadReport = {}
  readonly #named: [name: string, value: number][] = []

  /**
   * Takes a number as it is on the wire.
   * @param path the field's name for the error
   * @throws BadReportError where it is not a finite number in range
   */
  number({ field, unit }: OrcaNumber, path: string, value: unknown): void {
    this.#report[field] =
      unit === 'utilization' ? toPercent(amount(path, value, MAX_UTILIZATION)) : amount(path, value)
  }

  /** Takes the age of the sample, ms; see {@link number}. */
  age(path: string, value: unknown): void {
    this.#report.age = amount(path, value)
  }

  /** Whether the age was given already. */
  get hasAge(): boolean {
    return this.#report.age !== undefined
  }

  /**
   * Takes an entry of a map. Named metrics are the report's own fields, or its `named`; the entry `NAME` of `utilization`
   * is `utilization.NAME` in `named`, unless its name is empty; others are checked only.
   * @param name the map's name for the error
   * @throws BadReportError where it is not a finite number, is out of its field's range, or is a metric without a name
   */
  entry({ wire }: OrcaMap, name: string, key: string, value: unknown): void {
    const path = `${name}.${key}`
    if (wire === 'named_metrics') this.#metric(name, path, key, value)
    else if (wire === 'utilization') this.#utilization(path, key, value)
    else finite(path, value)
  }

  #utilization(path: string, key: string, value: unknown): void {
    const utilization = amount(path, value)
    if (key !== '') this.#named.push([UTILIZATION_PREFIX + key, utilization])
  }

  #metric(name: string, path: string, metric: string, value: unknown): void {
    if (metric === '') throw new BadReportError(name, metric, 'a name for each metric')
    const field = metricFields.get(metric)
    if (field !== undefined) this.#report[field] = amount(path, value)
    else if (metric === STATE) this.#state(path, finite(path, value))
    else this.#named.push([metric, finite(path, value)])
  }

  #state(path: string, value: number): void {
    const state = readState(path, value)
    delete this.#report[state === undefined ? 'state' : 'unknownState']
    if (state === undefined) this.#report.unknownState = value
    else this.#report.state = state
  }

  /** The report, complete. */
  finish(): ReadReport {
    // fromEntries defines properties: a metric called `__proto__` stays a metric.
    if (this.#named.length > 0) this.#report.named = Object.fromEntries(this.#named)
    return this.#report
  }
}

/** The report's numbers that ORCA has fields for, with their values as on the wire. */
export function outgoingNumbers(report: Report): [number: OrcaNumber, value: number][] {
  const numbers: [OrcaNumber, number][] = []
  for (const number of ORCA_NUMBERS) {
    const value = report[number.field]
    if (value !== undefined) numbers.push([number, number.unit === 'utilization' ? value / 100 : value])
  }
  return numbers
}

/**
 * Everything else of a report as named metrics, the age among them. Where the user's own metric has the name that a
 * field of the report travels under, the field stays.
 */
export function outgoingMetrics(report: Report): Map<string, number> {
  const metrics = new Map(Object.entries(report.named ?? {}))
  for (const [field, metric] of METRICS) {
    const value = report[field]
    if (value !== undefined) metrics.set(metric, value)
  }
  if (report.state !== undefined) metrics.set(STATE, NODE_STATES.indexOf(report.state))
  return metrics
}

/** The map and the name under which a metric of {@link outgoingMetrics} is written. */
export function wirePlace(metric: string, value: number): { readonly map: OrcaMap; readonly name: string } {
  const name = metric.slice(UTILIZATION_PREFIX.length)
  // Readers refuse a utilization that is negative or beyond all range, but not a named metric.
  const isUtilization =
    metric.startsWith(UTILIZATION_PREFIX) && name !== '' && value >= 0 && value <= MAX_VALUE
  return isUtilization ? { map: UTILIZATION, name } : { map: NAMED_METRICS, name: metric }
}
