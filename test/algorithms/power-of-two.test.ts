import test from 'ava'
import {
  createBalancer,
  createTable,
  NoNodesError,
  OptionError,
  type PowerOfTwoOptions,
  powerOfTwo,
  type Report,
  TableError,
  UnknownLoadError,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { areUniform, countPicks } from '../support/shares.js'

const names = (size: number) => Array.from({ length: size }, (_, i) => `n${i}`)

for (const engine of engines) {
  const setUp = (nodes: readonly string[], options: Partial<PowerOfTwoOptions> = {}, seed = 1) => {
    const clock = new VirtualClock(1_000)
    const algorithm = powerOfTwo({ metric: 'cpu', ttl: 1_000, ...options })
    const balancer = createBalancer({ nodes, algorithm, poll: false, clock, seed, engine })
    return { balancer, clock }
  }
  /** A balancer whose nodes have said as much; undefined: nothing. */
  const knowing = (
    loads: readonly (number | undefined)[],
    options?: Partial<PowerOfTwoOptions>,
    seed = 1,
  ) => {
    const all = setUp(names(loads.length), options, seed)
    for (const [i, cpu] of loads.entries()) if (cpu !== undefined) all.balancer.report(`n${i}`, { cpu })
    return all
  }
  const half = 0.5

  test(`${engine}: the lower value wins, and the higher of two is never picked`, (t) => {
    const { balancer } = knowing([60, 40])
    for (let i = 0; i < 200; i++) t.is(balancer.select(), 'n1')
    balancer.report('n0', { cpu: 39.9 })
    for (let i = 0; i < 200; i++) t.is(balancer.select(), 'n0')
  })

  test(`${engine}: a tie is broken at random`, (t) => {
    for (const size of [2, 3, 7]) {
      const { balancer } = knowing(names(size).map(() => 30))
      t.true(areUniform([...countPicks(20_000, () => balancer.select()).values()]))
    }
  })

  test(`${engine}: a node with no value loses to any that is known, however bad`, (t) => {
    const { balancer } = knowing([undefined, 100])
    for (let i = 0; i < 200; i++) t.is(balancer.select(), 'n1')
  })

  test(`${engine}: one node is returned without a look-up, also where to know nothing is to fail`, (t) => {
    const { balancer } = setUp(['only'], { unknown: 'fail' })
    t.is(balancer.select(), 'only')
    t.is(balancer.select(['only']), 'only')
    t.is(balancer.snapshot()[0]?.share, 1)
  })

  test(`${engine}: every unordered pair is compared as often, of 2 to 64 nodes`, (t) => {
    for (let size = 2; size <= 64; size++) {
      const pairs = (size * (size - 1)) / 2
      const draws = new Uint32Array(pairs * 40)
      // The same draws of a pair, once with the values in order and once the other way round: who wins is the first of
      // the pair there, and the second here. No two are equal, so that no number goes to ties.
      const [firsts, seconds] = [(i: number) => i, (i: number) => size - i].map((cpu) => {
        const { balancer } = knowing(
          names(size).map((_, i) => cpu(i)),
          {},
          3,
        )
        t.is(balancer.fill(draws), draws.length)
        return draws.slice()
      }) as [Uint32Array, Uint32Array]
      const counts = new Map<number, number>()
      for (const [i, first] of firsts.entries()) {
        const second = seconds[i] as number
        if (first >= second) t.fail(`${first} and ${second} are no pair`)
        const pair = first * size + second
        counts.set(pair, (counts.get(pair) ?? 0) + 1)
      }
      const all = [...counts.values()]
      t.true(areUniform([...all, ...new Array(pairs - all.length).fill(0)]), `${size} nodes`)
    }
  })

  test(`${engine}: shares are what picks come to, ties, unknown nodes and other picks included`, (t) => {
    for (const options of [
      {},
      { choices: 3 },
      { choices: 64 },
      { choiceRate: 0.4 },
      { choiceRate: 0.25, otherwise: 'worker' as const },
    ]) {
      const loads = [50, 20, undefined, 20, 70, undefined]
      const { balancer } = knowing(loads, options, 5)
      const shares = balancer.snapshot().map(({ share }) => share)
      t.true(Math.abs(shares.reduce((sum, share) => sum + share, 0) - 1) < 1e-12)
      const picks = 40_000
      const counts = countPicks(picks, () => balancer.selectIndex())
      for (const [i, share] of shares.entries()) {
        // Five standard deviations of a binomial.
        const off = Math.abs((counts.get(i) ?? 0) - picks * share)
        t.true(off <= 5 * Math.sqrt(picks * share * (1 - share)), `${JSON.stringify(options)} ${i}: ${share}`)
      }
    }
  })

  test(`${engine}: where nothing is known of a pair it is one of the two by chance`, (t) => {
    const { balancer } = setUp(names(4))
    t.true(areUniform([...countPicks(20_000, () => balancer.select()).values()]))
    t.is(balancer.stats().picks.unknown, 0)
  })

  test(`${engine}: or an error that names one of them, and each is counted`, (t) => {
    const { balancer } = knowing([10, undefined, undefined], { unknown: 'fail' })
    const named = new Set<string>()
    let failed = 0
    let picked = 0
    for (let i = 0; i < 600; i++) {
      try {
        t.is(balancer.select(), 'n0')
        picked++
      } catch (error) {
        if (!(error instanceof UnknownLoadError)) throw error
        t.is(error.code, 'IDLEST_UNKNOWN_LOAD')
        t.is(error.value, error.node)
        t.true(error.message.includes(`"${error.node}"`))
        named.add(error.node)
        failed++
      }
    }
    // One pair of three is of nodes that are not known.
    t.true(Math.abs(failed - 200) < 60, `${failed}`)
    t.deepEqual([...named].sort(), ['n1', 'n2'])
    const { picks } = balancer.stats()
    t.deepEqual([picks.picks, picks.unknown, picks.empty], [picked, failed, 0])
    t.is(balancer.snapshot()[0]?.picks, picked)
    t.deepEqual(
      balancer.snapshot().map(({ share, inBand }) => [Math.round(share * 3), inBand]),
      [
        [2, true],
        [0, false],
        [0, false],
      ],
    )
  })

  test(`${engine}: every kind of pick fails so`, async (t) => {
    const { balancer } = setUp(['a', 'b', 'c'], { unknown: 'fail' })
    const fails = { instanceOf: UnknownLoadError }
    t.throws(() => balancer.select(), fails)
    t.throws(() => balancer.selectIndex(), fails)
    t.throws(() => balancer.select({ exclude: ['c'] }), fails)
    t.throws(() => balancer.acquire(), fails)
    await t.throwsAsync(
      balancer.run(() => 1),
      fails,
    )
    t.is(balancer.trySelect(), undefined)
    t.is(balancer.trySelect(['a', 'x']), undefined)
    const nodes = ['x', 'y']
    for (let i = 0; i < 3; i++) t.regex(t.throws(() => balancer.select(nodes), fails)?.node ?? '', /^[xy]$/)
    t.regex(t.throws(() => balancer.select([{ id: 'o' }, { id: 'p' }]), fails)?.node ?? '', /^[op]$/)
    t.deepEqual([balancer.stats().picks.unknown, balancer.stats().picks.picks], [11, 0])
    t.is(balancer.stats().leases.acquired, 0)
    balancer.setNodes([])
    t.throws(() => balancer.select(), { instanceOf: NoNodesError })
  })

  test(`${engine}: a fill with such draws throws, and still says what the others were`, (t) => {
    const options = { unknown: 'fail' } as const
    const { balancer } = knowing([10, undefined, undefined], options)
    const { balancer: same } = knowing([10, undefined, undefined], options)
    const into = new Uint32Array(90)
    const error = t.throws(() => balancer.fill(into), { instanceOf: UnknownLoadError })
    let first: string | undefined
    const one = () => {
      try {
        return same.selectIndex()
      } catch (error) {
        first ??= (error as UnknownLoadError).node
        return 0xffffffff
      }
    }
    t.deepEqual([...into], Array.from(into, one))
    t.is(first, error?.node)
    const { picks, unknown } = balancer.stats().picks
    t.deepEqual(
      [picks, unknown],
      [into.filter((it) => it === 0).length, into.filter((it) => it !== 0).length],
    )
    t.true(picks > 0 && unknown > 0)
    const shared = new Uint32Array(new SharedArrayBuffer(40))
    t.throws(() => balancer.fill(shared), { instanceOf: UnknownLoadError })
    t.true(shared.every((index) => index === 0 || index === 0xffffffff))
  })

  test(`${engine}: as many picks compare as choiceRate says; 0 and 1 are exact`, (t) => {
    for (const choiceRate of [0, 0.3, 1]) {
      const { balancer } = knowing([90, 10], { choiceRate })
      const picks = 20_000
      const busy = countPicks(picks, () => balancer.select()).get('n0') ?? 0
      const chance = (1 - choiceRate) / 2
      if (choiceRate === 1) t.is(busy, 0)
      else t.true(Math.abs(busy - picks * chance) < 5 * Math.sqrt(picks * chance * (1 - chance)), `${busy}`)
    }
    // Never, however bad it is: as random.
    const { balancer } = knowing([90, 10, undefined], { choiceRate: 0, unknown: 'fail' })
    t.true(areUniform([...countPicks(20_000, () => balancer.select()).values()]))
  })

  test(`${engine}: whether a pick compares says nothing of which it compares`, (t) => {
    const size = 6
    const { balancer } = knowing(
      names(size).map((_, i) => i),
      { choiceRate: half, otherwise: 'worker' },
      8,
    )
    const { balancer: other } = knowing(
      names(size).map((_, i) => size - i),
      { choiceRate: half, otherwise: 'worker' },
      8,
    )
    // This thread's own node is n0: both give that where they do not compare, and else the two of a pair.
    const counts = new Map<number, number>()
    let compared = 0
    const picks = 30_000
    for (let i = 0; i < picks; i++) {
      const [first, second] = [balancer.selectIndex(), other.selectIndex()]
      if (first === second) continue
      compared++
      counts.set(first * size + second, (counts.get(first * size + second) ?? 0) + 1)
    }
    t.true(Math.abs(compared - picks * half) < 5 * Math.sqrt(picks) * half, `${compared}`)
    t.is(counts.size, 15)
    t.true(areUniform([...counts.values()]))
  })

  test(`${engine}: by another metric, each with the time of its own sample`, (t) => {
    const { balancer, clock } = setUp(['a', 'b'], { metric: 'latency' })
    const tell = (node: string, report: Report) => t.true(balancer.report(node, report))
    tell('a', { cpu: 1, latency: 20 })
    tell('b', { cpu: 99, latency: 10 })
    for (let i = 0; i < 50; i++) t.is(balancer.select(), 'b')
    clock.jump(600)
    tell('a', { latency: 30 })
    // Another report of b's does not make its latency young again.
    tell('b', { cpu: 5 })
    clock.jump(400)
    t.is(balancer.select(), 'b')
    const before = balancer.snapshot()
    t.deepEqual(
      before.map(({ effective, age, fresh, cpu }) => [effective, age, fresh, cpu]),
      [
        [30, 400, true, 1],
        [10, 1_000, true, 5],
      ],
    )
    clock.jump(1)
    for (let i = 0; i < 50; i++) t.is(balancer.select(), 'a')
    const [, b] = balancer.snapshot()
    t.deepEqual([b?.effective, b?.age, b?.fresh, b?.share, b?.inBand], [undefined, 1_001, false, 0, false])
  })

  test(`${engine}: two metrics of the user's own are compared apart, by two balancers over one table`, (t) => {
    const table = createTable({ clock: new VirtualClock() })
    const nodes = ['a', 'b']
    const by = (metric: string) =>
      createBalancer({ nodes, table, algorithm: powerOfTwo({ metric }), poll: false, engine, seed: 1 })
    const askers = by('askers')
    const answerers = by('answerers')
    askers.report('a', { named: { askers: 5, answerers: -2.5 } })
    answerers.report('b', { named: { askers: 4, answerers: 100, others: 1 } })
    for (let i = 0; i < 50; i++) t.deepEqual([askers.select(), answerers.select()], ['b', 'a'])
    t.deepEqual(
      answerers.snapshot().map(({ effective }) => effective),
      [-2.5, 100],
    )
    // Values below zero are as good as others, also among the nodes of an array.
    for (const list of [nodes, ['b', 'unknown', 'a']]) {
      const counts = countPicks(500, () => answerers.select(list))
      t.true((counts.get('a') ?? 0) > (counts.get('b') ?? 0))
    }
    by('third')
    by('fourth')
    by('askers')
    const error = t.throws(() => by('fifth'), { instanceOf: TableError })
    t.is(error?.value, 'fifth')
  })

  test(`${engine}: in flight is what the node says or what is counted here, whichever is more`, (t) => {
    const { balancer, clock } = setUp(['a', 'b'], { metric: 'inFlight', unknown: 'fail' })
    const shown = () => balancer.snapshot().map(({ effective }) => effective)
    // Without a report it is the own count, so that nothing is unknown.
    const lease = balancer.acquire({ exclude: ['b'] })
    for (let i = 0; i < 50; i++) t.is(balancer.select(), 'b')
    t.deepEqual(shown(), [1, 0])
    balancer.report('b', { inFlight: 3 })
    for (let i = 0; i < 50; i++) t.is(balancer.select(), 'a')
    for (let i = 0; i < 3; i++) balancer.acquire({ exclude: ['b'] })
    t.deepEqual(shown(), [4, 3])
    t.is(balancer.select(), 'b')
    lease.release()
    t.is(countPicks(200, () => balancer.select()).size, 2)
    clock.jump(1_001)
    t.deepEqual(shown(), [3, 0])
    for (let i = 0; i < 50; i++) t.is(balancer.select(), 'b')
    t.deepEqual(
      balancer.snapshot().map(({ share }) => share),
      [half, half],
    )
  })

  test(`${engine}: an array is compared by the same values, and who is not known in it loses`, (t) => {
    const { balancer } = knowing([50, 20, 80])
    const nodes = ['n0', 'stranger', 'n2']
    const counts = countPicks(3_000, () => balancer.select(nodes))
    // Of three pairs n0 wins two, and n2 the one with the stranger.
    t.deepEqual([...counts.keys()].sort(), ['n0', 'n2'])
    t.true(Math.abs((counts.get('n0') ?? 0) - 2_000) < 130)
    for (let i = 0; i < 50; i++) t.is(balancer.select(['n0', 'n1']), 'n1')
    for (let i = 0; i < 50; i++) t.is(balancer.select([{ id: 'n2' }, { id: 'n0' }]).id, 'n0')
    const strangers = ['x', 'y', 'z']
    t.true(areUniform([...countPicks(6_000, () => balancer.select(strangers)).values()]))
    const own = setUp(['a', 'b'], { metric: 'inFlight' }).balancer
    own.acquire({ exclude: ['b'] })
    for (let i = 0; i < 50; i++) t.is(own.select(['a', 'late']), 'late')
  })

  test(`${engine}: who is excluded or drains is not compared`, async (t) => {
    const { balancer } = knowing([10, 20, 30])
    for (let i = 0; i < 50; i++) t.is(balancer.select({ exclude: ['n0'] }), 'n1')
    t.is(balancer.select({ exclude: ['n0', 'n1'] }), 'n2')
    t.is(balancer.trySelect({ exclude: ['n0', 'n1', 'n2'] }), undefined)
    await balancer.drain('n0')
    for (let i = 0; i < 50; i++) t.is(balancer.select(), 'n1')
    t.deepEqual(
      balancer.snapshot().map(({ share }) => share),
      [0, 1, 0],
    )
  })
}

const right = { metric: 'cpu' }

for (const [options, option] of [
  [{}, 'powerOfTwo.metric'],
  [{ metric: '' }, 'powerOfTwo.metric'],
  [{ metric: 5 }, 'powerOfTwo.metric'],
  [{ metric: 'm'.repeat(1_025) }, 'powerOfTwo.metric'],
  [{ ...right, choices: 1 }, 'powerOfTwo.choices'],
  [{ ...right, choices: 65 }, 'powerOfTwo.choices'],
  [{ ...right, choices: 2.5 }, 'powerOfTwo.choices'],
  [{ ...right, choiceRate: -0.1 }, 'powerOfTwo.choiceRate'],
  [{ ...right, choiceRate: 1.1 }, 'powerOfTwo.choiceRate'],
  [{ ...right, choiceRate: Number.NaN }, 'powerOfTwo.choiceRate'],
  [{ ...right, otherwise: 'least' }, 'powerOfTwo.otherwise'],
  [{ ...right, unknown: 'throw' }, 'powerOfTwo.unknown'],
  [{ ...right, ttl: -1 }, 'powerOfTwo.ttl'],
  [{ ...right, ttl: Number.NaN }, 'powerOfTwo.ttl'],
  [{ ...right, choice: 2 }, 'powerOfTwo.choice'],
  [undefined, 'powerOfTwo'],
] as const) {
  const given = JSON.stringify(options)?.slice(0, 60)
  test(`${given}: ${option} is refused`, (t) => {
    const error = t.throws(() => powerOfTwo(options as never), { instanceOf: OptionError })
    t.is(error?.option, option)
  })
}

test('defaults', (t) => {
  t.deepEqual(powerOfTwo(right), {
    kind: 'powerOfTwo',
    metric: 'cpu',
    choices: 2,
    choiceRate: 1,
    otherwise: 'random',
    unknown: 'random',
    ttl: 10_000,
  })
})
