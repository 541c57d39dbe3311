import { BadReportError } from '../errors.js'
import { nearestName } from '../nearest.js'
import type { NodeState, Report } from '../report.js'
import { METRICS } from '../table/layout.js'
import { amount, finite, record } from './values.js'

/** The fields of a report that hold one number. */
const NUMBER_FIELDS = [
  ...METRICS,
  'age',
  'weight',
  'maxInFlight',
] as const satisfies readonly (keyof Report)[]

/** What a node's state may be, the gravest last. */
export const NODE_STATES = ['up', 'drain', 'maint', 'down'] as const satisfies readonly NodeState[]

const FIELDS: readonly string[] = [...NUMBER_FIELDS, 'named', 'state']
const NUMBERS: ReadonlySet<string> = new Set(NUMBER_FIELDS)

function checkNamed(value: unknown): Record<string, number> {
  const metrics = record('named', value, 'an object of finite numbers')
  // fromEntries defines properties: a metric called `__proto__` stays a metric.
  return Object.fromEntries(
    Object.entries(metrics).map(([name, metric]) => {
      if (name === '') throw new BadReportError('named', name, 'a name for each metric')
      return [name, finite(`named.${name}`, metric)]
    }),
  )
}

function checkState(value: unknown): NodeState {
  const state = NODE_STATES.find((known) => known === value)
  if (state === undefined) throw new BadReportError('state', value, "'up', 'drain', 'maint' or 'down'")
  return state
}

/**
 * Checks a report that was given to the API and copies it, so that later changes to the object change nothing.
 * Fields are finite numbers from 0 to 1e12; `cpu` above 100 passes (it is stored as 100); fields that are
 * undefined count as not given; `named` is an object of any finite numbers with names, `state` one of its four words.
 * @throws BadReportError with the field, its value and what would be right; for an unknown field, the nearest known
 */
export function checkReport(value: unknown): Report {
  const given = record('', value, 'an object such as { cpu: 37.5, age: 120 }')
  const report: Report = {}
  for (const [field, content] of Object.entries(given)) {
    if (NUMBERS.has(field)) {
      if (content !== undefined) report[field as (typeof NUMBER_FIELDS)[number]] = amount(field, content)
    } else if (field === 'named') {
      if (content !== undefined) report.named = checkNamed(content)
    } else if (field === 'state') {
      if (content !== undefined) report.state = checkState(content)
    } else {
      throw new BadReportError(field, content, `a known field; the nearest is ${nearestName(field, FIELDS)}`)
    }
  }
  return report
}
