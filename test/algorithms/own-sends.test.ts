import test from 'ava'
import { createBalancer, leastCpu, OptionError, spareCapacity } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { kept } from '../support/kept.js'
import { countPicks } from '../support/shares.js'

type Options = Parameters<typeof leastCpu>[0]

for (const engine of engines) {
  const setUp = (nodes: readonly string[], options: Options) => {
    const clock = new VirtualClock(1_000)
    const balancer = createBalancer({
      nodes,
      algorithm: leastCpu({ threshold: 0, ttl: 60_000, ...options }),
      poll: false,
      clock,
      seed: 3,
      engine,
    })
    const report = (cpus: readonly number[]) => {
      clock.jump(1_000)
      for (const [i, cpu] of cpus.entries()) balancer.report(nodes[i] as string, { cpu })
    }
    const counts = (times: number) => {
      const picked = countPicks(times, () => balancer.select())
      return nodes.map((node) => picked.get(node) ?? 0)
    }
    return { balancer, clock, report, counts }
  }

  test(`${engine}: picks fill the nodes up to one level, as water does`, (t) => {
    const { report, counts } = setUp(['a', 'b', 'c'], { ownSends: 1 })
    report([10, 20, 70])
    // 10 picks level a with b; of the next 60 each of the two gets half.
    t.deepEqual(counts(10), [10, 0, 0])
    t.deepEqual(counts(60), [30, 30, 0])
    const next = counts(60)
    t.true(next[2] !== 0 && Math.abs((next[0] as number) - (next[1] as number)) <= 1)
  })

  test(`${engine}: a later reading has the picks before it in it, an equal one does not`, (t) => {
    const { balancer, report, counts } = setUp(['a', 'b'], { ownSends: 1 })
    report([10, 20])
    t.deepEqual(counts(5), [5, 0])
    balancer.report('a', { cpu: 10 })
    t.deepEqual(counts(5), [5, 0])
    const [toA] = counts(2)
    t.true((toA as number) <= 1)
    report([10, 20])
    t.deepEqual(counts(10), [10, 0])
  })

  test(`${engine}: a band wider than a pick is drawn from until its nodes leave it`, (t) => {
    const { counts, report } = setUp(['a', 'b', 'c'], { ownSends: 1, threshold: 5 })
    report([10, 12, 50])
    const [a, b, c] = counts(10)
    t.is(c, 0)
    // Each leaves when it is above 15, and then the band is made again from 16: at most one more each.
    t.true(Math.abs((a as number) + 10 - ((b as number) + 12)) <= 6)
  })

  test(`${engine}: what a pick costs is learned from readings and the picks between them`, (t) => {
    const { report, counts } = setUp(['a', 'b'], { ownSends: true })
    report([50, 50])
    // 1 point each until it is known: these picks are shared out evenly.
    const first = counts(200)
    t.true(first.every((count) => Math.abs(count - 100) <= 1))
    // 100 points for 200 picks: half a point each. So 20 points are 40 picks.
    report([40, 60])
    const [toA, toB] = counts(40)
    t.true((toA as number) >= 39 && (toB as number) <= 1)
    const [a, b] = counts(100)
    t.true(Math.abs((a as number) - (b as number)) <= 2)
  })

  test(`${engine}: members that come and go leave the counts of the others`, (t) => {
    const { balancer, report, counts } = setUp(['a', 'b'], { ownSends: 1 })
    report([10, 20])
    counts(5)
    balancer.add('c')
    balancer.report('c', { cpu: 15 })
    const picked = countPicks(10, () => balancer.select())
    t.deepEqual([picked.get('a'), picked.get('c'), picked.get('b')], [5, 5, undefined])
    balancer.remove('a')
    t.is(balancer.select({ exclude: ['b'] }), 'c')
  })

  test(`${engine}: an excluded node gets nothing, and what the others get is counted`, (t) => {
    const { balancer, report, counts } = setUp(['a', 'b', 'c'], { ownSends: 1 })
    report([10, 20, 90])
    for (let i = 0; i < 10; i++) t.is(balancer.select({ exclude: ['a'] }), 'b')
    t.deepEqual(counts(20), [20, 0, 0])
  })

  test(`${engine}: spareCapacity takes what was sent from what is spare`, (t) => {
    const clock = new VirtualClock(1_000)
    const balancer = createBalancer({
      nodes: ['a', 'b'],
      algorithm: spareCapacity({ smoothing: 0, minShare: 0, ownSends: 1 }),
      poll: false,
      clock,
      seed: 3,
      engine,
    })
    balancer.report('a', { cpu: 0 })
    balancer.report('b', { cpu: 50 })
    const picked = countPicks(1_000, () => balancer.select())
    // 150 points are spare: two thirds of the first 150 picks go to a, and then both are full.
    const [a, b] = [picked.get('a') ?? 0, picked.get('b') ?? 0]
    t.true(a > b && a - b < 150, `${a} ${b}`)
    t.deepEqual(
      balancer.snapshot().map(({ share }) => share),
      [0.5, 0.5],
    )
  })

  test(`${engine}: smoothed readings make the band of leastCpu`, (t) => {
    const { balancer, report } = setUp(['a', 'b'], { smoothing: 1_000 })
    report([10, 40])
    balancer.select()
    report([90, 40])
    // Half of the way after a second: 50.
    t.deepEqual(
      balancer.snapshot().map(({ effective }) => effective),
      [50, 40],
    )
  })
}

for (const ownSends of [0, -1, 101, Number.NaN, Number.POSITIVE_INFINITY, 'yes', null, {}, 1e-9]) {
  test(`ownSends: ${String(ownSends)} (${typeof ownSends}) is refused`, (t) => {
    for (const make of [leastCpu, spareCapacity]) {
      const error = t.throws(() => make({ ownSends: ownSends as never }), { instanceOf: OptionError })
      t.regex(error?.message ?? '', /ownSends/)
      t.is(error?.value as unknown, kept(ownSends))
    }
  })
}

for (const smoothing of [-1, Number.NaN, Number.POSITIVE_INFINITY, '5', null]) {
  test(`leastCpu smoothing: ${String(smoothing)} (${typeof smoothing}) is refused`, (t) => {
    t.throws(() => leastCpu({ smoothing: smoothing as never }), {
      instanceOf: OptionError,
      message: /leastCpu\.smoothing/,
    })
  })
}
