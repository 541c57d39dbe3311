import { setTimeout } from 'node:timers/promises'
import test from 'ava'
import fc from 'fast-check'
import {
  BadNodeError,
  BadReportError,
  type Balancer,
  ClosedError,
  createBalancer,
  DuplicateNodeError,
  leastCpu,
  NoNodesError,
  OptionError,
  random,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { areUniform, countPicks } from '../support/shares.js'

const quiet = { poll: false } as const

for (const engine of engines) {
  const own = () => ({ ...quiet, clock: new VirtualClock(), seed: 1, engine })

  test(`${engine}: a report is visible to the very next pick`, (t) => {
    const balancer = createBalancer({ nodes: ['a', 'b'], algorithm: leastCpu(), ...own() })
    balancer.report('a', { cpu: 10 })
    balancer.report('b', { cpu: 90 })
    t.is(balancer.select(), 'a')
    balancer.report('a', { cpu: 95 })
    balancer.report('b', { cpu: 20 })
    t.is(balancer.select(), 'b')
  })

  test(`${engine}: every way to pick is right as the first one after a change of members`, (t) => {
    const ways: ((balancer: Balancer<string>) => string | undefined)[] = [
      (balancer) => balancer.select(),
      (balancer) => balancer.trySelect(),
      (balancer) => balancer.select({ exclude: ['z'] }),
      (balancer) => balancer.trySelect({ exclude: [] }),
      (balancer) => balancer.acquire().node,
      (balancer) => balancer.acquire({ exclude: ['z'] }).node,
      (balancer) => balancer.nodes[balancer.selectIndex()],
      (balancer) => balancer.select(balancer.nodes),
    ]
    for (const pick of ways) {
      const balancer = createBalancer({ nodes: ['a'], ...own() })
      t.is(pick(balancer), 'a')
      balancer.setNodes(['b'])
      t.is(pick(balancer), 'b')
    }
  })

  test(`${engine}: with a real clock too, picks from a block stop at the next report`, (t) => {
    const balancer = createBalancer({ nodes: ['x1', 'x2'], algorithm: leastCpu(), ...quiet, engine, seed: 4 })
    for (let round = 0; round < 50; round++) {
      balancer.report('x1', { cpu: round % 2 === 0 ? 0 : 50 })
      balancer.report('x2', { cpu: 25 })
      for (let i = 0; i < round * 7; i++) t.is(balancer.select(), round % 2 === 0 ? 'x1' : 'x2')
    }
  })

  test(`${engine}: one report between picks takes nothing from the sequence`, (t) => {
    const clock = new VirtualClock()
    const through = (interrupt: boolean, real: boolean) => {
      const nodes = ['p', 'q', 'r', 's', 't']
      const balancer = createBalancer({
        nodes: nodes.map((id) => `${id}${engine}${interrupt}`),
        algorithm: leastCpu(),
        ...quiet,
        engine,
        seed: 99,
        ...(real ? {} : { clock }),
      })
      const picks: number[] = []
      for (let i = 0; i < 3_000; i++) {
        // Reports of a node that change nothing: the band is all five either way.
        if (interrupt && i % 17 === 0) balancer.report(balancer.nodes[0] as string, { cpu: 50 })
        picks.push(balancer.selectIndex())
      }
      return picks
    }
    const plain = through(false, false)
    t.deepEqual(through(true, false), plain)
    t.deepEqual(through(true, true), plain)
    t.deepEqual(through(false, true), plain)
  })

  test(`${engine}: fill gives what as many selectIndex calls would give, in any mixture`, (t) => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.integer({ min: 0, max: 1500 }), fc.constant(-1)), { maxLength: 30 }),
        (sizes) => {
          const options = () => ({ nodes: ['a', 'b', 'c'], algorithm: random(), ...own(), seed: 5 })
          const mixed = createBalancer(options())
          const single = createBalancer(options())
          for (const size of sizes) {
            if (size < 0) t.is(mixed.selectIndex(), single.selectIndex())
            else {
              const into = new Uint32Array(size)
              t.is(mixed.fill(into), size)
              t.deepEqual(
                [...into],
                Array.from(into, () => single.selectIndex()),
              )
            }
          }
        },
      ),
      { numRuns: 40 },
    )
  })

  test(`${engine}: fill also fills shared memory`, (t) => {
    const balancer = createBalancer({ nodes: ['a', 'b'], algorithm: random(), ...own() })
    const into = new Uint32Array(new SharedArrayBuffer(4 * 1_000))
    t.is(balancer.fill(into), 1_000)
    t.true(
      areUniform([into.filter((index) => index === 0).length, into.filter((index) => index === 1).length]),
    )
  })

  test(`${engine}: excluded nodes are not picked, and the band is that of the others`, (t) => {
    const balancer = createBalancer({ nodes: ['a', 'b', 'c', 'd'], algorithm: leastCpu(), ...own() })
    for (const [i, node] of balancer.nodes.entries()) balancer.report(node, { cpu: i * 4 })
    t.deepEqual([...countPicks(500, () => balancer.select()).keys()].sort(), ['a', 'b'])
    const others = countPicks(10_000, () => balancer.select({ exclude: ['a', 'unknown'] }))
    t.deepEqual([...others.keys()].sort(), ['b', 'c'])
    t.true(areUniform([...others.values()]))
    t.is(balancer.select({ exclude: ['a', 'b', 'c'] }), 'd')
    t.throws(() => balancer.select({ exclude: ['a', 'b', 'c', 'd'] }), { instanceOf: NoNodesError })
    t.is(balancer.trySelect({ exclude: balancer.nodes }), undefined)
  })

  test(`${engine}: the same seed, clock and calls give the same picks; another seed others`, (t) => {
    const sequence = (seed: number) => {
      const balancer = createBalancer({ nodes: ['a', 'b', 'c', 'd'], ...own(), seed })
      const fresh = () => ['a', 'c', 'd', 'e']
      const fixed = fresh()
      return Array.from({ length: 200 }, () => [
        balancer.select(),
        balancer.select(fixed),
        balancer.select(fresh()),
        balancer.select({ exclude: ['a'] }),
      ]).flat()
    }
    t.deepEqual(sequence(12), sequence(12))
    t.notDeepEqual(sequence(12), sequence(13))
    t.notDeepEqual(sequence(12), sequence(12 + 2 ** 32))
  })

  test(`${engine}: a reading stops to count once its age is over the ttl, at the pick`, (t) => {
    const clock = new VirtualClock()
    const balancer = createBalancer({
      nodes: ['a', 'b'],
      ...own(),
      clock,
      algorithm: leastCpu({ ttl: 1_000, missing: 50 }),
    })
    balancer.report('a', { cpu: 10 })
    balancer.report('b', { cpu: 20, age: 400 })
    t.is(balancer.select(), 'a')
    clock.jump(600)
    balancer.report('a', { cpu: 90, age: 0 })
    t.is(balancer.select(), 'b')
    // b is as old as the ttl: still fresh.
    t.true(balancer.snapshot()[1]?.fresh)
    clock.jump(1)
    // Now it counts as 50, which is still less than 90.
    t.false(balancer.snapshot()[1]?.fresh)
    t.is(balancer.select(), 'b')
    clock.jump(1_000)
    t.is(countPicks(200, () => balancer.select()).size, 2)
  })

  test(`${engine}: a reading expires by timer while picks come from a block, with the process's clock`, async (t) => {
    const balancer = createBalancer({
      nodes: [`${engine}-old`, `${engine}-other`],
      ...quiet,
      engine,
      algorithm: leastCpu({ ttl: 50, missing: 50 }),
    })
    // Again where so much time passed between the two that it has expired.
    do balancer.report(`${engine}-old`, { cpu: 0 })
    while (countPicks(200, () => balancer.select()).size > 1)
    while (countPicks(64, () => balancer.select()).size === 1) await setTimeout(5)
    t.false(balancer.snapshot()[0]?.fresh)
    await balancer.close()
  })

  test(`${engine}: members that come and go keep what they have, and picks follow`, (t) => {
    const balancer = createBalancer({ nodes: ['a', 'b'], algorithm: leastCpu(), ...own() })
    balancer.report('a', { cpu: 80 })
    balancer.report('b', { cpu: 10 })
    const before = balancer.nodes
    balancer.setNodes(['c', 'b', 'a'])
    t.not(balancer.nodes, before)
    t.deepEqual(before, ['a', 'b'])
    t.true(Object.isFrozen(balancer.nodes))
    t.deepEqual(
      balancer.snapshot().map(({ id, cpu }) => [id, cpu]),
      [
        ['c', undefined],
        ['b', 10],
        ['a', 80],
      ],
    )
    t.is(balancer.select(), 'b')
    t.true(balancer.remove('b'))
    t.false(balancer.remove('b'))
    t.is(balancer.select(), 'c')
    t.true(balancer.add('b'))
    t.false(balancer.add('b'))
    t.is(balancer.snapshot().find(({ id }) => id === 'b')?.cpu, undefined)
  })

  test(`${engine}: one member is picked whatever it reads; none throws`, (t) => {
    const balancer = createBalancer({ nodes: ['a'], ...own(), algorithm: leastCpu({ missing: 'exclude' }) })
    t.is(balancer.select(), 'a')
    balancer.report('a', { cpu: 100 })
    t.is(balancer.select(), 'a')
    balancer.remove('a')
    t.throws(() => balancer.select(), { instanceOf: NoNodesError, code: 'IDLEST_NO_NODES' })
    t.throws(() => balancer.acquire(), { instanceOf: NoNodesError })
    t.is(balancer.trySelect(), undefined)
    t.is(balancer.selectIndex(), -1)
    t.is(balancer.fill(new Uint32Array(3)), 0)
    t.is(balancer.stats().picks.empty, 5)
  })

  test(`${engine}: a draining node is not picked, neither among members nor from an array`, async (t) => {
    const balancer = createBalancer({ nodes: ['a', 'b'], algorithm: leastCpu(), ...own() })
    balancer.report('a', { cpu: 1 })
    balancer.report('b', { cpu: 99 })
    const nodes = ['a', 'b']
    t.is(balancer.select(nodes), 'a')
    t.is(balancer.select(nodes), 'a')
    await balancer.drain('a')
    t.is(balancer.select(), 'b')
    t.is(balancer.select(nodes), 'b')
    t.is(balancer.select([...nodes]), 'b')
    t.true(balancer.add('a'))
    t.is(balancer.select(nodes), 'a')
  })
}

test('objects with an id are returned as they were passed', (t) => {
  const a = { id: 'a', port: 1 }
  const b = { id: 'b', port: 2 }
  const balancer = createBalancer({
    nodes: [a, b],
    algorithm: leastCpu(),
    clock: new VirtualClock(),
    ...quiet,
  })
  balancer.report('a', { cpu: 90 })
  balancer.report(b, { cpu: 10 })
  t.is(balancer.select(), b)
  const twin = { id: 'b' }
  t.is(balancer.select([a, twin]), twin)
})

test('picks are counted per node, also those of the block in use', (t) => {
  const balancer = createBalancer({
    nodes: ['a', 'b'],
    ...quiet,
    algorithm: random(),
    clock: new VirtualClock(),
  })
  const counts = countPicks(1_234, () => balancer.select())
  balancer.fill(new Uint32Array(100))
  const snapshot = balancer.snapshot()
  t.is(
    snapshot.reduce((sum, node) => sum + node.picks, 0),
    1_334,
  )
  t.true((snapshot[0]?.picks ?? 0) >= (counts.get('a') ?? 0))
  t.is(balancer.stats().picks.picks, 1_334)
})

test('a bad node is refused with its value and why', (t) => {
  for (const bad of ['', 'x'.repeat(1_000_000), 'a\0b', 7, null, undefined, {}, { id: 7 }, [], Symbol('s')]) {
    const nodes = ['ok', bad as string]
    const error = t.throws(() => createBalancer({ nodes, ...quiet }), { instanceOf: BadNodeError })
    t.is(error?.code, 'IDLEST_BAD_NODE')
    t.true((error?.message.length ?? 0) < 300)
  }
  t.throws(() => createBalancer({ nodes: ['a', 'b', 'a'], ...quiet }), { instanceOf: DuplicateNodeError })
  const balancer = createBalancer({ nodes: ['a'], ...quiet, clock: new VirtualClock() })
  t.throws(() => balancer.setNodes(['b', 'b']), { instanceOf: DuplicateNodeError })
  t.throws(() => balancer.setNodes(['b', '']), { instanceOf: BadNodeError })
  t.throws(() => balancer.setNodes('b' as never), { instanceOf: OptionError })
  t.deepEqual(balancer.nodes, ['a'])
  t.throws(() => balancer.add(''), { instanceOf: BadNodeError })
})

test('bad options fail at construction and say what would be right', (t) => {
  const cases: [object, string, RegExp][] = [
    [{ nodez: [] }, 'nodez', /nearest is "nodes"/],
    [{ poll: { intervall: 1 } }, 'poll.intervall', /nearest is "interval"/],
    [{ poll: { interval: Number.NaN } }, 'poll.interval', /milliseconds/],
    [{ poll: { interval: -1 } }, 'poll.interval', /milliseconds/],
    [{ poll: { timeout: '2s' } }, 'poll.timeout', /milliseconds/],
    [{ poll: true }, 'poll', /false/],
    [{ poll: { workers: 0 } }, 'poll.workers', /whole number/],
    [{ engine: 'rust' }, 'engine', /"native"/],
    [{ seed: 1.5 }, 'seed', /whole number/],
    [{ seed: -1 }, 'seed', /whole number/],
    [{ algorithm: 'leastCpu' }, 'algorithm', /leastCpu\(\)/],
    [{ clock: {} }, 'clock', /now/],
    [{ table: {} }, 'table', /createTable/],
    [{ nodes: 'a' }, 'nodes', /array/],
    [{ name: '' }, 'name', /string/],
    [{ self: 'a', onSamplerError: 101 }, 'onSamplerError', /from 0 to 100/],
    [{ self: 'a', onSamplerError: 'old' }, 'onSamplerError', /stale/],
    [{ self: 'a', sampler: 5 }, 'sampler', /function/],
  ]
  for (const [options, option, expected] of cases) {
    const error = t.throws(
      () => createBalancer({ ...quiet, ...options }),
      { instanceOf: OptionError },
      option,
    )
    t.is(error?.code, 'IDLEST_BAD_OPTION')
    t.is(error?.option, option)
    t.regex(error?.message ?? '', expected)
  }
  for (const threshold of [-1, 101, Number.NaN, '5', null]) {
    t.throws(() => leastCpu({ threshold: threshold as number }), { instanceOf: OptionError })
  }
  t.throws(() => leastCpu({ ttl: -1 }), { instanceOf: OptionError })
  t.throws(() => leastCpu({ missing: 'none' as 'mean' }), { instanceOf: OptionError, message: /exclude/ })
  t.throws(() => leastCpu({ treshold: 5 } as object), { instanceOf: OptionError, message: /threshold/ })
})

test('what select is given is checked', (t) => {
  const balancer = createBalancer({ nodes: ['a'], ...quiet, clock: new VirtualClock() })
  t.throws(() => balancer.select('a' as never), { instanceOf: OptionError })
  t.throws(() => balancer.select({ exclude: 'a' } as never), { instanceOf: OptionError })
  t.throws(() => balancer.select(null as never), { instanceOf: OptionError })
  t.throws(() => balancer.select([]), { instanceOf: NoNodesError })
  t.throws(() => balancer.select(['']), { instanceOf: BadNodeError })
  t.throws(() => balancer.select([undefined as never]), { instanceOf: BadNodeError })
  t.throws(() => balancer.fill([] as never), { instanceOf: OptionError })
})

test('bad reports are refused, unknown nodes counted', (t) => {
  const balancer = createBalancer({ nodes: ['a'], ...quiet, clock: new VirtualClock() })
  for (const cpu of [Number.NaN, -1, '50', 1e308, Number.POSITIVE_INFINITY, null, 5n]) {
    t.throws(() => balancer.report('a', { cpu: cpu as number }), { instanceOf: BadReportError })
  }
  t.throws(() => balancer.report('a', 50 as never), { instanceOf: BadReportError })
  t.throws(() => balancer.report('a', { cpu: 1, age: -1 }), { instanceOf: BadReportError })
  t.true(balancer.report('a', { cpu: 250 }))
  t.is(balancer.snapshot()[0]?.cpu, 100)
  t.false(balancer.report('b', { cpu: 1 }))
  t.false(balancer.report({ id: 5 } as never, { cpu: 1 }))
  t.false(balancer.report('a', {}))
  t.false(balancer.report('a', { cpu: 1, age: 1_000 }))
  const { reportsStored, reportsUnknown, reportsEmpty, reportsOlder } = balancer.stats().picks
  t.deepEqual([reportsStored, reportsUnknown, reportsEmpty, reportsOlder], [1, 2, 1, 1])
})

test('a closed balancer picks no more; closing twice is once', async (t) => {
  const balancer = createBalancer({ nodes: ['a'], ...quiet })
  const lease = balancer.acquire()
  await balancer.close()
  await balancer.close()
  t.throws(() => balancer.select(), { instanceOf: ClosedError })
  t.throws(() => balancer.select(['a']), { instanceOf: ClosedError })
  t.throws(() => balancer.add('b'), { instanceOf: ClosedError })
  t.is(balancer.trySelect(), undefined)
  t.is(balancer.trySelect(['a']), undefined)
  t.false(balancer.report('a', { cpu: 1 }))
  t.deepEqual(balancer.nodes, [])
  t.deepEqual(balancer.snapshot(), [])
  t.notThrows(() => lease.release())
  t.is(balancer.stats().leases.releasedLate, 1)
})
