import { readFileSync } from 'node:fs'
import test from 'ava'
import { BadReportError } from '../../dist/errors.js'
import type { Report } from '../../dist/report.js'
import { readOrcaBinary } from '../../dist/reports/orca-binary.js'
import { readOrcaBinaryHeader, readOrcaHeader } from '../../dist/reports/orca-headers.js'

interface Row {
  readonly id: string
  readonly header?: string
  readonly base64?: string
  readonly hex?: string
  readonly report?: Record<string, number> & {
    readonly named_metrics?: Record<string, number>
    readonly utilization?: Record<string, number>
  }
}
const rows: { good: Row[]; bad: Row[] } = JSON.parse(
  readFileSync(new URL('../vectors/orca.json', import.meta.url), 'utf8'),
)

const FIELDS = [
  ['cpu_utilization', 'cpu', 100],
  ['application_utilization', 'application', 100],
  ['mem_utilization', 'memory', 100],
  ['rps_fractional', 'qps', 1],
  ['eps', 'eps', 1],
] as const

/** The row's report as ours: in percent, with the map `utilization` among the named metrics. */
function expected(wire: NonNullable<Row['report']>): Report {
  const report: Report = {}
  for (const [from, to, factor] of FIELDS) {
    if (wire[from] !== undefined) report[to] = wire[from] * factor
  }
  const utilizations = Object.entries(wire.utilization ?? {}).map(([name, value]) => [
    `utilization.${name}`,
    value,
  ])
  const named = { ...wire.named_metrics, ...Object.fromEntries(utilizations) }
  if (Object.keys(named).length > 0) report.named = named
  return report
}

/** The ways that a row can be read. */
function readers({ header, base64, hex }: Row): (() => Report)[] {
  const ways: (() => Report)[] = []
  if (header !== undefined) ways.push(() => readOrcaHeader(header))
  if (base64 !== undefined) {
    ways.push(() => readOrcaBinaryHeader(base64))
    ways.push(() => readOrcaHeader(`BIN ${base64}`))
    ways.push(() => readOrcaBinary(Buffer.from(base64, 'base64')))
  }
  if (hex !== undefined) {
    const bytes = Buffer.from(hex, 'hex')
    ways.push(() => readOrcaBinary(bytes))
    ways.push(() => readOrcaBinaryHeader(bytes))
    ways.push(() => readOrcaBinaryHeader(bytes.toString('base64')))
  }
  return ways
}

for (const row of rows.good) {
  test(`vector ${row.id} is read`, (t) => {
    const ways = readers(row)
    t.true(ways.length > 0)
    for (const read of ways) t.deepEqual(read(), expected(row.report ?? {}))
  })
}

for (const row of rows.bad) {
  test(`vector ${row.id} is refused`, (t) => {
    const ways = readers(row)
    t.true(ways.length > 0)
    for (const read of ways) t.throws(read, { instanceOf: BadReportError })
  })
}

test('the vectors are those that were copied: 5 good, 9 bad', (t) => {
  t.is(rows.good.length, 5)
  t.is(rows.bad.length, 9)
})
