import type { NodeState, Report } from '../report.js'
import { NODE_STATES } from '../reports/check.js'

/** What {@link writeMetrics} writes, for `content-type`. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

type Labels = Readonly<Record<string, string>>
type Series = readonly [value: number, labels?: Labels]

/** Prometheus wants its base units: seconds and ratios. */
const PERCENT = 100
const MS = 1_000

const GAUGES = [
  ['cpu', 'cpu_ratio', PERCENT, 'CPU utilization as it was sampled, 0-1.'],
  ['application', 'application_ratio', PERCENT, 'Application utilization, 1 where it is full.'],
  ['memory', 'memory_ratio', PERCENT, 'Memory utilization, 0-1.'],
  ['qps', 'requests_per_second', 1, 'Requests served per second.'],
  ['eps', 'errors_per_second', 1, 'Errors per second.'],
  ['inFlight', 'requests_in_flight', 1, 'Requests in flight.'],
  ['latency', 'latency_seconds', MS, 'Latency of a request.'],
  ['queueDelay', 'queue_delay_seconds', MS, 'Time from arrival of a request to start of its work.'],
  ['weight', 'weight_ratio', PERCENT, 'Weight relative to the usual one: 0.5 counts half, 2 twice.'],
  [
    'maxInFlight',
    'max_in_flight',
    1,
    'Most requests in flight that are taken from one process, 0 for no limit.',
  ],
  ['age', 'report_age_seconds', MS, 'Age of the oldest part of the report.'],
] as const satisfies readonly (readonly [keyof Report, string, number, string])[]

function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
}

function line(name: string, [value, labels = {}]: Series): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}\n`
}

/**
 * Writes an agent's report and counters as Prometheus text, version 0.0.4: names start with `idlest_agent_`, percent
 * become ratios and ms seconds.
 * @param report as it is now; undefined before the first sample
 * @param state what the agent says of taking work
 * @param counters by part of the agent, such as `http`; parts that are undefined are left out
 */
export function writeMetrics(
  report: Report | undefined,
  state: NodeState,
  counters: Readonly<Record<string, object | undefined>>,
): string {
  let text = ''
  function family(name: string, type: 'gauge' | 'counter', help: string, series: readonly Series[]): void {
    if (series.length === 0) return
    text += `# HELP idlest_agent_${name} ${help}\n# TYPE idlest_agent_${name} ${type}\n`
    for (const one of series) text += line(`idlest_agent_${name}`, one)
  }
  for (const [field, name, unit, help] of GAUGES) {
    const value = report?.[field]
    if (value !== undefined) family(name, 'gauge', help, [[value / unit]])
  }
  family(
    'named_metric',
    'gauge',
    "Metrics of the server's own.",
    Object.entries(report?.named ?? {}).map(([name, value]) => [value, { name }]),
  )
  family(
    'state',
    'gauge',
    'What is said of taking work: 1 for the state that holds.',
    NODE_STATES.map((one) => [one === state ? 1 : 0, { state: one }]),
  )
  family(
    'events_total',
    'counter',
    'What the parts of the agent did since its start.',
    Object.entries(counters).flatMap(([part, counts]) =>
      Object.entries(counts ?? {}).flatMap(([event, count]): Series[] =>
        typeof count === 'number' ? [[count, { part, event }]] : [],
      ),
    ),
  )
  return text
}
