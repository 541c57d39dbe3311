import assert from 'node:assert/strict'
import { BadReportError } from '../../dist/errors.js'
import type { ReadReport, Report } from '../../dist/report.js'
import { checkReport } from '../../dist/reports/check.js'
import { readOrcaBinary, writeOrcaBinary } from '../../dist/reports/orca-binary.js'
import { MAX_REPORT } from '../../dist/reports/orca-fields.js'
import { readOrcaHeader, writeOrcaHeader } from '../../dist/reports/orca-headers.js'
import { readOrcaJson, writeOrcaJson } from '../../dist/reports/orca-json.js'
import { RESERVED } from '../support/reports.js'

/** What a read came to: undefined where it was refused, with an error that can be logged. Other errors are thrown on. */
export function outcome<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof BadReportError)) throw error
    assert.equal(error.code, 'IDLEST_BAD_REPORT')
    assert.ok(error.message.length < 1000, `an error of ${error.message.length} characters`)
    assert.match(error.message, /^.*$/)
    return undefined
  }
}

const PERCENTAGES = ['cpu', 'application', 'memory'] as const
const AMOUNTS = ['qps', 'eps', 'inFlight', 'latency', 'queueDelay', 'age', 'weight', 'maxInFlight'] as const

/** A value that a report may have: also of a named metric, where `least` is the lowest finite number. */
function assertAmount(name: string, value: number | undefined, least = 0, most = 1e12): void {
  if (value === undefined) return
  assert.equal(typeof value, 'number', name)
  assert.ok(value >= least && value <= most && !Object.is(value, -0), `${name} is ${value}`)
}

/** That two reports are the same: their percentages, which are 0-1 on the wire, to the last bits. */
function assertSame(actual: Report, expected: Report): void {
  const others = ({ named = {}, ...report }: Report) => ({
    ...report,
    named,
    cpu: 0,
    application: 0,
    memory: 0,
  })
  assert.deepEqual(others(actual), others(expected))
  for (const field of PERCENTAGES) {
    const [a, b] = [actual[field], expected[field]]
    const same = a === undefined || b === undefined ? a === b : Math.abs(a - b) <= 1e-12 * b
    assert.ok(same, `${field} is ${a} in place of ${b}`)
  }
}

/** That a report is one that the API takes, and that each form of it is read back as the same. */
export function assertReport({ unknownState, ...report }: ReadReport): void {
  if (unknownState !== undefined) assert.ok(Number.isInteger(unknownState) && unknownState > 3)
  for (const field of [...PERCENTAGES, ...AMOUNTS]) assertAmount(field, report[field])
  assert.ok(report.state === undefined || ['up', 'drain', 'maint', 'down'].includes(report.state))
  const names = Object.keys(report.named ?? {})
  for (const [name, value] of Object.entries(report.named ?? {})) {
    assertAmount(name, value, -Number.MAX_VALUE, Number.MAX_VALUE)
  }
  assert.ok(!names.includes(''))
  assert.deepEqual(checkReport(report), report)
  // These would be read back as fields of the report.
  if (names.some((name) => RESERVED.has(name))) return

  const json = writeOrcaJson(report)
  if (json.length <= MAX_REPORT) assertSame(readOrcaJson(json), report)
  const bytes = writeOrcaBinary(report)
  // Half of a surrogate pair is no UTF-8.
  const utf8 = names.every((name) => name.isWellFormed())
  if (utf8 && bytes.length <= MAX_REPORT) assertSame(readOrcaBinary(bytes), report)
  for (const form of ['TEXT', 'JSON', 'BIN'] as const) {
    // TEXT can't carry all names.
    const header = outcome(() => writeOrcaHeader(report, form))
    assert.ok(header !== undefined || form === 'TEXT')
    if (header === undefined || header.length > MAX_REPORT || (form === 'BIN' && !utf8)) continue
    assert.match(header, /^[ -~]*$/)
    assertSame(readOrcaHeader(header), report)
  }
}
