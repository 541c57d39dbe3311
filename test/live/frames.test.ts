import test from 'ava'
import fc from 'fast-check'
import type { NodeSnapshot } from '../../dist/index.js'
import { FrameReader, FrameWriter } from '../../dist/live/frames.js'
import type { Look } from '../../dist/live/looks.js'
import { liveHead as HEAD, liveNode } from './support.js'

function lookAt(nodes: readonly NodeSnapshot[], rates = nodes.map(() => 0)): Look {
  return { head: HEAD, nodes, rates: Float64Array.from(rates) }
}

const plain: NodeSnapshot = { ...liveNode('a'), node: 'a', inBand: true, share: 0.5 }

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 })
const number = fc.double({ min: 0, max: 1e9, noNaN: true })
const whole = fc.nat(1e9)
const milli = fc.integer({ min: 0, max: 100_000 }).map((value) => value / 1_000)
const state = fc.constantFrom('up', 'drain', 'maint', 'down')

const node: fc.Arbitrary<NodeSnapshot> = fc
  .record({
    id: fc.string({ unit: 'grapheme' }),
    state,
    order: fc.constantFrom('up', 'drain'),
    told: fc.record({ state, weight: number, maxInFlight: whole }, { requiredKeys: [] }),
    fixedWeight: maybe(whole),
    ejected: maybe(
      fc.record({
        reason: fc.constant('failureRate' as const),
        times: maybe(whole),
        remaining: maybe(whole),
      }),
    ),
    suspect: maybe(fc.constantFrom('failing', 'slow', 'elsewhere')),
    isCapped: fc.boolean(),
    poll: maybe(fc.record({ count: whole, kind: fc.constantFrom('exit', 'error'), reason: fc.string() })),
    cpu: maybe(milli),
    age: maybe(whole),
    fresh: fc.boolean(),
    effective: maybe(milli),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    report: fc.record({ qps: number, memory: number, inFlight: whole }, { requiredKeys: [] }),
    inFlight: whole,
    picks: whole,
    released: whole,
    failed: whole,
    latency: maybe(number),
  })
  .map((some) => ({ ...plain, ...some }) as NodeSnapshot)

// No two have one id.
const members = fc.uniqueArray(node, { selector: ({ id }) => id, maxLength: 8 })

/** Less than a thousandth away, and 0 where it is 0. */
function isNear(a: number | undefined, b: number | undefined): boolean {
  if (a === undefined || b === undefined || a === 0 || b === 0) return a === b
  return Math.abs(a - b) <= 0.001 * Math.abs(a)
}

// As JSON has it: what is undefined is not there, and -0 is 0.
function asSent(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

test('what is read is what was seen, rounded, whatever changes from frame to frame', (t) => {
  const EXACT = ['id', 'state', 'order', 'fixedWeight', 'suspect', 'isCapped', 'cpu', 'age', 'fresh'] as const
  const COUNTS = ['effective', 'inFlight', 'picks', 'released', 'failed'] as const
  fc.assert(
    fc.property(fc.array(members, { minLength: 1, maxLength: 5 }), (looks) => {
      const writer = new FrameWriter()
      const reader = new FrameReader()
      for (const [k, nodes] of looks.entries()) {
        const texts = writer.write(lookAt(nodes))
        for (const text of [texts.next, texts.whole()]) {
          t.false(/[\r\n]/.test(text))
          const view = (text === texts.next ? reader : new FrameReader()).read(text)
          t.is(view.nodes.length, nodes.length, `frame ${k}`)
          for (const [i, read] of view.nodes.entries()) {
            const seen = nodes[i] as NodeSnapshot
            for (const name of [...EXACT, ...COUNTS]) t.is(read[name], seen[name], name)
            for (const name of ['told', 'poll', 'ejected'] as const) {
              t.deepEqual(asSent(read[name]), asSent(seen[name]), name)
            }
            t.true(isNear(seen.share, read.share), `${seen.share} ${read.share}`)
            t.true(isNear(seen.latency, read.latency))
            for (const name of ['qps', 'memory', 'inFlight'] as const) {
              t.true(isNear(seen.report[name], read.report[name]))
            }
          }
        }
      }
    }),
    { numRuns: 50 },
  )
})

test('a frame has what changed alone, and all where the number of nodes did', (t) => {
  const writer = new FrameWriter()
  const nodes = [plain, { ...plain, id: 'b' }]
  const columnsOf = (text: string) => Object.keys((JSON.parse(text) as { columns: object }).columns)
  t.true(columnsOf(writer.write(lookAt(nodes)).next).includes('id'))
  t.deepEqual(columnsOf(writer.write(lookAt(nodes)).next), [])
  t.deepEqual(columnsOf(writer.write(lookAt(nodes, [1, 2])).next), ['picksPerSecond'])
  const moved = [...nodes].reverse()
  t.deepEqual(columnsOf(writer.write(lookAt(moved, [1, 2])).next), ['id'])
  t.true(columnsOf(writer.write(lookAt([...nodes, plain])).next).includes('share'))
})

test("each node's part of what was sent adds up to 1, and is unknown where nothing was", (t) => {
  const nodes = [plain, { ...plain, id: 'b' }]
  const read = (rates: number[]) =>
    new FrameReader().read(new FrameWriter().write(lookAt(nodes, rates)).whole())
  t.deepEqual(
    read([3, 1]).nodes.map(({ sentShare }) => sentShare),
    [0.75, 0.25],
  )
  t.deepEqual(
    read([0, 0]).nodes.map(({ sentShare }) => sentShare),
    [undefined, undefined],
  )
})

test('a frame that does not go on from the last one, or is of another version, is an error', (t) => {
  const writer = new FrameWriter()
  writer.write(lookAt([plain]))
  const { next } = writer.write(lookAt([plain], [1]))
  t.throws(() => new FrameReader().read(next), { message: /missing/ })
  const other = next.replace('"version":1', '"version":2')
  t.throws(() => new FrameReader().read(other), { message: /another version/ })
  t.throws(() => new FrameReader().read('<html>'))
})
