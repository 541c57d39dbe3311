import test from 'ava'
import type { Algorithm } from '../../dist/index.js'
import {
  attachBalancer,
  createBalancer,
  leastConnections,
  NoNodesError,
  OptionError,
  random,
  type Weights,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { kept } from '../support/kept.js'
import { areUniform, countPicks, follow } from '../support/shares.js'

const nodes = ['a', 'b', 'c', 'd']
const weights = { a: 5, b: 1, c: 0, 'no member': 100 }
/** Of the nodes, in order: the last is not named. */
const shares = [5 / 7, 1 / 7, 0, 1 / 7]

for (const engine of engines) {
  const balancerOf = (algorithm: Algorithm, members: readonly string[] = nodes) =>
    createBalancer({ nodes: members, algorithm, poll: false, clock: new VirtualClock(), seed: 5, engine })
  const countsOf = (times: number, pick: () => string) => {
    const counts = countPicks(times, pick)
    return nodes.map((node) => counts.get(node) ?? 0)
  }

  test(`${engine}: random picks in proportion to the weights, among members and from arrays`, (t) => {
    const balancer = balancerOf(random({ weights }))
    t.deepEqual(
      balancer.snapshot().map(({ share }) => share),
      shares,
    )
    t.true(
      follow(
        countsOf(40_000, () => balancer.select()),
        shares,
      ),
    )
    t.true(
      follow(
        countsOf(40_000, () => balancer.select(nodes)),
        shares,
      ),
    )
    t.true(
      follow(
        countsOf(10_000, () => balancer.select([...nodes])),
        shares,
      ),
    )
    const without = [0, 1 / 2, 0, 1 / 2]
    t.true(
      follow(
        countsOf(10_000, () => balancer.select({ exclude: ['a'] })),
        without,
      ),
    )
    const into = new Uint32Array(40_000)
    balancer.fill(into)
    const counts = nodes.map((_, i) => into.filter((index) => index === i).length)
    t.true(follow(counts, shares))
  })

  test(`${engine}: nodes that nobody has heard of have their weights in arrays too`, (t) => {
    const balancer = balancerOf(random({ weights: { x: 3, y: 0 } }), [])
    const strangers = ['x', 'y', 'z']
    const counts = countPicks(8_000, () => balancer.select(strangers))
    t.true(
      follow(
        strangers.map((node) => counts.get(node) ?? 0),
        [3 / 4, 0, 1 / 4],
      ),
    )
    t.throws(() => balancer.select(['y']), { instanceOf: NoNodesError })
    t.is(balancer.trySelect(['y', 'y']), undefined)
  })

  for (const exact of [true, false]) {
    test(`${engine}: leastConnections${exact ? ', exact,' : ''} keeps requests in flight in proportion to the weights`, (t) => {
      const balancer = balancerOf(leastConnections({ exact, weights: { a: 6, b: 3, d: 1, c: 0 } }))
      for (let i = 0; i < 1_000; i++) balancer.acquire()
      const flights = balancer.snapshot().map(({ inFlight }) => inFlight)
      t.is(flights[2], 0)
      // By pairs it is the same in the long run, but for who is compared with whom last.
      const off = exact ? 1 : 40
      for (const [i, expected] of [600, 300, 0, 100].entries()) {
        t.true(Math.abs((flights[i] as number) - expected) <= off, `${flights}`)
      }
      t.deepEqual(
        balancer.snapshot().map(({ share }) => share),
        [0.6, 0.3, 0, 0.1],
      )
    })
  }

  test(`${engine}: leastConnections compares arrays by weight, ties by chance`, (t) => {
    const balancer = balancerOf(leastConnections({ exact: true, weights: { a: 2, c: 0 } }))
    const pick = () => balancer.select(nodes)
    // 1 / 2 against 1 and 1.
    t.is(pick(), 'a')
    balancer.acquire()
    // 2 / 2 against 1 and 1: a tie of three.
    const counts = countsOf(6_000, pick)
    t.is(counts[2], 0)
    t.true(areUniform(counts.filter((_, i) => i !== 2)))
    t.true(areUniform(countsOf(6_000, () => balancer.select([...nodes])).filter((_, i) => i !== 2)))
  })

  test(`${engine}: where all members weigh nothing there is none to pick`, (t) => {
    for (const algorithm of [
      random({ weights: { a: 0, b: 0 } }),
      leastConnections({ weights: { a: 0, b: 0 } }),
    ]) {
      const balancer = balancerOf(algorithm, ['a', 'b'])
      t.throws(() => balancer.select(), { instanceOf: NoNodesError })
      balancer.add('c')
      t.is(balancer.select(), 'c')
    }
  })

  test(`${engine}: ids that objects have anyway weigh what is said, and else 1`, (t) => {
    const members = ['__proto__', 'constructor', 'toString']
    const said = JSON.parse('{ "__proto__": 0, "constructor": 3 }')
    const balancer = balancerOf(random({ weights: said }), members)
    t.deepEqual(
      balancer.snapshot().map(({ share }) => share),
      [0, 0.75, 0.25],
    )
  })

  test(`${engine}: a handle carries the weights, and one with bad weights is refused`, async (t) => {
    const clock = new VirtualClock()
    const algorithm = random({ weights: { a: 1, b: 0 } })
    const balancer = createBalancer({ nodes: ['a', 'b'], algorithm, poll: false, clock, engine })
    const { table, closed, ...rest } = balancer.handle()
    const handle = { ...structuredClone(rest), table, closed }
    const attached = attachBalancer(handle, { clock, seed: 1 })
    for (let i = 0; i < 50; i++) t.is(attached.select(), 'a')
    attached.close()
    const bad = [null, 5, 'a', [1], { a: -1 }, { a: Number.NaN }, { a: '1' }, { a: 1e13 }, { a: undefined }]
    for (const weights of bad) {
      for (const wrong of [
        { kind: 'random', weights },
        { kind: 'leastConnections', choices: 2, exact: false, weights },
      ]) {
        t.throws(
          () => attachBalancer({ ...handle, algorithm: wrong as never }, { clock }),
          { instanceOf: OptionError, message: /handle\(\)/ },
          JSON.stringify(wrong),
        )
      }
    }
    await balancer.close()
  })
}

test('weights are copied, frozen and fit to be posted', (t) => {
  const given: Record<string, number> = { a: 1 }
  const algorithm = random({ weights: given })
  given.a = 7
  t.deepEqual({ ...algorithm.weights }, { a: 1 })
  t.true(Object.isFrozen(algorithm) && Object.isFrozen(algorithm.weights))
  t.deepEqual(structuredClone(algorithm), { kind: 'random', weights: { a: 1 } })
  t.deepEqual(random(), { kind: 'random' })
  t.deepEqual(leastConnections(), { kind: 'leastConnections', choices: 2, exact: false })
})

for (const [make, name] of [
  [random, 'random'],
  [leastConnections, 'leastConnections'],
] as const) {
  test(`${name}: bad weights are refused by the node's name`, (t) => {
    for (const weight of [-1, Number.NaN, Number.POSITIVE_INFINITY, 1e12 + 1, '1', null, undefined]) {
      const weights = { fine: 1, 'host:80': weight } as Weights
      const error = t.throws(() => make({ weights }), { instanceOf: OptionError })
      t.is(error.option, `${name}.weights.host:80`)
      t.is(error.value, kept(weight))
      t.regex(error.expected, /a number from 0 to 1000000000000/)
    }
    for (const weights of [null, 5, 'a', [1, 2], new Map([['a', 1]]), () => 1]) {
      const error = t.throws(() => make({ weights: weights as never }), { instanceOf: OptionError })
      t.is(error.option, `${name}.weights`)
      t.regex(error.expected, /weights by node id/)
    }
    t.throws(() => make({ weight: {} } as object), {
      instanceOf: OptionError,
      message: /nearest is "weights"/,
    })
  })
}
