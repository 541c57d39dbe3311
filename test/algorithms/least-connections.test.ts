import test from 'ava'
import fc from 'fast-check'
import {
  createBalancer,
  type LeastConnectionsOptions,
  leastConnections,
  OptionError,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { areUniform, countPicks } from '../support/shares.js'

for (const engine of engines) {
  const balancerOf = (nodes: readonly string[], options: LeastConnectionsOptions = {}, seed = 1) =>
    createBalancer({
      nodes,
      algorithm: leastConnections(options),
      poll: false,
      clock: new VirtualClock(),
      seed,
      engine,
    })
  /** Makes so many requests in flight at a node. */
  const occupy = (balancer: ReturnType<typeof balancerOf>, node: string, count: number) => {
    const exclude = balancer.nodes.filter((other) => other !== node)
    for (let i = 0; i < count; i++) balancer.acquire({ exclude })
  }
  const names = (size: number) => Array.from({ length: size }, (_, i) => `n${i}`)

  test(`${engine}: exact picks one with the fewest in flight, ties by chance`, (t) => {
    const balancer = balancerOf(names(6), { exact: true })
    for (const [i, count] of [3, 1, 2, 1, 5, 1].entries()) occupy(balancer, `n${i}`, count)
    const counts = countPicks(30_000, () => balancer.select())
    t.deepEqual([...counts.keys()].sort(), ['n1', 'n3', 'n5'])
    t.true(areUniform([...counts.values()]))
  })

  test(`${engine}: a lease counts at the very next pick, and no more once it is released`, (t) => {
    const balancer = balancerOf(['a', 'b'])
    for (let i = 0; i < 100; i++) {
      const first = balancer.acquire()
      const second = balancer.acquire()
      t.not(first.node, second.node)
      first.release()
      t.is(balancer.select(), first.node)
      second.release()
    }
  })

  test(`${engine}: in turn, with the process's clock, exact keeps all within one of each other`, async (t) => {
    const nodes = names(7).map((name) => `${engine}-${name}`)
    const balancer = createBalancer({
      nodes,
      algorithm: leastConnections({ exact: true }),
      poll: false,
      engine,
    })
    for (let i = 0; i < 500; i++) {
      balancer.acquire()
      const flights = balancer.snapshot().map(({ inFlight }) => inFlight)
      t.true(Math.max(...flights) - Math.min(...flights) <= 1)
    }
    await balancer.close()
  })

  test(`${engine}: with two choices the loser of every pair is never picked, and pairs are equally likely`, (t) => {
    for (const size of [2, 3, 5, 8, 13]) {
      const balancer = balancerOf(names(size))
      // Node i has i in flight: it is picked where the other of the pair has more, so (size - 1 - i) pairs of all.
      for (const [i, name] of names(size).entries()) occupy(balancer, name, i)
      const picks = 4_000 * size
      const counts = countPicks(picks, () => balancer.selectIndex())
      t.is(counts.get(size - 1), undefined)
      let statistic = 0
      for (let i = 0; i < size - 1; i++) {
        const expected = (picks * (size - 1 - i)) / ((size * (size - 1)) / 2)
        statistic += ((counts.get(i) ?? 0) - expected) ** 2 / expected
      }
      // Far beyond p = 0.001 for up to 12 degrees of freedom.
      t.true(statistic < 40, `${statistic}`)
    }
  })

  test(`${engine}: as many choices as members is exact, and one choice is random`, (t) => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 9 }),
        fc.nat(),
        (counts, seed) => {
          const nodes = names(counts.length)
          const balancer = balancerOf(nodes, { choices: 9 }, seed)
          for (const [i, count] of counts.entries()) occupy(balancer, `n${i}`, count)
          for (let i = 0; i < 5; i++) t.is(counts[balancer.selectIndex()], Math.min(...counts))
        },
      ),
      { numRuns: 60 },
    )
    const blind = balancerOf(names(4), { choices: 1 })
    occupy(blind, 'n0', 50)
    t.true(areUniform([...countPicks(8_000, () => blind.select()).values()]))
  })

  test(`${engine}: an array is compared by what its nodes have in flight, also those that became known later`, (t) => {
    const balancer = balancerOf(['a', 'b', 'c'], { exact: true })
    occupy(balancer, 'a', 2)
    occupy(balancer, 'b', 1)
    const nodes = ['a', 'b', 'late']
    for (let i = 0; i < 5; i++) t.is(balancer.select(nodes), 'late')
    balancer.add('late')
    occupy(balancer, 'late', 3)
    for (let i = 0; i < 5; i++) t.is(balancer.select(nodes), 'b')
    t.is(balancer.select(['a', 'late']), 'a')
  })

  test(`${engine}: who drains or is excluded is not compared, and none left is none picked`, async (t) => {
    const balancer = balancerOf(['a', 'b', 'c'], { exact: true })
    occupy(balancer, 'a', 1)
    occupy(balancer, 'b', 2)
    t.is(balancer.select(), 'c')
    t.is(balancer.select({ exclude: ['c'] }), 'a')
    await balancer.drain('c')
    t.is(balancer.select(), 'a')
    t.is(balancer.trySelect({ exclude: ['a', 'b'] }), undefined)
    t.is(balancer.fill(new Uint32Array(5)), 5)
    balancer.setNodes([])
    t.is(balancer.trySelect(), undefined)
  })
}

test('bad options are refused', (t) => {
  for (const options of [
    { choices: 0 },
    { choices: 65 },
    { choices: 1.5 },
    { exact: 'yes' },
    { choice: 2 },
  ]) {
    t.throws(() => leastConnections(options as object), { instanceOf: OptionError })
  }
})
