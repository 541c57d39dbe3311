import test from 'ava'
import fc from 'fast-check'
import type { NodeSnapshot } from '../../dist/index.js'
import { COLUMNS, cellOf } from '../../dist/live/columns.js'
import { documentOf } from '../../dist/live/document.js'
import { FrameWriter } from '../../dist/live/frame-writer.js'
import { FrameReader } from '../../dist/live/frames.js'
import type { Look } from '../../dist/live/looks.js'
import { liveHead as HEAD, liveNode } from './support.js'

function lookAt(nodes: readonly NodeSnapshot[], rates = nodes.map(() => 0)): Look {
  const columns = new Map(
    COLUMNS.map((column) => [column.name, nodes.map((node, i) => cellOf(column, node, rates[i] ?? 0))]),
  )
  return { head: HEAD, count: nodes.length, columns }
}

/** The frames of a look as text. */
async function written(writer: FrameWriter, look: Look) {
  const { whole, next } = await writer.write(look)
  return { whole: String(Buffer.concat(whole())), next: String(Buffer.concat(next)) }
}

const plain: NodeSnapshot = { ...liveNode('a'), node: 'a', inBand: true, unreachable: false, share: 0.5 }

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

test('what is read is what was seen, rounded, whatever changes from frame to frame', async (t) => {
  const EXACT = ['id', 'state', 'order', 'fixedWeight', 'suspect', 'isCapped', 'cpu', 'age', 'fresh'] as const
  const COUNTS = ['effective', 'inFlight', 'picks', 'released', 'failed'] as const
  await fc.assert(
    fc.asyncProperty(fc.array(members, { minLength: 1, maxLength: 5 }), async (looks) => {
      const writer = new FrameWriter()
      const reader = new FrameReader()
      for (const [k, nodes] of looks.entries()) {
        const texts = await written(writer, lookAt(nodes))
        for (const text of [texts.next, texts.whole]) {
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

test('a frame has what changed alone, and all where the number of nodes did', async (t) => {
  const writer = new FrameWriter()
  const nodes = [plain, { ...plain, id: 'b' }]
  const columnsOf = (text: string) => Object.keys((JSON.parse(text) as { columns: object }).columns)
  t.true(columnsOf((await written(writer, lookAt(nodes))).next).includes('id'))
  t.deepEqual(columnsOf((await written(writer, lookAt(nodes))).next), [])
  t.deepEqual(columnsOf((await written(writer, lookAt(nodes, [1, 2]))).next), ['picksPerSecond'])
  const moved = [...nodes].reverse()
  t.deepEqual(columnsOf((await written(writer, lookAt(moved, [1, 2]))).next), ['id'])
  t.true(columnsOf((await written(writer, lookAt([...nodes, plain]))).next).includes('share'))
})

test("each node's part of what was sent adds up to 1, and is unknown where nothing was", async (t) => {
  const nodes = [plain, { ...plain, id: 'b' }]
  const read = async (rates: number[]) =>
    new FrameReader().read((await written(new FrameWriter(), lookAt(nodes, rates))).whole)
  t.deepEqual(
    (await read([3, 1])).nodes.map(({ sentShare }) => sentShare),
    [0.75, 0.25],
  )
  t.deepEqual(
    (await read([0, 0])).nodes.map(({ sentShare }) => sentShare),
    [undefined, undefined],
  )
})

test('a frame that does not go on from the last one, or is of another version, is an error', async (t) => {
  const writer = new FrameWriter()
  await writer.write(lookAt([plain]))
  const { next } = await written(writer, lookAt([plain], [1]))
  t.throws(() => new FrameReader().read(next), { message: /missing/ })
  const other = next.replace('"version":1', '"version":2')
  t.throws(() => new FrameReader().read(other), { message: /another version/ })
  t.throws(() => new FrameReader().read('<html>'))
})

test('the document of thousands of nodes is what the frames read as, and the event loop turns while both are made', async (t) => {
  const states = ['up', 'up', 'drain', 'down'] as const
  const nodes = Array.from({ length: 5_000 }, (_, i) => {
    const state = states[i % 4] ?? 'up'
    const told = state === 'up' ? {} : { state }
    return {
      ...plain,
      id: `node-${i}`,
      state,
      told,
      share: i % 3 === 0 ? 0 : 0.1,
      cpu: i % 100,
      effective: i % 100,
    }
  })
  const look = lookAt(
    nodes,
    nodes.map((_, i) => i % 7),
  )
  let turns = 0
  let isMade = false
  const count = () => {
    if (isMade) return
    turns++
    setImmediate(count)
  }
  setImmediate(count)
  const { whole } = await written(new FrameWriter(), look)
  const forFrames = turns
  const pieces = await documentOf(look, () => true)
  isMade = true
  t.deepEqual(JSON.parse(String(Buffer.concat(pieces))), asSent(new FrameReader().read(whole)))
  // A node in a turn of its own would be too slow, and all in one would stop everything else.
  t.true(forFrames > 20 && forFrames < 500, `${forFrames}`)
  t.true(turns - forFrames > 100 && turns - forFrames < 500, `${turns - forFrames}`)
})

test('a document that nobody waits for any more is not made to the end', async (t) => {
  const nodes = Array.from({ length: 5_000 }, (_, i) => ({ ...plain, id: `node-${i}` }))
  let asked = 0
  await t.throwsAsync(documentOf(lookAt(nodes), () => ++asked < 3))
  t.is(asked, 3)
})
