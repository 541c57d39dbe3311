import fc from 'fast-check'
import type { EngineAlgorithm } from '../../dist/algorithms/registry.js'
import type { Report } from '../../dist/report.js'
import { algorithm } from './random-algorithms.js'

/** One step of a situation; both engines take the same steps. */
export type Step =
  | { kind: 'report'; node: number; report: Report; age: number }
  | { kind: 'probed'; member: number; inFlight: number; latency: number; age: number }
  | { kind: 'leave'; node: number }
  | { kind: 'members'; nodes: number[]; states: number[]; weights: number[] }
  | { kind: 'wait'; ms: number }
  | { kind: 'enter' | 'end'; node: number }
  | { kind: 'sent'; index: number }
  | { kind: 'ended'; index: number; left: number; ok: boolean; latency: number; alone: boolean }
  | { kind: 'setAside'; index: number; count: number }
  | { kind: 'refresh' }
  | { kind: 'pick' }
  | { kind: 'pairs'; count: number; node: number }
  | { kind: 'fill'; count: number; kept: number }
  | { kind: 'exclude'; indices: number[] }

export interface Situation {
  size: number
  algorithm: EngineAlgorithm
  seed: [number, number]
  /** Reports at the start, by node. */
  readings: { report: Report; age: number }[]
  thread: number
  steps: Step[]
}

const milli = fc.oneof(
  fc.integer({ min: 0, max: 100_000 }),
  // Close together, so that the band's edge is met.
  fc.integer({ min: 20_000, max: 20_020 }),
  fc.constantFrom(0, 5_000, 5_001, 50_000, 100_000),
)
const percent = fc.oneof(
  milli.map((value) => value / 1000),
  fc.double({ min: 0, max: 1e12, noNaN: true }),
)
const rate = fc.oneof(fc.constantFrom(0, 1, 100), fc.double({ min: 0, max: 1e12, noNaN: true }))
const inFlight = fc.constantFrom(0, 1, 1, 2, 3, 10, 0.5)
const latency = fc.constantFrom(1, 2, 2, 7.3, 20, 0.1)
// Few values, so that there are ties; and those that single precision can't hold.
const few = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constantFrom(0.1, 1e12, 16_777_217))
const report: fc.Arbitrary<Report> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record(
      {
        cpu: milli.map((value) => value / 1000),
        inFlight: few,
        latency: few,
        queueDelay: few,
        named: fc.dictionary(
          fc.constantFrom('askers', 'answerers', 'nobody asks'),
          fc.oneof(few, fc.double({ noNaN: true, noDefaultInfinity: true })),
        ),
      },
      { requiredKeys: [] },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      cpu: milli.map((value) => value / 1000),
      inFlight: fc.option(fc.nat(50), { nil: undefined }),
      latency: fc.option(latency, { nil: undefined }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record(
      {
        cpu: percent,
        application: percent,
        memory: percent,
        qps: fc.oneof({ weight: 5, arbitrary: rate.map((value) => value + 1) }, rate),
        eps: rate,
        named: fc.record({ queue: fc.double({ min: -1, max: 10, noNaN: true }) }),
      },
      { requiredKeys: ['qps'] },
    ),
  },
)
const age = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constantFrom(99, 100, 101))
// Few, so that loads are equal now and then, and some that are not exact.
const weight = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 4 }) },
  { weight: 2, arbitrary: fc.double({ min: 1e-3, max: 10, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(1e12, Number.MIN_VALUE) },
)
const ended = (index: fc.Arbitrary<number>): fc.Arbitrary<Step> =>
  fc.record({
    kind: fc.constant('ended' as const),
    index,
    left: fc.oneof(fc.constant(0), fc.nat(20)),
    ok: fc.constantFrom(true, true, false),
    latency: fc.oneof(fc.double({ min: 0, max: 200, noNaN: true }), fc.constantFrom(0, 10, 1e12)),
    alone: fc.boolean(),
  })

/** Situations with any algorithm, of up to 300 nodes. */
export const situation: fc.Arbitrary<Situation> = fc.integer({ min: 1, max: 300 }).chain((size) => {
  const node = fc.integer({ min: 0, max: size - 1 })
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constant('report' as const), node, report, age }),
    fc.record({
      kind: fc.constant('probed' as const),
      member: fc.integer({ min: 0, max: size + 2 }),
      inFlight,
      latency: fc.oneof(latency, latency, fc.constant(Number.NaN)),
      age,
    }),
    fc.record({ kind: fc.constant('leave' as const), node }),
    fc.record({
      kind: fc.constant('members' as const),
      nodes: fc.uniqueArray(node, { maxLength: Math.min(size, 40) }),
      states: fc.array(fc.constantFrom(0, 1, 1, 1), { minLength: 40, maxLength: 40 }),
      weights: fc.array(weight, { minLength: 40, maxLength: 40 }),
    }),
    fc.record({ kind: fc.constantFrom('enter' as const, 'enter' as const, 'end' as const), node }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 150 }) }),
    fc.record({ kind: fc.constant('sent' as const), index: node }),
    ended(node),
    ended(node),
    fc.record({ kind: fc.constant('setAside' as const), index: node, count: fc.nat(4) }),
    fc.constant({ kind: 'refresh' as const }),
    fc.constant({ kind: 'pick' as const }),
    fc.record({ kind: fc.constant('pairs' as const), count: fc.integer({ min: 0, max: 8 }), node }),
    fc.record({
      kind: fc.constant('fill' as const),
      count: fc.integer({ min: 0, max: 40 }),
      kept: fc.nat(50),
    }),
    fc.record({
      kind: fc.constant('exclude' as const),
      indices: fc.array(fc.integer({ min: 0, max: size + 2 }), { maxLength: 6 }),
    }),
  )
  return fc.record({
    size: fc.constant(size),
    algorithm,
    seed: fc.tuple(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.integer({ min: 0, max: 2 ** 32 - 1 })),
    readings: fc.array(fc.record({ report, age }), { maxLength: size }),
    thread: fc.integer({ min: 0, max: 400 }),
    // Now and then more than the native engine keeps before it takes them.
    steps: fc.oneof(
      { weight: 6, arbitrary: fc.array(step, { minLength: 1, maxLength: 12 }) },
      { weight: 1, arbitrary: fc.array(step, { minLength: 60, maxLength: 100, size: 'max' }) },
    ),
  })
})
