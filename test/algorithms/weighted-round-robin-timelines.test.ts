import test from 'ava'
import { FACT_COUNT, FACT_NEXT_EXPIRY } from '../../dist/engine/engine.js'
import { chooseEngine } from '../../dist/engine/load.js'
import {
  createBalancer,
  createTable,
  type Report,
  type WeightedRoundRobinOptions,
  weightedRoundRobin,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { TIME_BIAS } from '../../dist/table/layout.js'
import { Table } from '../../dist/table/table.js'
import { engines } from '../support/engines.js'
import { countPicks } from '../support/shares.js'
import { loaded, setUpWeighted, type Weighted } from './weighted.js'

for (const engine of engines) {
  const setUp = setUpWeighted(engine)

  test(`${engine}: T1: one reporter is a round robin, two leave the mean to the third, three have their own`, (t) => {
    const { balancer, clock, report, ratios } = setUp(['a', 'b', 'c'], { blackoutPeriod: 0 })
    t.deepEqual(ratios(), [1, 1, 1])
    report({ a: loaded(0.9) })
    clock.jump(1_000)
    t.deepEqual(ratios(), [1, 1, 1])
    report({ b: loaded(0.3) })
    clock.jump(1_000)
    t.deepEqual(ratios(), [1, 3, 2])
    const counts = countPicks(600, () => balancer.select())
    for (const [node, expected] of [
      ['a', 100],
      ['b', 300],
      ['c', 200],
    ] as const) {
      t.true(Math.abs((counts.get(node) ?? 0) - expected) <= 1, `${node}: ${counts.get(node)}`)
    }
    report({ c: loaded(0.3) })
    clock.jump(1_000)
    t.deepEqual(ratios(), [1, 3, 3])
  })

  test(`${engine}: T2: weights count from the end of the blackout on`, (t) => {
    const { clock, report, ratios } = setUp(['a', 'b'])
    t.deepEqual(ratios(), [1, 1])
    report({ a: { qps: 10, cpu: 100 }, b: { qps: 5, cpu: 100 } })
    for (let waited = 0; waited < 10_000; waited += 500) {
      t.deepEqual(ratios(), [1, 1], `${waited} ms`)
      clock.jump(500)
    }
    t.deepEqual(ratios(), [2, 1])
  })

  test(`${engine}: T2: the blackout ends exactly when it is over, also unseen`, (t) => {
    for (const [waited, expected] of [
      [9_999, [1, 1]],
      [10_000, [2, 1]],
    ] as const) {
      const { clock, report, ratios } = setUp(['a', 'b'])
      report({ a: { qps: 10, cpu: 100 }, b: { qps: 5, cpu: 100 } })
      clock.jump(waited)
      t.deepEqual(ratios(), [...expected])
    }
  })

  test(`${engine}: T3: a weight expires with its report`, (t) => {
    const { clock, report, ratios } = setUp(['a', 'b'], { weightExpirationPeriod: 60_000 })
    report({ a: loaded(0.9), b: loaded(0.3) })
    t.deepEqual(ratios(), [1, 1])
    clock.jump(59_000)
    t.deepEqual(ratios(), [1, 3])
    clock.jump(999)
    t.deepEqual(ratios(), [1, 3])
    clock.jump(1)
    t.deepEqual(ratios(), [1, 1])
    clock.jump(1_000)
    t.deepEqual(ratios(), [1, 1])
  })

  test(`${engine}: T4: who was silent until its weight expired has another blackout`, (t) => {
    const { clock, report, ratios } = setUp(['a', 'b', 'c'], {
      weightExpirationPeriod: 2_000,
      blackoutPeriod: 1_000,
    })
    report({ a: loaded(0.9), b: loaded(0.3), c: loaded(0.3) })
    t.deepEqual(ratios(), [1, 1, 1])
    clock.jump(1_000)
    t.deepEqual(ratios(), [1, 3, 3])
    clock.jump(1_000)
    t.deepEqual(ratios(), [1, 1, 1])
    const again = { a: loaded(0.3), b: loaded(0.3), c: loaded(0.9) }
    report(again)
    t.deepEqual(ratios(), [1, 1, 1])
    clock.jump(999)
    t.deepEqual(ratios(), [1, 1, 1])
    clock.jump(1)
    t.deepEqual(ratios(), [3, 3, 1])
  })

  test(`${engine}: T5: who went away and came back has another blackout; who is named again has not`, (t) => {
    for (const isKept of [false, true]) {
      const clock = new VirtualClock(1_000)
      const table = createTable({ clock })
      const { balancer, report, ratios } = setUp(['a', 'b'], {}, { clock, table })
      // Another balancer that keeps the node: then its last report is still there.
      if (isKept) createBalancer({ nodes: ['b'], table, poll: false })
      const both = { a: loaded(0.9), b: loaded(0.3) }
      report(both)
      t.deepEqual(ratios(), [1, 1])
      clock.jump(10_000)
      t.deepEqual(ratios(), [1, 3])
      balancer.setNodes(['a', 'b'])
      t.deepEqual(ratios(), [1, 3])
      balancer.setNodes(['b', 'a'])
      t.deepEqual(ratios(), [3, 1])
      balancer.setNodes(['a'])
      t.deepEqual(ratios(), [1])
      balancer.setNodes(['a', 'b'])
      t.deepEqual(ratios(), [1, 1])
      clock.jump(5_000)
      report(both)
      t.deepEqual(ratios(), [1, 1])
      clock.jump(5_000)
      t.deepEqual(ratios(), isKept ? [1, 3] : [1, 1])
      clock.jump(5_000)
      t.deepEqual(ratios(), [1, 3])
    }
  })

  test(`${engine}: T6: shares change at updates alone, a whole number of periods after the first`, (t) => {
    for (const period of [1_000, 250]) {
      const { clock, report, ratios } = setUp(['a', 'b'], { blackoutPeriod: 0, weightUpdatePeriod: period })
      report({ a: loaded(0.9), b: loaded(0.3) })
      t.deepEqual(ratios(), [1, 3])
      report({ a: loaded(0.3), b: loaded(0.9) })
      t.deepEqual(ratios(), [1, 3])
      clock.jump(period - 1)
      report({ a: loaded(0.3), b: loaded(0.6) })
      t.deepEqual(ratios(), [1, 3])
      clock.jump(1)
      t.deepEqual(ratios(), [2, 1])
      // Updates that nobody saw have been made in time: this report is too late for the last of them.
      clock.jump(7 * period + 3)
      report({ a: loaded(0.3), b: loaded(0.3) })
      t.deepEqual(ratios(), [2, 1])
      clock.jump(period - 4)
      t.deepEqual(ratios(), [2, 1])
      clock.jump(1)
      t.deepEqual(ratios(), [1, 1])
    }
  })

  test(`${engine}: T6: the sequence keeps its place across updates, looks and blocks`, (t) => {
    const picksOf = (disturb: (step: number, it: Weighted) => void) => {
      const it = setUp(['a', 'b', 'c'], { blackoutPeriod: 0 })
      it.report({ a: loaded(0.9), b: loaded(0.3), c: loaded(0.3) })
      return Array.from({ length: 210 }, (_, step) => {
        disturb(step, it)
        return it.balancer.select()
      })
    }
    const undisturbed = picksOf(() => {})
    t.deepEqual(
      picksOf((_, { clock, report }) => {
        clock.jump(300)
        report({ a: loaded(0.9), b: loaded(0.3), c: loaded(0.3) })
      }),
      undisturbed,
    )
    t.deepEqual(
      picksOf((_, { balancer }) => balancer.snapshot()),
      undisturbed,
    )
    // Of seven, one, three and three: in every seven picks.
    for (let i = 0; i < 210; i += 7) {
      const seven = undisturbed.slice(i, i + 7)
      t.true(Math.abs(seven.filter((node) => node === 'a').length - 1) <= 1)
    }
    t.is(undisturbed.filter((node) => node === 'a').length, 30)
  })

  test(`${engine}: picks begin anywhere`, (t) => {
    const firsts = new Set(
      Array.from({ length: 40 }, (_, seed) =>
        createBalancer({
          nodes: ['a', 'b', 'c', 'd'],
          algorithm: weightedRoundRobin(),
          poll: false,
          clock: new VirtualClock(),
          seed,
          engine,
        }).select(),
      ),
    )
    t.is(firsts.size, 4)
  })

  test(`${engine}: what the built-in policy of grpc-js gets wrong comes out right`, (t) => {
    const cases: { reports: Record<string, Report>; expected: number[] }[] = [
      { reports: { a: loaded(0.9), b: loaded(0.3), n: {} }, expected: [100, 300, 200] },
      { reports: { a: loaded(0.9), n: {} }, expected: [300, 300] },
      { reports: { a: { qps: 100, cpu: 10 }, b: { qps: 100, cpu: 90 } }, expected: [540, 60] },
    ]
    for (const { reports, expected } of cases) {
      const nodes = Object.keys(reports)
      const { balancer, clock, report } = setUp(nodes, { blackoutPeriod: 0 })
      report(reports)
      clock.jump(1_000)
      const counts = countPicks(600, () => balancer.select())
      const found = nodes.map((node) => counts.get(node) ?? 0)
      t.true(
        found.every((count, i) => Math.abs(count - (expected[i] as number)) <= 1),
        String(found),
      )
    }
  })

  test(`${engine}: a view is out of date only when an update changes something`, (t) => {
    const clock = new VirtualClock(0)
    const table = new Table(clock)
    const places = ['a', 'b'].map((id) => table.claim(id))
    const nextOf = (options: WeightedRoundRobinOptions) => {
      const core = chooseEngine(engine).createCore(table.memory, weightedRoundRobin(options), [1, 2])
      core.setMembers({
        slots: Uint32Array.from(places, ({ slot }) => slot),
        generations: Uint32Array.from(places, ({ generation }) => generation),
        states: new Uint8Array(2).fill(1),
        weights: new Float64Array(2).fill(1),
      })
      return () => {
        const view = { values: new Float64Array(2), facts: new Float64Array(FACT_COUNT) }
        core.refresh(table.now(), view)
        return (view.facts[FACT_NEXT_EXPIRY] as number) - TIME_BIAS
      }
    }
    const next = nextOf({ blackoutPeriod: 2_500, weightExpirationPeriod: 9_000, weightUpdatePeriod: 1_000 })
    const nextFixed = nextOf({ weights: { a: 2 } })
    t.is(next(), Number.POSITIVE_INFINITY)
    clock.jump(300)
    for (const place of places) table.write(place, table.now(), { qps: 100, cpu: 50 })
    // Heard of after an update: the next one.
    t.is(next(), 1_000)
    clock.jump(700)
    // Then the end of the blackout, at 2,800.
    t.is(next(), 3_000)
    clock.jump(2_000)
    // Then the expiry, at 9,300.
    t.is(next(), 10_000)
    clock.jump(2_000)
    t.is(next(), 10_000)
    clock.jump(5_000)
    t.is(next(), Number.POSITIVE_INFINITY)
    t.is(nextFixed(), Number.POSITIVE_INFINITY)
  })
}
