import { readFileSync } from 'node:fs'
import test from 'ava'
import {
  createBalancer,
  createTable,
  NoNodesError,
  type Report,
  TableError,
  weightedRoundRobin,
} from '../../dist/index.js'
import { engines } from '../support/engines.js'
import { countPicks, follow } from '../support/shares.js'
import { loaded, setUpWeighted } from './weighted.js'

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

for (const engine of engines) {
  const setUp = setUpWeighted(engine)

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

  test(`${engine}: an excluded node is not picked, and the others keep their proportions`, (t) => {
    const { balancer, report } = setUp(['a', 'b', 'c', 'd'], { blackoutPeriod: 0 })
    report({ a: loaded(0.9), b: loaded(0.3), c: loaded(0.1) })
    const counts = countPicks(800, () => balancer.select({ exclude: ['c', 'x'] }))
    // Weights of 111 and 333, and the mean of all three: 481.
    t.deepEqual(
      ['a', 'b', 'c', 'd'].map((node) => Math.round(((counts.get(node) ?? 0) / 800) * 250)),
      [30, 90, 0, 130],
    )
    t.throws(() => balancer.select({ exclude: ['a', 'b', 'c', 'd'] }), { instanceOf: NoNodesError })
    t.is(balancer.select({ exclude: ['a', 'b', 'd'] }), 'c')
  })

  test(`${engine}: retries without the node that failed leave every node its share of all picks`, (t) => {
    for (const weights of [
      { a: 1, c: 1 },
      { a: 2, c: 5 },
    ]) {
      const { balancer } = setUp(['a', 'b', 'c', 'd'], { weights })
      const shares = balancer.snapshot().map(({ share }) => share)
      const counts = countPicks(0, () => '')
      const pick = (exclude: string[]) => {
        const node = balancer.select({ exclude })
        counts.set(node, (counts.get(node) ?? 0) + 1)
        return node
      }
      for (let i = 0; i < 3_000; i++) if (pick([]) === 'b') pick(['b'])
      const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
      for (const [i, node] of balancer.nodes.entries()) {
        t.true(Math.abs((counts.get(node) ?? 0) - (shares[i] ?? 0) * total) <= 2, JSON.stringify([...counts]))
      }
    }
  })

  test(`${engine}: whatever is excluded from pick to pick, turns of the others are not moved between them`, (t) => {
    const nodes = ['a', 'b', 'c', 'd', 'e']
    const weights = { a: 3, c: 2 }
    for (const pattern of [['a'], ['b', 'a'], ['a', 'b', 'c'], ['a', '', 'd', ''], ['', 'e', '', '']]) {
      const { balancer } = setUp(nodes, { weights })
      const { balancer: whole } = setUp(nodes, { weights })
      for (let i = 0; i < 1_000; i++) {
        const exclude = pattern[i % pattern.length] as string
        let turn = whole.select()
        while (turn === exclude) turn = whole.select()
        t.is(balancer.select({ exclude: [exclude] }), turn)
      }
    }
  })

  test(`${engine}: the first pick of a new balancer is any node with the chance of its share, and the second too`, (t) => {
    const weights = { a: 10, b: 5, c: 2 }
    const nodes = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
    const shares = [10, 5, 2, 1, 1, 1, 1, 1].map((weight) => weight / 22)
    const [first, second] = [new Map<string, number>(), new Map<string, number>()]
    const [inArray, inOther] = [new Map<string, number>(), new Map<string, number>()]
    const count = (counts: Map<string, number>, node: string) => counts.set(node, (counts.get(node) ?? 0) + 1)
    for (let seed = 0; seed < 3_000; seed++) {
      const algorithm = weightedRoundRobin({ weights })
      const balancer = createBalancer({ nodes, algorithm, poll: false, seed, engine })
      count(first, balancer.select())
      count(second, balancer.select())
      count(inArray, balancer.select(nodes))
      const array = [...nodes]
      balancer.select(array)
      count(inOther, balancer.select(array))
    }
    for (const counts of [first, second, inArray, inOther]) {
      const found = nodes.map((node) => counts.get(node) ?? 0)
      t.true(follow(found, shares), `${found}`)
    }
  })

  test(`${engine}: arrays that are picked from alternately get the shares of each`, (t) => {
    const { balancer } = setUp([], { weights: { a: 8, b: 3 } })
    const [one, other] = [
      ['a', 'b', 'c'],
      ['b', 'c', 'd', 'e', 'f'],
    ]
    const counts = countPicks(0, () => '')
    for (let i = 0; i < 1_200; i++) {
      const node = balancer.select(one as string[])
      counts.set(node, (counts.get(node) ?? 0) + 1)
      balancer.select(other as string[])
    }
    t.deepEqual(
      ['a', 'b', 'c'].map((node) => Math.round((counts.get(node) ?? 0) / 10)),
      [80, 30, 10],
    )
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
}
