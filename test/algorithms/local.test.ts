import test from 'ava'
import {
  attachBalancer,
  configure,
  createBalancer,
  type LocalOptions,
  local,
  OptionError,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { areUniform, countPicks } from '../support/shares.js'

for (const engine of engines) {
  const balancerOf = (options: LocalOptions = {}) =>
    createBalancer({
      nodes: ['a', 'b', 'c'],
      self: 'me',
      algorithm: local(options),
      poll: false,
      clock: new VirtualClock(),
      seed: 2,
      engine,
    })
  type Made = ReturnType<typeof balancerOf>
  const picksOf = (balancer: Made, count = 50) => [...countPicks(count, () => balancer.select()).keys()]

  test(`${engine}: the local member is picked, in every way to pick`, (t) => {
    const balancer = balancerOf()
    t.deepEqual(picksOf(balancer), ['me'])
    t.is(balancer.select({ exclude: ['a'] }), 'me')
    t.is(balancer.acquire().node, 'me')
    const into = new Uint32Array(40)
    t.is(balancer.fill(into), 40)
    t.true(into.every((index) => index === 3))
    t.deepEqual(
      balancer.snapshot().map(({ share, inBand }) => [share, inBand]),
      [
        [0, false],
        [0, false],
        [0, false],
        [1, true],
      ],
    )
    t.is(balancer.snapshot()[3]?.picks, 50 + 1 + 1 + 40)
  })

  test(`${engine}: where it drains, is no member or is excluded, another is picked by chance`, async (t) => {
    const balancer = balancerOf()
    const others = ['a', 'b', 'c']
    const areOthers = (pick: () => string) => {
      const counts = countPicks(6_000, pick)
      t.deepEqual([...counts.keys()].sort(), others)
      t.true(areUniform([...counts.values()]))
    }
    areOthers(() => balancer.select({ exclude: ['me'] }))
    t.is(balancer.select(), 'me')
    await balancer.drain('me')
    areOthers(() => balancer.select())
    t.deepEqual(
      balancer.snapshot().map(({ share }) => share),
      [1 / 3, 1 / 3, 1 / 3, 0],
    )
    balancer.add('me')
    t.deepEqual(picksOf(balancer), ['me'])
    balancer.remove('me')
    areOthers(() => balancer.select())
    balancer.setNodes(['a'])
    t.deepEqual(picksOf(balancer), ['me'])
  })

  test(`${engine}: or in turn, and the turn stays where it is while the local member is picked`, async (t) => {
    const balancer = balancerOf({ otherwise: 'roundRobin' })
    const other = () => balancer.select({ exclude: ['me'] })
    const turn = [other(), other(), other()]
    t.deepEqual([...turn].sort(), ['a', 'b', 'c'])
    t.deepEqual(picksOf(balancer), ['me'])
    t.deepEqual([other(), other(), other()], turn)
    await balancer.drain('me')
    const order = Array.from({ length: 6 }, () => balancer.select())
    t.deepEqual(order.slice(0, 3), order.slice(3))
    // A report takes back what was drawn ahead.
    balancer.report('a', { cpu: 5 })
    t.deepEqual(
      Array.from({ length: 3 }, () => balancer.select()),
      order.slice(0, 3),
    )
  })

  test(`${engine}: an array that holds the local node gives it, any other by chance`, async (t) => {
    const balancer = balancerOf()
    const me = { id: 'me' }
    const nodes = [{ id: 'x' }, me, { id: 'y' }]
    for (let i = 0; i < 20; i++) {
      t.is(balancer.select(nodes), me)
      t.is(balancer.select([...nodes]), me)
    }
    const strangers = ['x', 'y']
    t.true(areUniform([...countPicks(2_000, () => balancer.select(strangers)).values()]))
    await balancer.drain('me')
    t.deepEqual([...countPicks(50, () => balancer.select(nodes).id).keys()].sort(), ['x', 'y'])
    t.is(balancer.trySelect(['me']), undefined)
  })

  test(`${engine}: an attached balancer knows which member is local`, (t) => {
    const clock = new VirtualClock()
    const balancer = createBalancer({
      nodes: ['a'],
      self: 'me',
      algorithm: local(),
      poll: false,
      clock,
      engine,
    })
    const handle = balancer.handle()
    const attached = attachBalancer(handle, { clock })
    for (let i = 0; i < 20; i++) t.is(attached.select(), 'me')
    t.is(attached.select({ exclude: ['me'] }), 'a')
    attached.close()
    t.throws(() => attachBalancer({ ...handle, self: undefined }, { clock }), { instanceOf: OptionError })
    const algorithm = { kind: 'local', otherwise: 'leastCpu' } as never
    t.throws(() => attachBalancer({ ...handle, algorithm }, { clock }), { instanceOf: OptionError })
  })

  test(`${engine}: without a local node it is refused`, async (t) => {
    const error = t.throws(() => createBalancer({ nodes: ['a'], algorithm: local(), poll: false, engine }), {
      instanceOf: OptionError,
    })
    t.is(error.option, 'self')
    t.regex(error.expected, /local\(\)/)
    await t.throwsAsync(configure({ algorithm: local(), engine }), {
      instanceOf: OptionError,
      message: /option algorithm .* local\(\)/,
    })
  })
}

test('bad options are refused', (t) => {
  t.deepEqual(local(), { kind: 'local', otherwise: 'random' })
  for (const options of [{ otherwise: 'leastCpu' }, { otherwise: null }, { other: 'random' }, 5]) {
    t.throws(() => local(options as never), { instanceOf: OptionError })
  }
})
