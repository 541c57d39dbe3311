import test from 'ava'
import fc from 'fast-check'
import { createBalancer, roundRobin } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { areUniform, countPicks } from '../support/shares.js'

for (const engine of engines) {
  const balancerOf = (nodes: readonly string[], seed = 1) =>
    createBalancer({ nodes, algorithm: roundRobin(), poll: false, clock: new VirtualClock(), seed, engine })

  test(`${engine}: every node is picked once a turn, in order`, (t) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.nat(), (size, seed) => {
        const balancer = balancerOf(
          Array.from({ length: size }, (_, i) => `n${i}`),
          seed,
        )
        const first = balancer.selectIndex()
        for (let i = 1; i < 3 * size; i++) t.is(balancer.selectIndex(), (first + i) % size)
      }),
      { numRuns: 50 },
    )
  })

  test(`${engine}: the start is by chance, the same for the same seed`, (t) => {
    const start = (seed: number) => balancerOf(['a', 'b', 'c', 'd', 'e'], seed).selectIndex()
    t.is(start(7), start(7))
    let seed = 0
    t.true(areUniform([...countPicks(5_000, () => start(seed++)).values()]))
  })

  test(`${engine}: reports, fills and snapshots between picks leave the turn where it is`, (t) => {
    const balancer = balancerOf(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    let next = balancer.selectIndex()
    const into = new Uint32Array(5)
    for (let i = 0; i < 500; i++) {
      if (i % 3 === 0) balancer.report('c', { cpu: i % 100 })
      if (i % 11 === 0) balancer.snapshot()
      if (i % 5 === 0) {
        balancer.fill(into)
        for (const index of into) t.is(index, ++next % 7)
      }
      t.is(balancer.selectIndex(), ++next % 7)
    }
  })

  test(`${engine}: who is excluded or drains is passed over, and the others stay in turn`, async (t) => {
    const balancer = balancerOf(['a', 'b', 'c', 'd'])
    while (balancer.select() !== 'a');
    t.is(balancer.select({ exclude: ['b'] }), 'c')
    t.is(balancer.select(), 'd')
    t.is(balancer.select({ exclude: ['a', 'b', 'c'] }), 'd')
    t.is(balancer.select(), 'a')
    t.is(balancer.trySelect({ exclude: balancer.nodes }), undefined)
    t.is(balancer.select(), 'b')
    await balancer.drain('c')
    const picks = Array.from({ length: 6 }, () => balancer.select())
    t.deepEqual([...new Set(picks)].sort(), ['a', 'b', 'd'])
    t.deepEqual(picks.slice(0, 3), picks.slice(3))
  })

  test(`${engine}: each has its part of a turn, and an array is gone through in turn too`, (t) => {
    const balancer = balancerOf(['a', 'b', 'c', 'd'])
    t.deepEqual(
      balancer.snapshot().map(({ share, inBand, effective }) => [share, inBand, effective]),
      new Array(4).fill([0.25, true, undefined]),
    )
    const nodes = ['x', 'y', 'z']
    const counts = countPicks(300, () => balancer.select(nodes))
    t.deepEqual(
      nodes.map((node) => counts.get(node)),
      [100, 100, 100],
    )
  })
}
