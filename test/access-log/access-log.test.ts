import test from 'ava'
import fc from 'fast-check'
import { AccessLog } from '../../dist/access-log/access-log.js'

const LATEST = Date.UTC(10_000, 0, 1)
const line = (second: number) =>
  `10.0.0.1 - - [10/Oct/2000:13:55:${String(second).padStart(2, '0')} +0000] "GET / HTTP/1.1" 200 5`

function read(...parts: string[]): AccessLog {
  const log = new AccessLog()
  for (const part of parts) log.write(part)
  log.end()
  return log
}

test('bad lines are counted and told with their numbers, and the others are used', (t) => {
  const log = read(['\ufeffstart', line(1), '', 'oops', `${line(3)}\r`, '{"time":', line(2)].join('\n'))
  t.deepEqual(log.counts, { lines: 7, used: 3, blank: 1, bad: 3 })
  t.deepEqual(
    log.bad.map(({ line }) => line),
    [1, 4, 6],
  )
  const first = Date.UTC(2000, 9, 10, 13, 55, 1)
  t.deepEqual([...log.times], [first, first + 2000, first + 1000])
  t.deepEqual([log.earliestLine, log.latestLine], [2, 5])
})

test('of many bad lines the first five are kept', (t) => {
  const log = read('x\n'.repeat(1000))
  t.is(log.counts.bad, 1000)
  t.deepEqual(
    log.bad.map(({ line }) => line),
    [1, 2, 3, 4, 5],
  )
})

test('a line as long as memory is kept no longer than is needed to know that it is too long', (t) => {
  const log = new AccessLog()
  log.write(`${line(1)} `)
  for (let i = 0; i < 1000; i++) log.write('x'.repeat(65_536))
  log.write(`\n${line(2)}\n`)
  log.end()
  t.deepEqual(log.counts, { lines: 2, used: 1, blank: 0, bad: 1 })
})

const digits = fc.integer({ min: 0, max: 99 }).map((n) => String(n).padStart(2, '0'))
const nearlyCommon = fc
  .record({
    head: fc.constantFrom('10.0.0.1 - -', 'h:80 10.0.0.1 - a b', '-', '"" [] -'),
    day: digits,
    month: fc.constantFrom('Jan', 'Feb', 'Dec', 'Foo'),
    year: fc.integer({ min: 0, max: 9999 }).map((n) => String(n).padStart(4, '0')),
    time: fc.array(digits, { minLength: 3, maxLength: 3 }).map((parts) => parts.join(':')),
    zone: fc.constantFrom('+0000', '-1400', '+9999', ''),
    request: fc.string({ maxLength: 20 }),
    tail: fc.constantFrom('200 5', '- -', '200', '999 1 "a" "b"'),
  })
  .map(
    ({ head, day, month, year, time, zone, request, tail }) =>
      `${head} [${day}/${month}/${year}:${time} ${zone}] "${request}" ${tail}`,
  )
const nearlyJson = fc
  .record({
    time: fc.oneof(
      fc.double(),
      fc.integer(),
      fc.date().map((date) => (Number.isNaN(date.getTime()) ? '' : date.toISOString())),
      fc.jsonValue(),
    ),
    rest: fc.jsonValue(),
  })
  .map((value) => JSON.stringify(value))
const anyLine = fc.oneof(
  nearlyCommon,
  nearlyJson,
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom('', ' ', '\r', '{', '{}', '[', '\\"', ' ['),
)
const anyText = fc
  .tuple(fc.array(anyLine, { maxLength: 30 }), fc.boolean())
  .map(([lines, ended]) => lines.join('\n') + (ended ? '\n' : ''))

function linesOf(text: string): number {
  const lines = text.split('\n')
  // What follows the last line end is a line where there is anything.
  return lines.at(-1) === '' ? lines.length - 1 : lines.length
}

test('whatever a log holds, nothing is thrown, no time is out of range, and the counts add up to its lines', (t) => {
  let used = 0
  fc.assert(
    fc.property(anyText, (text) => {
      const log = read(text)
      const { counts } = log
      used += counts.used
      t.is(counts.lines, linesOf(text))
      t.is(counts.used + counts.blank + counts.bad, counts.lines)
      t.is(log.times.length, counts.used)
      t.true(log.times.every((time) => time >= 0 && time < LATEST))
      t.is(log.bad.length, Math.min(5, counts.bad))
      t.true(log.bad.every(({ line, why }) => line >= 1 && line <= counts.lines && why !== ''))
    }),
    { numRuns: 2_000 },
  )
  // It has not only seen what is refused.
  t.true(used > 100)
})

test('a log is read alike however it comes in pieces', (t) => {
  fc.assert(
    fc.property(anyText, fc.array(fc.nat(), { maxLength: 8 }), (text, cuts) => {
      const at = [0, ...cuts.map((cut) => cut % (text.length + 1)), text.length].sort((a, b) => a - b)
      const pieces = at.slice(1).map((end, i) => text.slice(at[i], end))
      const [whole, cut] = [read(text), read(...pieces)]
      t.deepEqual(cut.counts, whole.counts)
      t.deepEqual(cut.bad, whole.bad)
      t.deepEqual(cut.times, whole.times)
    }),
  )
})
