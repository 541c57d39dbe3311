import test from 'ava'
import fc from 'fast-check'
import { processBinding } from '../../dist/engine/binding.js'
import { nativeEngine } from '../../dist/engine/native.js'
import { portableEngine } from '../../dist/engine/portable/index.js'
import { murmur3Triple } from '../../dist/keys/murmur3.js'

const binding = processBinding()
const native = binding.kind === 'loaded' ? nativeEngine(binding.binding).keyTables : undefined
const portable = portableEngine.keyTables
// Without cargo there is no native engine to compare with.
const compared = native === undefined ? test.skip : test

// Few values, so that hashes are met again: ties are decided alike.
const hash = fc.oneof(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.integer({ min: 0, max: 3 }))
const nodes = fc.array(
  fc.record({
    hashes: fc.tuple(hash, hash),
    points: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.constantFrom(0, 1)),
    weight: fc.oneof(
      fc.double({ min: 1e-9, max: 1e12, noNaN: true }),
      fc.constantFrom(1, 1, 2, 3, 0.5, 1 / 3),
    ),
  }),
  { maxLength: 40 },
)
const size = fc.constantFrom(3, 5, 7, 251, 1021, 4093)

compared('both engines build the same rings, bit for bit', async (t) => {
  await fc.assert(
    fc.asyncProperty(nodes, fc.boolean(), async (list, later) => {
      const hashes = Uint32Array.from(list.flatMap((node) => node.hashes))
      const counts = Uint32Array.from(list, (node) => node.points)
      const expected = portable.ring(hashes, counts)
      t.deepEqual(native?.ring(hashes, counts), expected)
      if (!later) return
      t.deepEqual(await native?.ringLater(hashes, counts), expected)
      t.deepEqual(await portable.ringLater(hashes, counts), expected)
    }),
    { numRuns: 1_000 },
  )
})

compared('both engines build the same Maglev tables, bit for bit', async (t) => {
  await fc.assert(
    fc.asyncProperty(nodes, size, fc.boolean(), async (list, cells, later) => {
      const hashes = Uint32Array.from(list.flatMap((node) => node.hashes))
      const weights = Float64Array.from(list, (node) => node.weight)
      const expected = portable.cells(hashes, weights, cells)
      t.deepEqual(native?.cells(hashes, weights, cells), expected)
      if (!later) return
      t.deepEqual(await native?.cellsLater(hashes, weights, cells), expected)
      t.deepEqual(await portable.cellsLater(hashes, weights, cells), expected)
    }),
    { numRuns: 600 },
  )
})

// Round by round, node by node, as the paper has it.
function roundByRound(hashes: Uint32Array, weights: Float64Array, cells: number): Uint32Array {
  const table = new Uint32Array(cells).fill(0xffffffff)
  const greatest = Math.max(...weights)
  const places = Array.from(weights, (_, i) => (hashes[2 * i] as number) % cells)
  for (let round = 0, left = weights.length === 0 ? 0 : cells; left > 0; round++) {
    for (const [i, weight] of weights.entries()) {
      const turns = (at: number) => Math.floor(at * (weight / greatest))
      if (left === 0 || (round > 0 && turns(round) === turns(round - 1))) continue
      const skip = ((hashes[2 * i + 1] as number) % (cells - 1)) + 1
      let place = places[i] as number
      while (table[place] !== 0xffffffff) place = (place + skip) % cells
      table[place] = i
      places[i] = place
      left--
    }
  }
  return table
}

test('a Maglev table is what rounds give, also where most nodes seldom have a turn', (t) => {
  fc.assert(
    fc.property(nodes, fc.constantFrom(3, 5, 251, 1021), (list, cells) => {
      const hashes = Uint32Array.from(list.flatMap((node) => node.hashes))
      const weights = Float64Array.from(list, (node) => node.weight)
      t.deepEqual(portable.cells(hashes, weights, cells), roundByRound(hashes, weights, cells))
    }),
    { numRuns: 300 },
  )
})

compared('tables of a thousand nodes are the same too, and those built later', async (t) => {
  const hashes = Uint32Array.from({ length: 2_000 }, (_, i) => Math.imul(i + 1, 0x9e3779b1))
  const counts = new Uint32Array(1_000).fill(160)
  const ring = portable.ring(hashes, counts)
  t.deepEqual(native?.ring(hashes, counts), ring)
  t.deepEqual(await native?.ringLater(hashes, counts), ring)
  t.deepEqual(await portable.ringLater(hashes, counts), ring)
  const weights = Float64Array.from(counts, (_, i) => 1 + (i % 3))
  const cells = portable.cells(hashes, weights, 65_537)
  t.deepEqual(native?.cells(hashes, weights, 65_537), cells)
  t.deepEqual(await native?.cellsLater(hashes, weights, 65_537), cells)
  t.deepEqual(await portable.cellsLater(hashes, weights, 65_537), cells)
})

compared('the addon refuses arguments that do not fit together', (t) => {
  const hashes = new Uint32Array(3)
  t.throws(() => native?.ring(hashes, new Uint32Array(1)), { message: /two hashes for each node/ })
  t.throws(() => native?.ring(new Uint32Array(2), Uint32Array.of(2 ** 28)), { message: /2\^27 points/ })
  t.throws(() => native?.cells(hashes, new Float64Array(2), 7), { message: /two hashes for each node/ })
  for (const cells of [0, 1, 2, 2 ** 24 + 1]) {
    t.throws(() => native?.cells(new Uint32Array(2), new Float64Array(1), cells), {
      message: /size must be/,
    })
  }
  t.throws(() => native?.ring([] as never, new Uint32Array(0)), { message: /Uint32Array/ })
})

test('a ring is what its definition says, point by point', (t) => {
  const hashes = Uint32Array.of(11, 12, 21, 22)
  const { points, index } = portable.ring(hashes, Uint32Array.of(3, 2))
  const expected = [0, 1, 2]
    .map((copy) => [murmur3Triple(11, copy, 12) >>> 0, 0])
    .concat([0, 1].map((copy) => [murmur3Triple(21, copy, 22) >>> 0, 1]))
    .sort(([one], [other]) => (one as number) - (other as number))
  t.deepEqual([...points], expected.flat())
  t.is(index.length, 4)
  for (const [bucket, first] of index.entries()) {
    t.is(first, expected.filter(([point]) => (point as number) < bucket * 2 ** 30).length)
  }
})

test("the Maglev paper's example comes out", (t) => {
  // Offsets and skips of its table 1: 3 and 4, 0 and 2, 3 and 1.
  const hashes = Uint32Array.of(3, 3, 0, 1, 3, 0)
  t.deepEqual([...portable.cells(hashes, Float64Array.of(1, 1, 1), 7)], [1, 0, 1, 0, 2, 2, 0])
  const without = Uint32Array.of(3, 3, 3, 0)
  t.deepEqual([...portable.cells(without, Float64Array.of(1, 1), 7)], [0, 0, 0, 0, 1, 1, 1])
})
