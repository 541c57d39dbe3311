import test from 'ava'
import { createBalancer, OptionError, type SpareCapacityOptions, spareCapacity } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { countPicks } from '../support/shares.js'

for (const engine of engines) {
  const setUp = (nodes: readonly string[], options: SpareCapacityOptions = {}) => {
    const clock = new VirtualClock(1_000)
    const balancer = createBalancer({
      nodes,
      algorithm: spareCapacity({ smoothing: 0, minShare: 0, ttl: 1_000, ...options }),
      poll: false,
      clock,
      seed: 3,
      engine,
    })
    const shares = () => balancer.snapshot().map(({ share }) => share)
    return { balancer, clock, shares }
  }
  const near = (shares: number[], expected: number[]) =>
    shares.length === expected.length &&
    shares.every((share, i) => Math.abs(share - (expected[i] as number)) < 1e-9)

  test(`${engine}: shares are in proportion to the idle CPU, and picks follow them`, (t) => {
    const { balancer, shares } = setUp(['a', 'b', 'c'])
    balancer.report('a', { cpu: 20 })
    balancer.report('b', { cpu: 60 })
    balancer.report('c', { cpu: 100 })
    t.true(near(shares(), [80 / 120, 40 / 120, 0]))
    const counts = countPicks(60_000, () => balancer.select())
    // Four standard deviations of a binomial.
    t.true(Math.abs((counts.get('a') ?? 0) - 40_000) < 4 * Math.sqrt(60_000 * (2 / 3) * (1 / 3)))
    t.is(counts.get('c'), undefined)
    t.false(balancer.snapshot()[2]?.inBand)
  })

  test(`${engine}: a full node keeps minShare of an equal share`, (t) => {
    const { balancer, shares } = setUp(['a', 'b'], { minShare: 0.1 })
    balancer.report('a', { cpu: 100 })
    balancer.report('b', { cpu: 50 })
    t.true(near(shares(), [0.05, 0.95]))
    balancer.report('b', { cpu: 100 })
    t.true(near(shares(), [0.5, 0.5]))
  })

  test(`${engine}: a missing node counts as the mean of the known, or is left out, and none known is uniform`, (t) => {
    for (const [missing, expected] of [
      ['mean', [0.8 / 1.8, 0.4 / 1.8, 0.6 / 1.8]],
      ['exclude', [0.8 / 1.2, 0.4 / 1.2, 0]],
    ] as const) {
      const { balancer, clock, shares } = setUp(['a', 'b', 'c'], { missing })
      t.true(near(shares(), [1 / 3, 1 / 3, 1 / 3]))
      balancer.report('a', { cpu: 20 })
      balancer.report('b', { cpu: 60 })
      t.true(near(shares(), [...expected]))
      clock.jump(1_001)
      t.true(near(shares(), [1 / 3, 1 / 3, 1 / 3]))
    }
  })

  test(`${engine}: smoothing is a matter of time, not of how often reports come`, (t) => {
    const effective = (steps: number) => {
      const { balancer, clock } = setUp(['a', 'b'], { smoothing: 10_000, ttl: 60_000 })
      balancer.report('a', { cpu: 0 })
      for (let i = 0; i < steps; i++) {
        // What picks have seen is smoothed.
        balancer.select()
        clock.jump(10_000 / steps)
        balancer.report('a', { cpu: 100 })
      }
      return balancer.snapshot()[0]?.effective ?? Number.NaN
    }
    // Implicit Euler: 1 - (1 + h/tau)^-steps; its limit is 1 - 1/e.
    t.true(Math.abs(effective(1) - 50) < 0.01)
    t.true(Math.abs(effective(10) - 100 * (1 - 1.1 ** -10)) < 0.01)
    t.true(Math.abs(effective(1_000) - 100 * (1 - Math.exp(-1))) < 0.1)
  })

  test(`${engine}: what is smoothed stays through changes of members, and starts anew for one that came back`, (t) => {
    const { balancer, clock } = setUp(['a', 'b'], { smoothing: 1_000, ttl: 60_000 })
    const effective = () => balancer.snapshot().find(({ id }) => id === 'a')?.effective
    balancer.report('a', { cpu: 0 })
    t.is(effective(), 0)
    balancer.setNodes(['x', 'a'])
    clock.jump(1_000)
    balancer.report('a', { cpu: 80 })
    t.is(effective(), 40)
    balancer.setNodes(['x'])
    balancer.setNodes(['a', 'x'])
    balancer.report('a', { cpu: 80 })
    t.is(effective(), 80)
  })

  test(`${engine}: an excluded node plays no part, and an array is picked from with the same weights`, (t) => {
    const { balancer } = setUp(['a', 'b', 'c'])
    balancer.report('a', { cpu: 0 })
    balancer.report('b', { cpu: 100 })
    balancer.report('c', { cpu: 100 })
    for (let i = 0; i < 50; i++) t.is(balancer.select(), 'a')
    t.is(countPicks(200, () => balancer.select({ exclude: ['a'] })).size, 2)
    const nodes = ['b', 'a', 'c']
    for (let i = 0; i < 50; i++) t.is(balancer.select(nodes), 'a')
    for (let i = 0; i < 50; i++) t.is(balancer.select([...nodes]), 'a')
    t.is(countPicks(200, () => balancer.select(['b', 'c'])).size, 2)
  })
}

test('bad options are refused', (t) => {
  for (const options of [
    { smoothing: -1 },
    { minShare: 1.5 },
    { ttl: Number.NaN },
    { missing: 50 },
    { smooth: 1 },
  ]) {
    t.throws(() => spareCapacity(options as object), { instanceOf: OptionError })
  }
})
