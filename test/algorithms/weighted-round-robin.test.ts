import { readFileSync } from 'node:fs'
import test from 'ava'
import { FACT_COUNT, FACT_NEXT_EXPIRY } from '../../dist/engine/engine.js'
import { chooseEngine } from '../../dist/engine/load.js'
import {
  createBalancer,
  createTable,
  NoNodesError,
  type Report,
  TableError,
  type WeightedRoundRobinOptions,
  weightedRoundRobin,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { TIME_BIAS } from '../../dist/table/layout.js'
import { Table } from '../../dist/table/table.js'
import { engines } from '../support/engines.js'
import { countPicks } from '../support/shares.js'

interface WeightCase {
  id: string
  note?: string
  qps: number
  app: number
  cpu?: number
  eps: number
  penalty: number
  weight: number | null
}
const vectors: { weights: WeightCase[] } = JSON.parse(
  readFileSync(new URL('../vectors/wrr-weights.json', import.meta.url), 'utf8'),
)

/** A report of a utilization 0-1, at 100 requests per second. */
function loaded(application: number): Report {
  return { qps: 100, application: application * 100 }
}

for (const engine of engines) {
  const setUp = (
    nodes: readonly string[],
    options: WeightedRoundRobinOptions = {},
    more: { table?: ReturnType<typeof createTable>; clock?: VirtualClock } = {},
  ) => {
    const clock = more.clock ?? new VirtualClock(1_000)
    const balancer = createBalancer({
      nodes,
      algorithm: weightedRoundRobin(options),
      poll: false,
      ...(more.table === undefined ? { clock } : { table: more.table }),
      seed: 3,
      engine,
    })
    const report = (reports: Record<string, Report>) => {
      for (const [node, it] of Object.entries(reports)) balancer.report(node, it)
    }
    const snapshot = (id: string) => balancer.snapshot().find((it) => it.id === id)
    /** Shares as ratios to the smallest, to a hundredth. */
    const ratios = () => {
      const shares = balancer.snapshot().map(({ share }) => share)
      const least = Math.min(...shares)
      return shares.map((share) => Math.round((share / least) * 100) / 100)
    }
    return { balancer, clock, report, ratios, snapshot }
  }

  for (const it of vectors.weights) {
    test(`${engine}: ${it.id}: qps ${it.qps}, utilization ${it.app}, eps ${it.eps} is a weight of ${it.weight}`, (t) => {
      const { balancer, report, snapshot } = setUp(['a', 'b'], {
        blackoutPeriod: 0,
        errorUtilizationPenalty: it.penalty,
      })
      const { qps, eps } = it
      const cpu = it.cpu === undefined ? {} : { cpu: it.cpu * 100 }
      report({ a: { qps, eps, application: it.app * 100, ...cpu }, b: loaded(1) })
      const weight = snapshot('a')?.weight
      if (it.weight === null) t.is(weight, undefined)
      // Metrics are in single precision.
      else t.true(Math.abs((weight ?? 0) / it.weight - 1) < 1e-6, String(weight))
      t.is(balancer.stats().picks.reportsIgnored, it.weight === null ? 1 : 0)
      const known = it.weight ?? 100
      t.true(Math.abs((snapshot('a')?.share ?? 0) - known / (known + 100)) < 1e-4)
    })
  }

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
    const picksOf = (disturb: (step: number, it: ReturnType<typeof setUp>) => void) => {
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
    for (const { reports, expected } of [
      { reports: { a: loaded(0.9), b: loaded(0.3) }, expected: [100, 300, 200] },
      { reports: { a: loaded(0.9) }, expected: [200, 200, 200] },
      {
        reports: { a: { qps: 100, cpu: 10 }, b: { qps: 100, cpu: 90 }, c: { qps: 100, cpu: 18 } },
        expected: [360, 40, 200],
      },
    ]) {
      const { balancer, clock, report } = setUp(['a', 'b', 'c'], { blackoutPeriod: 0 })
      report(reports as Record<string, Report>)
      clock.jump(1_000)
      const counts = countPicks(600, () => balancer.select())
      const found = ['a', 'b', 'c'].map((node) => counts.get(node) ?? 0)
      t.true(
        found.every((count, i) => Math.abs(count - (expected[i] as number)) <= 2),
        String(found),
      )
    }
  })

  test(`${engine}: parts of a report of another sample do not count`, (t) => {
    const { balancer, clock, report, snapshot } = setUp(['a', 'b'], { blackoutPeriod: 0 })
    const weight = () => {
      clock.jump(1_000)
      return Math.round(snapshot('a')?.weight ?? 0)
    }
    report({ a: { qps: 100, application: 20, eps: 30, cpu: 50 }, b: loaded(1) })
    t.is(weight(), 200)
    // No eps in it: there were none. No application: the cpu counts.
    report({ a: { qps: 100, cpu: 25 } })
    t.is(weight(), 400)
    // CPU alone, or qps alone, is no report to weigh: what is known stays.
    report({ a: { cpu: 99 } })
    t.is(weight(), 400)
    clock.jump(10)
    report({ a: { qps: 7 } })
    t.is(weight(), 400)
    t.is(balancer.stats().picks.reportsIgnored, 2)
    t.is(balancer.stats().picks.reportsIgnored, 2)
  })

  test(`${engine}: reports of nothing to weigh are counted once each, and change nothing`, (t) => {
    const { balancer, clock, report, ratios, snapshot } = setUp(['a', 'b'], { blackoutPeriod: 0 })
    report({ a: loaded(0.9), b: loaded(0.3) })
    t.deepEqual(ratios(), [1, 3])
    let ignored = 0
    for (const useless of [
      { qps: 0, application: 50 },
      { qps: 100, application: 0 },
      { qps: 100, cpu: 0, eps: 1 },
      { application: 50, cpu: 50 },
      { qps: 1 },
    ]) {
      clock.jump(1_000)
      report({ a: useless })
      ratios()
      clock.jump(1_000)
      t.deepEqual(ratios(), [1, 3], JSON.stringify(useless))
      t.is(balancer.stats().picks.reportsIgnored, ++ignored, JSON.stringify(useless))
    }
    // They do not keep a weight from expiring either.
    clock.jump(170_000)
    report({ a: { qps: 0, application: 50 } })
    t.is(snapshot('a')?.weight, undefined)
  })

  test(`${engine}: metricNames stand for the utilization where application is not reported`, (t) => {
    const { clock, report, snapshot } = setUp(['a', 'b'], {
      blackoutPeriod: 0,
      metricNames: ['memory', 'queue', '__proto__'],
    })
    const weights: [Report, number][] = [
      [{ application: 50, memory: 80, cpu: 10 }, 200],
      [{ application: 0, memory: 80, cpu: 10 }, 125],
      [{ memory: 20, cpu: 90, named: { queue: 0.5 } }, 200],
      [{ memory: 0, cpu: 10, named: { queue: -1, other: 3 } }, 1_000],
      [{ cpu: 10, named: JSON.parse('{ "__proto__": 2 }') }, 50],
      [{ cpu: 25 }, 400],
    ]
    for (const [parts, expected] of weights) {
      report({ a: { qps: 100, ...parts }, b: loaded(1) })
      t.is(Math.round(snapshot('a')?.weight ?? 0), expected, JSON.stringify(parts))
      clock.jump(1_000)
    }
  })

  test(`${engine}: a table that has no room for a named metric says so`, (t) => {
    const table = createTable()
    const make = (...metricNames: string[]) =>
      createBalancer({ table, algorithm: weightedRoundRobin({ metricNames }), engine, poll: false })
    make('a', 'b', 'c')
    make('c', 'd', 'cpu')
    t.throws(() => make('e'), { instanceOf: TableError, code: 'IDLEST_TABLE' })
  })

  test(`${engine}: fixed weights count in place of reports, and 0 is never picked`, (t) => {
    const { balancer, clock, report, ratios, snapshot } = setUp(['a', 'b', 'c', 'd'], {
      weights: { a: 1, b: 3, d: 0 },
    })
    report({ a: loaded(0.01), b: loaded(1) })
    clock.jump(20_000)
    const counts = countPicks(500, () => balancer.select())
    t.deepEqual(
      ['a', 'b', 'c', 'd'].map((node) => Math.round((counts.get(node) ?? 0) / 10)),
      [10, 30, 10, 0],
    )
    t.deepEqual(
      balancer.snapshot().map(({ weight }) => weight),
      [1, 3, 1, undefined],
    )
    t.false(snapshot('d')?.inBand)
    t.is(balancer.stats().picks.reportsIgnored, 0)
    balancer.remove('d')
    t.deepEqual(ratios(), [1, 3, 1])
    // Arrays too, also of nodes that nobody has heard of.
    const nodes = ['d', 'x', 'b']
    for (const array of [() => nodes, () => [...nodes]]) {
      const shares = countPicks(400, () => balancer.select(array()))
      t.deepEqual([...nodes.map((node) => Math.round((shares.get(node) ?? 0) / 10))], [0, 10, 30])
    }
    t.throws(() => balancer.select(['d']), { instanceOf: NoNodesError })
  })

  test(`${engine}: where all weights are 0 there is no node to pick`, (t) => {
    const { balancer } = setUp(['a', 'b'], { weights: { a: 0, b: 0 } })
    t.throws(() => balancer.select(), { instanceOf: NoNodesError })
    t.throws(() => balancer.select(['a', 'b']), { instanceOf: NoNodesError })
    balancer.add('c')
    t.is(balancer.select(), 'c')
  })

  test(`${engine}: an excluded node plays no part`, (t) => {
    const { balancer, report } = setUp(['a', 'b', 'c', 'd'], { blackoutPeriod: 0 })
    report({ a: loaded(0.9), b: loaded(0.3), c: loaded(0.1) })
    const counts = countPicks(800, () => balancer.select({ exclude: ['c', 'x'] }))
    // The third of them has the mean of the two that are left.
    t.deepEqual(
      ['a', 'b', 'c', 'd'].map((node) => Math.round(((counts.get(node) ?? 0) / 800) * 60)),
      [10, 30, 0, 20],
    )
    t.throws(() => balancer.select({ exclude: ['a', 'b', 'c', 'd'] }), { instanceOf: NoNodesError })
    t.is(balancer.select({ exclude: ['a', 'b', 'd'] }), 'c')
  })

  test(`${engine}: a node that drains is not picked, and goes on with its weight when it is back`, async (t) => {
    const { balancer, clock, report, ratios } = setUp(['a', 'b', 'c'], { blackoutPeriod: 5_000 })
    const all = { a: loaded(0.9), b: loaded(0.3), c: loaded(0.3) }
    report(all)
    t.deepEqual(ratios(), [1, 1, 1])
    clock.jump(5_000)
    t.deepEqual(ratios(), [1, 3, 3])
    await balancer.drain('b')
    t.is(balancer.snapshot()[1]?.share, 0)
    t.is(balancer.snapshot()[1]?.weight, undefined)
    t.is(countPicks(400, () => balancer.select()).get('a'), 100)
    balancer.add('b')
    t.deepEqual(ratios(), [1, 3, 3])
  })

  test(`${engine}: an array is picked from in turn by the same weights, unknown nodes by the mean`, (t) => {
    const { balancer, clock, report } = setUp(['a', 'b', 'c'], { blackoutPeriod: 0 })
    report({ a: loaded(0.9), b: loaded(0.3) })
    const nodes = ['x', 'b', 'a']
    const tenths = (array: () => string[]) => {
      const counts = countPicks(600, () => balancer.select(array()))
      return nodes.map((node) => Math.round((counts.get(node) ?? 0) / 10))
    }
    t.deepEqual(
      tenths(() => nodes),
      [20, 30, 10],
    )
    t.deepEqual(
      tenths(() => [...nodes]),
      [20, 30, 10],
    )
    clock.jump(200_000)
    t.deepEqual(
      tenths(() => nodes),
      [20, 20, 20],
    )
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
