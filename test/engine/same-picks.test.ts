import test from 'ava'
import fc from 'fast-check'
import { adaptive } from '../../dist/algorithms/adaptive.js'
import type { EngineAlgorithm } from '../../dist/algorithms/algorithm.js'
import { leastConnections } from '../../dist/algorithms/least-connections.js'
import { leastCpu } from '../../dist/algorithms/least-cpu.js'
import { powerOfTwo } from '../../dist/algorithms/power-of-two.js'
import { prequal } from '../../dist/algorithms/prequal.js'
import { random } from '../../dist/algorithms/random.js'
import { roundRobin } from '../../dist/algorithms/round-robin.js'
import { spareCapacity } from '../../dist/algorithms/spare-capacity.js'
import { weightedRoundRobin } from '../../dist/algorithms/weighted-round-robin.js'
import { type Engine, FACT_COUNT, type View } from '../../dist/engine/engine.js'
import { processBinding } from '../../dist/engine/load.js'
import { nativeEngine } from '../../dist/engine/native.js'
import { portableEngine } from '../../dist/engine/portable/index.js'
import type { Report } from '../../dist/report.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { enterFlight, leaveFlight } from '../../dist/table/in-flight.js'
import { NO_SLOT, TIME_BIAS } from '../../dist/table/layout.js'
import type { TableMemory } from '../../dist/table/memory.js'
import { claimMetric } from '../../dist/table/metric-names.js'
import { Table } from '../../dist/table/table.js'

const binding = processBinding()
const native = binding.kind === 'loaded' ? nativeEngine(binding.binding) : undefined
// Without cargo there is no native engine to compare with.
const compared = native === undefined ? test.skip : test

/** One step of a situation; both engines take the same steps. */
type Step =
  | { kind: 'report'; node: number; report: Report; age: number }
  | { kind: 'probed'; member: number; inFlight: number; latency: number; age: number }
  | { kind: 'leave'; node: number }
  | { kind: 'members'; nodes: number[]; states: number[]; weights: number[] }
  | { kind: 'wait'; ms: number }
  | { kind: 'enter' | 'end'; node: number }
  | { kind: 'sent'; index: number }
  | { kind: 'ended'; index: number; left: number; ok: boolean; latency: number }
  | { kind: 'refresh' }
  | { kind: 'pick' }
  | { kind: 'fill'; count: number; kept: number }
  | { kind: 'exclude'; indices: number[] }

interface Situation {
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
const threshold = fc.oneof(
  fc.integer({ min: 0, max: 100_000 }),
  fc.integer({ min: 0, max: 20 }),
  fc.constant(5_000),
)

// What the members weigh is said with them; that there are weights, by the algorithm.
const weights = fc.constantFrom(undefined, { named: 2 })
// Few, so that loads are equal now and then, and some that are not exact.
const weight = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 4 }) },
  { weight: 2, arbitrary: fc.double({ min: 1e-3, max: 10, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(1e12, Number.MIN_VALUE) },
)
const ownSends = fc.constantFrom(false, false, true, 0.0005, 1, 30)

const algorithm: fc.Arbitrary<EngineAlgorithm> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .record({
        ttl: fc.constantFrom(0, 100, 250, Number.POSITIVE_INFINITY),
        fading: fc.constantFrom(1, 100, 10_000),
        errorCost: fc.constantFrom(0, 0.5, 10),
      })
      .map(adaptive),
  },
  {
    weight: 8,
    arbitrary: fc
      .record({
        metric: fc.constantFrom(
          'cpu',
          'inFlight',
          'inFlight',
          'latency',
          'queueDelay',
          'askers',
          'answerers',
        ),
        choices: fc.oneof(fc.constant(2), fc.integer({ min: 2, max: 6 }), fc.constant(64)),
        choiceRate: fc.constantFrom(0, 0.3, 0.999, 1, 1, 1),
        otherwise: fc.constantFrom('random' as const, 'worker' as const),
        unknown: fc.constantFrom('random' as const, 'fail' as const),
        ttl: fc.constantFrom(0, 100, 250, Number.POSITIVE_INFINITY),
      })
      .map(powerOfTwo),
  },
  { weight: 1, arbitrary: fc.constantFrom(random(), roundRobin(), roundRobin()) },
  { weight: 2, arbitrary: fc.constant(random({ weights: { named: 2 } })) },
  {
    weight: 5,
    arbitrary: fc
      .record({ choices: fc.integer({ min: 1, max: 5 }), exact: fc.boolean(), weights })
      .map(({ weights, ...options }) => leastConnections(weights ? { ...options, weights } : options)),
  },
  {
    weight: 6,
    arbitrary: fc
      .record({
        quantile: fc.constantFrom(0, 0.5, 0.84, 1),
        pool: fc.constantFrom(2, 3, 8, 16),
        maxAge: fc.constantFrom(0, 100, 250),
        probes: fc.constantFrom(0, 0.7, 3, 64),
        removals: fc.constantFrom(0, 0.3, 1, 2.5),
      })
      .map(prequal),
  },
  {
    weight: 5,
    arbitrary: fc
      .record({
        smoothing: fc.constantFrom(0, 1, 70, 1_000),
        minShare: fc.constantFrom(0, 0.01, 0.3, 1),
        ttl: fc.constantFrom(0, 100, 250, Number.POSITIVE_INFINITY),
        missing: fc.constantFrom('mean' as const, 'exclude' as const),
        ownSends,
      })
      .map(spareCapacity),
  },
  {
    weight: 8,
    arbitrary: fc
      .record(
        {
          blackoutPeriod: fc.constantFrom(0, 50, 100, 210),
          weightExpirationPeriod: fc.constantFrom(0, 100, 250, 1_000),
          weightUpdatePeriod: fc.constantFrom(100, 130),
          errorUtilizationPenalty: fc.constantFrom(0, 0.3, 1),
          clamp: fc.oneof(
            fc.constantFrom('core' as const, 'java' as const),
            fc.record({
              max: fc.double({ min: 1, max: 1e6, noNaN: true }),
              min: fc.double({ min: 0, max: 1, noNaN: true }),
            }),
          ),
          metricNames: fc.subarray(['memory', 'queue', 'other', 'cpu']),
          weights: fc.constant({}),
        },
        {
          requiredKeys: [
            'blackoutPeriod',
            'weightExpirationPeriod',
            'weightUpdatePeriod',
            'errorUtilizationPenalty',
            'clamp',
            'metricNames',
          ],
        },
      )
      .map(weightedRoundRobin),
  },
  {
    weight: 8,
    arbitrary: fc
      .record({
        threshold: threshold.map((value) => value / 1000),
        ttl: fc.constantFrom(0, 100, 250, Number.POSITIVE_INFINITY),
        missing: fc.oneof(
          fc.integer({ min: 0, max: 100 }),
          fc.constantFrom('mean' as const, 'exclude' as const),
        ),
        smoothing: fc.constantFrom(0, 0, 70),
        ownSends,
      })
      .map(leastCpu),
  },
)

const ended = (index: fc.Arbitrary<number>): fc.Arbitrary<Step> =>
  fc.record({
    kind: fc.constant('ended' as const),
    index,
    left: fc.oneof(fc.constant(0), fc.nat(20)),
    ok: fc.constantFrom(true, true, false),
    latency: fc.oneof(fc.double({ min: 0, max: 200, noNaN: true }), fc.constantFrom(0, 10, 1e12)),
  })

const situation: fc.Arbitrary<Situation> = fc.integer({ min: 1, max: 300 }).chain((size) => {
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
    fc.constant({ kind: 'refresh' as const }),
    fc.constant({ kind: 'pick' as const }),
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

/** A table with nodes 0 to size - 1; node `size` and beyond are unknown to it. */
function tableOf({ size, readings }: Situation) {
  const clock = new VirtualClock(1_000)
  const table = new Table(clock)
  const places = Array.from({ length: size }, (_, i) => table.claim(`node-${i}`))
  // So that they are kept for all, whoever asks for them first.
  for (const name of ['queue', 'askers', 'answerers']) claimMetric(table.memory, name)
  for (const [i, { report, age }] of readings.entries()) {
    const place = places[i]
    if (place !== undefined) table.write(place, table.now() - age, report)
  }
  return { clock, table, places }
}

/** Runs the steps on one core, and gives everything that it said. */
function play(engine: Engine, run: Situation): unknown[] {
  const { clock, table, places } = tableOf(run)
  const core = engine.createCore(table.memory, run.algorithm, run.seed, run.thread)
  const said: unknown[] = []
  let view: View = { values: new Float64Array(0), facts: new Float64Array(FACT_COUNT) }
  const join = (nodes: number[], states: number[], weights: number[]) => {
    const at = (node: number) => places[node] as { slot: number; generation: number }
    core.setMembers({
      // Every seventh is one that the table does not know.
      slots: Uint32Array.from(nodes, (node) => (node % 7 === 6 ? NO_SLOT : at(node).slot)),
      generations: Uint32Array.from(nodes, (node) => at(node).generation),
      states: Uint8Array.from(nodes, (_, i) => states[i] ?? 1),
      weights: Float64Array.from(nodes, (_, i) => weights[i] ?? (i % 3) + 1),
    })
    view = { values: new Float64Array(nodes.length), facts: view.facts }
  }
  const refresh = () => {
    core.refresh(table.now(), view)
    const shares = new Float64Array(view.values.length)
    core.fillShares(shares)
    said.push([...view.values], [...view.facts], [...shares], core.ignored)
  }
  join(
    places.map((_, i) => i),
    [],
    [],
  )
  refresh()
  for (const step of [
    ...run.steps,
    { kind: 'refresh' } as Step,
    { kind: 'fill', count: 20, kept: 0 } as Step,
  ]) {
    switch (step.kind) {
      case 'report': {
        const place = places[step.node]
        if (place !== undefined) said.push(table.write(place, table.now() - step.age, step.report))
        table.publish()
        break
      }
      case 'probed':
        said.push(core.probed?.(step.member, step.inFlight, step.latency, table.now() - step.age))
        break
      case 'leave': {
        const place = places[step.node]
        if (place !== undefined) table.unclaim(place)
        break
      }
      case 'members':
        join(step.nodes, step.states, step.weights)
        refresh()
        break
      case 'enter':
      case 'end': {
        const place = places[step.node]
        const count = step.kind === 'enter' ? enterFlight : leaveFlight
        if (place !== undefined) said.push(count(table.memory, place.slot, place.generation))
        break
      }
      case 'sent':
        core.learner?.sent(step.index)
        break
      case 'ended':
        core.learner?.ended(step.index, step.left, step.ok, step.latency)
        break
      case 'wait':
        clock.jump(step.ms)
        break
      case 'refresh':
        refresh()
        break
      case 'fill': {
        const into = new Uint32Array(step.count)
        const drawn = core.fill(into)
        said.push(drawn, [...into])
        if (drawn > 0 && !core.live) core.rewind(Math.min(step.kept, drawn))
        break
      }
      case 'pick':
        if (core.live) said.push(core.pick(), core.atRandom?.())
        break
      case 'exclude':
        said.push(core.pickExcluding(Uint32Array.from(step.indices)))
        break
    }
  }
  return said
}

compared('both engines make the same picks, bit for bit, in 10,000 random situations', (t) => {
  t.timeout(180_000)
  fc.assert(
    fc.property(situation, (run) => {
      t.deepEqual(play(native as Engine, run), play(portableEngine, run))
    }),
    { numRuns: 10_000 },
  )
})

compared('both engines see a reading that another view of the memory wrote after the table grew', (t) => {
  const clock = new VirtualClock()
  const table = new Table(clock)
  const cores = [native as Engine, portableEngine].map((engine) =>
    engine.createCore(table.memory, leastCpu({ threshold: 0 }), [1, 2]),
  )
  const places = Array.from({ length: 1_000 }, (_, i) => table.claim(`node-${i}`))
  places.forEach((place, i) => {
    table.write(place, TIME_BIAS, { cpu: i === 777 ? 0.001 : 0.002 })
  })
  table.publish()
  for (const core of cores) {
    const view: View = { values: new Float64Array(1_000), facts: new Float64Array(FACT_COUNT) }
    core.setMembers({
      slots: Uint32Array.from(places, (place) => place.slot),
      generations: Uint32Array.from(places, (place) => place.generation),
      states: new Uint8Array(1_000).fill(1),
      weights: new Float64Array(1_000).fill(1),
    })
    core.refresh(table.now(), view)
    const into = new Uint32Array(4)
    core.fill(into)
    t.deepEqual([...into], [777, 777, 777, 777], core.name)
  }
})

test('the portable engine works over memory that is not shared', (t) => {
  const shared = globalThis.SharedArrayBuffer
  // @ts-expect-error: a browser without cross-origin isolation has none
  globalThis.SharedArrayBuffer = undefined
  let memory: TableMemory
  try {
    const table = new Table(new VirtualClock())
    memory = table.memory
    for (let i = 0; i < 200; i++)
      table.write(table.claim(`node-${i}`), table.now(), { cpu: i === 150 ? 0.01 : 90 })
  } finally {
    globalThis.SharedArrayBuffer = shared
  }
  t.true(memory.buffer instanceof ArrayBuffer)
  const core = portableEngine.createCore(memory, leastCpu(), [3, 4])
  const slots = Uint32Array.from({ length: 200 }, (_, i) => i)
  core.setMembers({
    slots,
    generations: new Uint32Array(200),
    states: new Uint8Array(200).fill(1),
    weights: new Float64Array(200).fill(1),
  })
  core.refresh(TIME_BIAS, { values: new Float64Array(200), facts: new Float64Array(FACT_COUNT) })
  const into = new Uint32Array(8)
  t.is(core.fill(into), 8)
  t.true(into.every((index) => index === 150))
})
