import { readFileSync } from 'node:fs'
import test from 'ava'
import fc from 'fast-check'
import { LARGEST_WEIGHT } from '../../dist/algorithms/weighted-round-robin/constants.js'
import type { WeightClamp } from '../../dist/algorithms/weighted-round-robin/options.js'
import { weightedRoundRobin } from '../../dist/algorithms/weighted-round-robin/options.js'
import {
  planInStride,
  type StridePlan,
  scaleWeights,
} from '../../dist/algorithms/weighted-round-robin/stride.js'
import { OUT } from '../../dist/engine/portable/band.js'
import { Generator } from '../../dist/engine/portable/generator.js'
import type { Dice } from '../../dist/engine/portable/plan.js'

interface Case {
  id: string
  weights: (number | null)[]
  preset?: 'core' | 'java'
  from: number
}
interface CountCase extends Case {
  picks: number
  counts: number[]
}
interface SequenceCase extends Case {
  scaled?: number[]
  picks: number[]
  sequenceAfterEach?: number[]
  sequenceAtEnd?: number
}
const { counts, sequences }: { counts: CountCase[]; sequences: SequenceCase[] } = JSON.parse(
  readFileSync(new URL('../vectors/stride.json', import.meta.url), 'utf8'),
)

const SEQUENCES = 2 ** 32

function weightsOf({ weights }: Case): Float64Array {
  return Float64Array.from(weights, (weight) => weight ?? 0)
}

function clampOf({ preset = 'core' }: { preset?: 'core' | 'java' }) {
  return weightedRoundRobin({ clamp: preset }).clamp
}

function planOfWeights(weights: Float64Array, clamp: WeightClamp): StridePlan {
  return planInStride(weights, weights.length, weights, clamp)
}

function planOf(it: Case): StridePlan {
  return planOfWeights(weightsOf(it), clampOf(it))
}

function diceAt(turn: number): Dice {
  return { generator: new Generator([0, 0]), turn }
}

/** How often each entry is drawn, one draw at a time and by blocks. */
function count(plan: StridePlan, from: number, picks: number): number[] {
  const counted = new Array<number>(plan.length).fill(0)
  const dice = diceAt(from)
  for (let i = 0; i < picks; i++) (counted[plan.draw(dice)] as number)++
  return counted
}

for (const it of counts) {
  test(`${it.id}: ${it.picks} picks by ${JSON.stringify(it.weights)} are shared out exactly`, (t) => {
    t.deepEqual(count(planOf(it), it.from, it.picks), it.counts)
  })

  test(`${it.id}: from any other start each count is within 1 of that`, (t) => {
    const plan = planOf(it)
    const last = SEQUENCES - it.picks * it.weights.length
    fc.assert(
      fc.property(fc.integer({ min: 0, max: last }), (from) => {
        const found = count(plan, from, it.picks)
        t.true(
          found.every((value, i) => Math.abs(value - (it.counts[i] as number)) <= 1),
          `${from}: ${found}`,
        )
      }),
      { numRuns: it.picks > 1_000 ? 10 : 500 },
    )
  })
}

for (const it of sequences) {
  test(`${it.id}: picks by ${JSON.stringify(it.weights)} from ${it.from} on are the known ones`, (t) => {
    const plan = planOf(it)
    if (it.scaled !== undefined) t.deepEqual([...scaleWeights(weightsOf(it), clampOf(it))], it.scaled)
    const dice = diceAt(it.from)
    const after: number[] = []
    const picks = it.picks.map(() => {
      const picked = plan.draw(dice)
      after.push(dice.turn)
      return picked
    })
    t.deepEqual(picks, it.picks)
    if (it.sequenceAfterEach !== undefined) t.deepEqual(after, it.sequenceAfterEach)
    if (it.sequenceAtEnd !== undefined) t.is(after.at(-1) ?? -1, it.sequenceAtEnd)
    // And so by the block, however it is cut.
    for (let cut = 0; cut <= it.picks.length; cut++) {
      const blocks = [new Uint32Array(cut), new Uint32Array(it.picks.length - cut)]
      const dice = diceAt(it.from)
      for (const block of blocks) plan.fill(block, dice)
      t.deepEqual(
        blocks.flatMap((block) => [...block]),
        it.picks,
      )
      t.is(dice.turn, after.at(-1) ?? -1)
    }
  })
}

const weight = fc.oneof(
  fc.double({ min: 1e-12, max: 1e12, noNaN: true }),
  fc.integer({ min: 1, max: 10 }),
  fc.constant(0),
)
const anyWeights = fc.array(weight, { minLength: 1, maxLength: 60 }).map((list) => Float64Array.from(list))
const anyClamp = fc.oneof(
  fc.constantFrom(clampOf({}), clampOf({ preset: 'java' })),
  fc.record({
    max: fc.double({ min: 1, max: 1e9, noNaN: true }),
    min: fc.double({ min: 0, max: 1, noNaN: true }),
    roundUp: fc.boolean(),
  }),
)

test('a pick takes at most as many numbers as there are entries, two more across the wrap', (t) => {
  fc.assert(
    fc.property(
      anyWeights,
      anyClamp,
      fc.oneof(
        fc.integer({ min: 0, max: SEQUENCES - 1 }),
        fc.integer({ min: SEQUENCES - 100, max: SEQUENCES - 1 }),
      ),
      (weights, clamp, from) => {
        const plan = planOfWeights(weights, clamp)
        const dice = diceAt(from)
        for (let i = 0; i < 100; i++) {
          const before = dice.turn
          plan.draw(dice)
          const wraps = dice.turn < before
          const probes = dice.turn - before + (wraps ? SEQUENCES : 0)
          t.true(probes <= plan.length + (wraps ? 2 : 0), `${probes} of ${plan.length} from ${before}`)
        }
      },
    ),
    { numRuns: 2_000 },
  )
})

test('scaled weights are from 1 to the largest, which one of them is', (t) => {
  fc.assert(
    fc.property(anyWeights, anyClamp, (weights, clamp) => {
      const scaled = scaleWeights(weights, clamp)
      t.is(Math.max(...scaled), LARGEST_WEIGHT)
      t.true(Math.min(...scaled) >= 1)
    }),
    { numRuns: 2_000 },
  )
})

test('whole rounds of the period give each entry what it weighs', (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 2, maxLength: 5 }), (list) => {
      const scaled = scaleWeights(Float64Array.from(list), clampOf({}))
      const plan = planOfWeights(Float64Array.from(list), clampOf({}))
      const total = scaled.reduce((sum, weight) => sum + weight, 0)
      t.deepEqual(count(plan, 0, total), [...scaled])
      t.true(scaled.every((weight, i) => plan.share(i) === weight / total))
    }),
    { numRuns: 20 },
  )
})

test('fewer than two known weights are a plain round robin over the same sequence', (t) => {
  for (const raw of [[-1, 5, -1], [-1, -1, -1], [7]]) {
    const plan = planOfWeights(Float64Array.from(raw), clampOf({}))
    const dice = diceAt(1_000)
    const picks = Array.from({ length: 9 }, () => plan.draw(dice))
    t.deepEqual(
      picks,
      Array.from({ length: 9 }, (_, i) => (1_000 + i) % raw.length),
    )
    t.is(dice.turn, 1_009)
  }
})

test('whatever the mean is, no one weighs nothing', (t) => {
  const weights = new Float64Array(300_000).fill(1e-9)
  weights[0] = 1
  weights[1] = 0
  const scaled = scaleWeights(weights, { max: 1e9, min: 0, roundUp: false })
  t.deepEqual([...scaled.subarray(0, 3)], [65_535, 1, 1])
})

test('weights too large to add up are alike', (t) => {
  for (const huge of [Number.POSITIVE_INFINITY, Number.MAX_VALUE, 1e305]) {
    t.deepEqual([...scaleWeights(Float64Array.of(huge, 1, huge), clampOf({}))], [65_535, 65_535, 65_535])
  }
})

test('who is out is not in the band, and plays no part in the mean', (t) => {
  const plan = planOfWeights(Float64Array.from([OUT, 3, OUT, -1, 1]), clampOf({}))
  t.deepEqual([...plan.band.subarray(0, plan.length)], [1, 3, 4])
  const total = 65_535 + 43_690 + 21_845
  t.deepEqual(
    [0, 1, 2].map((i) => plan.share(i)),
    [65_535 / total, 43_690 / total, 21_845 / total],
  )
  t.is(planOfWeights(Float64Array.of(OUT), clampOf({})).length, 0)
})
