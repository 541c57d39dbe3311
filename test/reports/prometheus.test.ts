import test from 'ava'
import fc from 'fast-check'
import { readPrometheus, type Series } from '../../dist/reports/prometheus.js'
import { readOrRefused, refused } from '../support/reports.js'

const all = () => true
const read = (text: string, wanted: ReadonlySet<string> | ((name: string) => boolean) = all): Series[] => [
  ...readPrometheus(text, wanted),
]
const series = (name: string, value: number, labels = {}, timestamp?: number): Series => ({
  name,
  labels,
  value,
  timestamp,
})

const PAGE = `# HELP node_cpu_seconds_total Seconds the CPUs spent in each mode.
# TYPE node_cpu_seconds_total counter
node_cpu_seconds_total{cpu="0",mode="idle"} 3192.7
node_cpu_seconds_total{cpu="0",mode="user"} 8332.85
node_cpu_seconds_total_created{cpu="0"} 1.7e+09
node_load1 0.5

# node_load1 7
node_cpu_guest_seconds_total{cpu="0",mode="user"} not a number
go_gc_duration_seconds{quantile="0"} NaN
`

test('wanted series are read in their order, others are not looked into', (t) => {
  t.deepEqual(read(PAGE, new Set(['node_load1', 'node_cpu_seconds_total'])), [
    series('node_cpu_seconds_total', 3192.7, { cpu: '0', mode: 'idle' }),
    series('node_cpu_seconds_total', 8332.85, { cpu: '0', mode: 'user' }),
    series('node_load1', 0.5),
  ])
  t.deepEqual(
    read(PAGE, (name) => name.startsWith('node_load')),
    [series('node_load1', 0.5)],
  )
  t.deepEqual(read(PAGE, new Set()), [])
  t.deepEqual(read('', all), [])
})

test('lines with CR LF are read as those with LF', (t) => {
  const wanted = new Set(['node_load1', 'node_cpu_seconds_total'])
  t.deepEqual(read(PAGE.replaceAll('\n', '\r\n'), wanted), read(PAGE, wanted))
})

for (const [line, expected] of [
  ['a 1', series('a', 1)],
  ['a{} 1', series('a', 1)],
  ['a:b_1 1', series('a:b_1', 1)],
  ['  \ta\t{ x = "1" ,\ty="2" , }\t 5  ', series('a', 5, { x: '1', y: '2' })],
  ['a{x=""} 1', series('a', 1, { x: '' })],
  ['a{x="}, # \\" \\\\"} 1', series('a', 1, { x: '}, # " \\' })],
  ['a{x="C:\\\\new\\\\\\nfile"} 1', series('a', 1, { x: 'C:\\new\\\nfile' })],
  ['a{x="\\t\\u"} 1', series('a', 1, { x: '\\t\\u' })],
  ['a{x="größe 😀"} 1', series('a', 1, { x: 'größe 😀' })],
  ['a{__proto__="1"} 1', series('a', 1, Object.fromEntries([['__proto__', '1']]))],
  ['a +Inf', series('a', Number.POSITIVE_INFINITY)],
  ['a Inf', series('a', Number.POSITIVE_INFINITY)],
  ['a -inf', series('a', Number.NEGATIVE_INFINITY)],
  ['a NaN', series('a', Number.NaN)],
  ['a -1.5e-03', series('a', -0.0015)],
  ['a 1.7e+09 1395066363000', series('a', 1.7e9, {}, 1_395_066_363_000)],
  ['a 1 -5', series('a', 1, {}, -5)],
  ['a{x="1"} 1 # {trace_id="x"} 0.5 1395066363.1', series('a', 1, { x: '1' })],
  ['a 1 5 # {trace_id="x"} 0.5', series('a', 1, {}, 5)],
] as const) {
  test(`${line} is read`, (t) => {
    t.deepEqual(read(`${line}\n`), [expected])
  })
}

test("timestamps of OpenMetrics are in seconds, those of Prometheus' own format in milliseconds", (t) => {
  t.deepEqual(read('a 1 1395066363.25\n# EOF\n'), [series('a', 1, {}, 1_395_066_363_250)])
  t.deepEqual(read('a 1 1395066363.25\n# EOF'), [series('a', 1, {}, 1_395_066_363_250)])
  t.deepEqual(read('a 1 1395066363250\n# EOF \n'), [series('a', 1, {}, 1_395_066_363_250)])
})

test('series whose name is quoted are skipped, as are empty lines', (t) => {
  t.deepEqual(read('{"a.b",x="1"} 1\n\n \n\r\na 1\n'), [series('a', 1)])
})

for (const line of [
  'a',
  'a ',
  'a{',
  'a{}',
  'a{x} 1',
  'a{x=1} 1',
  'a{x="1} 1',
  'a{x="1\\"} 1',
  'a{x="1"',
  'a{x="1" y="2"} 1',
  'a{,} 1',
  'a{x="1",,} 1',
  'a{="1"} 1',
  'a{1x="1"} 1',
  'a{"x"="1"} 1',
  'a one',
  'a 0x1',
  'a 1_000',
  'a 1,5',
  'a 1 now',
  'a{x="1"} 1 1e',
  'a 1 1e999',
  'a 1 1e16',
]) {
  test(`a wanted line ${JSON.stringify(line)} is refused`, (t) => {
    refused(t, () => read(`b 1\n${line}\nb 1\n`), 'a')
  })
  test(`a line ${JSON.stringify(line)} that nobody wants is skipped`, (t) => {
    t.deepEqual(read(`b 1\n${line}\nb 1\n`, new Set(['b'])), [series('b', 1), series('b', 1)])
  })
}

test('a wanted line that has no line end is refused: its value may be cut short', (t) => {
  refused(t, () => read('a 1\na 12'), 'a')
  t.deepEqual(read('a 1\nb 12', new Set(['a'])), [series('a', 1)])
})

test('lines that would keep a careless reader busy for minutes are done with at once', (t) => {
  const many = 300_000
  for (const line of [
    `a{x="${'\\'.repeat(many)}"} 1`,
    `a{x="${'\\"'.repeat(many)}`,
    `a{x="${'"'.repeat(many)}`,
    `a{${' '.repeat(many)}`,
    `a{${'x="1",'.repeat(many / 6)}`,
    `a ${'1'.repeat(many)}x`,
    'a'.repeat(many),
    ' '.repeat(many),
  ]) {
    const start = process.cpuUsage().user
    readOrRefused(() => read(`${line}\n`))
    t.true(process.cpuUsage().user - start < 1_000_000, line.slice(0, 10))
  }
})

test('what a page was written of is read back, whatever is in the label values', (t) => {
  const name = fc.stringMatching(/^[a-z_:][a-z0-9_:]{0,5}$/)
  const label = fc.stringMatching(/^[a-z_][a-z0-9_]{0,5}$/)
  const value = fc.double()
  const page = fc.array(
    fc.record({
      name,
      labels: fc.dictionary(label, fc.string({ unit: 'binary' }), { maxKeys: 3, noNullPrototype: true }),
      value: value.map((number) => number + 0),
      timestamp: fc.option(fc.integer(), { nil: undefined }),
    }),
  )
  const escaped = (text: string) => text.replace(/[\\"\n]/g, (sign) => (sign === '\n' ? '\\n' : `\\${sign}`))
  fc.assert(
    fc.property(page, (rows) => {
      const lines = rows.map((row) => {
        const labels = Object.entries(row.labels).map(([key, content]) => `${key}="${escaped(content)}"`)
        return `${row.name}{${labels.join(',')}} ${String(row.value).replace('inity', '')} ${row.timestamp ?? ''}\n`
      })
      t.deepEqual(read(lines.join('')), rows)
    }),
  )
})

test('any page is read or refused with BadReportError', (t) => {
  const words = ['a 1\n', 'a{x="', '1"} 2', 'NaN', '# EOF']
  const part = fc.constantFrom(...words, ...'a{}x="\\, 1#\n\r')
  const pages = fc.oneof(
    fc.array(part).map((parts) => parts.join('')),
    fc.string({ unit: 'binary' }),
  )
  let found = 0
  fc.assert(
    fc.property(pages, (text) => {
      readOrRefused(() => {
        for (const row of readPrometheus(text, all)) {
          t.is(typeof row.value, 'number')
          t.true(row.timestamp === undefined || Number.isFinite(row.timestamp))
          found++
        }
      })
    }),
    { numRuns: 5000 },
  )
  t.true(found > 20)
})
