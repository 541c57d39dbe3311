// Reports by chance, and what tests of their readers share.
import type { ExecutionContext } from 'ava'
import fc from 'fast-check'
import { BadReportError } from '../../dist/errors.js'
import type { ReadReport, Report } from '../../dist/report.js'

// Thousandths of a percentage point are what the table keeps.
const percent = fc.integer({ min: 0, max: 1_000_000 }).map((thousandths) => thousandths / 1000)
const load = fc.double({ min: 0, max: 1e12, noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)
const metric = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)

/** The names of metrics under which a report's own fields travel. */
export const RESERVED = new Set([
  'in_flight',
  'latency_ms',
  'queue_delay_ms',
  'age_ms',
  'idlest_state',
  'idlest_weight',
  'idlest_max_in_flight',
])

/** Checked reports; the names of their own metrics are made of `units`. */
export function reportsOf(units: 'binary' | 'grapheme-ascii'): fc.Arbitrary<Report> {
  const names = fc
    .string({ unit: units, minLength: 1 })
    .filter((name) => !RESERVED.has(name) && (units === 'binary' || /^[^,=:\s]+$/.test(name)))
  return fc.record(
    {
      cpu: percent,
      application: percent,
      memory: percent,
      qps: load,
      eps: load,
      inFlight: load,
      latency: load,
      queueDelay: load,
      age: load,
      named: fc.dictionary(names, metric, { minKeys: 1, noNullPrototype: true }),
      state: fc.constantFrom('up', 'drain', 'maint', 'down'),
      weight: load,
      maxInFlight: load,
    },
    { requiredKeys: [], noNullPrototype: true },
  )
}

/** What the API would take of a report that was read: all but a state of a later version. */
export function known({ unknownState: _, ...report }: ReadReport): Report {
  return report
}

/** What a read came to: undefined where it was refused. Anything but a refusal is thrown on. */
export function readOrRefused<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof BadReportError) return undefined
    throw error
  }
}

/** Asserts that a read is refused for this field, and that the message is one that can be logged. */
export function refused(t: ExecutionContext, read: () => unknown, field: string): void {
  const error = t.throws(read, { instanceOf: BadReportError })
  t.is(error?.field, field)
  t.is(error?.code, 'IDLEST_BAD_REPORT')
  t.true((error?.message.length ?? 1e6) < 400)
}
