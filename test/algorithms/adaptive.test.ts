import test from 'ava'
import { Generator } from '../../dist/engine/portable/generator.js'
import { type AdaptiveOptions, adaptive, createBalancer, type Lease, OptionError } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { kept } from '../support/kept.js'
import { areUniform, countPicks } from '../support/shares.js'

for (const engine of engines) {
  const setUp = (nodes: readonly string[], options: AdaptiveOptions = {}) => {
    const clock = new VirtualClock(1_000)
    const algorithm = adaptive(options)
    // The algorithm alone: members that fail are not ejected.
    const balancer = createBalancer({ nodes, algorithm, health: false, poll: false, clock, seed: 5, engine })
    /** One request after another, each as slow as its node, until so many have ended. */
    const serve = (count: number, latencyOf: (node: string) => number, ok = (_: string) => true) => {
      const sent = new Map<string, number>()
      for (let i = 0; i < count; i++) {
        const lease = balancer.acquire()
        sent.set(lease.node, (sent.get(lease.node) ?? 0) + 1)
        lease.release({ ok: ok(lease.node), latency: latencyOf(lease.node) })
      }
      return sent
    }
    const costs = () => Object.fromEntries(balancer.snapshot().map(({ id, cost }) => [id, cost]))
    return { balancer, clock, serve, costs }
  }
  const named = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`)

  test(`${engine}: while nothing is known, requests in flight are evened out`, (t) => {
    for (const count of [1, 2, 5, 16]) {
      const { balancer } = setUp(named(count))
      const picked = countPicks(3 * count, () => balancer.acquire().node)
      t.deepEqual([...picked.values()], new Array(count).fill(3))
    }
  })

  test(`${engine}: equal nodes without anything in flight are picked by chance`, (t) => {
    const { balancer } = setUp(['a', 'b', 'c'])
    const picked = countPicks(3_000, () => {
      using lease = balancer.acquire()
      lease.release({ latency: 10 })
      return lease.node
    })
    t.true(areUniform([...picked.values()]))
    t.is(picked.size, 3)
  })

  test(`${engine}: nodes are picked, and evenly, when what was known of fast ones has faded to nothing`, async (t) => {
    for (const count of [2, 20]) {
      const nodes = named(count)
      const { balancer, clock, serve, costs } = setUp(nodes, { fading: 1 })
      serve(200, () => 0)
      // Sums of responses that took no time at all fade to nothing sooner than the sums of what there was to do.
      for (let i = 0; i < 200; i++) {
        await clock.advance(1_000)
        t.true(nodes.includes(balancer.select()))
        t.true(Object.values(costs()).every((cost) => (cost as number) > 0 && Number.isFinite(cost)))
      }
      const picked = countPicks(10 * count, () => balancer.select())
      t.true(picked.size >= 0.9 * count && Math.max(...picked.values()) <= 20, String([...picked]))
    }
  })

  test(`${engine}: a node that is slower by so much has so many fewer in flight`, (t) => {
    const { balancer, serve, costs } = setUp(['fast', 'slow'])
    for (const node of ['fast', 'slow']) {
      for (let i = 0; i < 300; i++) {
        const other = node === 'fast' ? 'slow' : 'fast'
        // Now and then at once: what a node never undercuts would be taken for distance.
        const mean = node === 'fast' ? 10 : 50
        balancer.acquire({ exclude: [other] }).release({ latency: i % 2 === 0 ? 0 : 2 * mean })
      }
    }
    t.is(serve(100, () => 10).get('fast'), 100)
    const { fast, slow } = costs()
    t.true(Math.abs((slow as number) / (fast as number) - 5) < 0.6, `${fast} ${slow}`)
    const inFlight = countPicks(120, () => balancer.acquire().node)
    t.true(Math.abs((inFlight.get('fast') as number) - 100) <= 3, String(inFlight.get('fast')))
  })

  test(`${engine}: latency is taken from the clock where it is not told`, (t) => {
    const { balancer, clock, costs } = setUp(['a'])
    for (let i = 0; i < 500; i++) {
      const lease = balancer.acquire()
      clock.jump(7)
      lease.release()
    }
    // The half is what each request takes of the process itself.
    t.true(Math.abs((costs().a as number) - 7.5) < 0.1)
  })

  test(`${engine}: nodes that answer sooner than the process asks are used alike`, (t) => {
    const nodes = named(4)
    const { balancer, clock } = setUp(nodes)
    const open = new Map(nodes.map((node): [string, Lease[]] => [node, []]))
    const send = () => {
      const lease = balancer.acquire()
      open.get(lease.node)?.push(lease)
    }
    for (let i = 0; i < 64; i++) send()
    // All that a node has to do is answered at once, and then it is the process that takes its time for each.
    const generator = new Generator([1, 2])
    for (let turn = 0; turn < 4_000; turn++) {
      const node = nodes[generator.below(nodes.length)] as string
      for (const lease of open.get(node)?.splice(0) ?? []) {
        clock.jump(0.03)
        lease.release()
        send()
      }
    }
    const picks = balancer.snapshot().map((node) => node.picks)
    const most = (Math.max(...picks) * nodes.length) / picks.reduce((sum, count) => sum + count)
    t.true(most < 1.1, picks.join(' '))
  })

  test(`${engine}: a node that fails fast gets little, and another try later`, (t) => {
    const { balancer, clock, serve } = setUp(['good', 'bad'], { errorCost: 10 })
    serve(200, () => 10)
    const failing = (node: string) => node !== 'bad'
    const first = serve(200, (node) => (node === 'bad' ? 1 : 10), failing)
    t.true((first.get('bad') ?? 0) <= 2, String(first.get('bad')))
    const during = countPicks(22, () => balancer.acquire().node)
    t.true((during.get('bad') ?? 0) <= 6, String(during.get('bad')))
    clock.jump(60_000)
    // As many again: what it is behind by is made up for.
    const later = countPicks(22, () => balancer.acquire().node)
    t.true((later.get('bad') ?? 0) >= 8, String(later.get('bad')))
  })

  test(`${engine}: without errorCost errors do not count`, (t) => {
    const { serve } = setUp(['good', 'bad'], { errorCost: 0 })
    serve(200, () => 10)
    const picked = serve(
      400,
      () => 10,
      (node) => node !== 'bad',
    )
    t.true((picked.get('bad') ?? 0) > 100)
  })

  test(`${engine}: a new node counts as the mean of the others, and is not flooded`, (t) => {
    const { balancer, serve, costs } = setUp(['a', 'b', 'c'])
    serve(300, () => 20)
    balancer.add('new')
    t.true(Math.abs((costs().new as number) - 20) < 2)
    const picked = countPicks(40, () => balancer.acquire().node)
    t.true((picked.get('new') ?? 0) >= 8 && (picked.get('new') ?? 0) <= 12)
  })

  test(`${engine}: a node that left and came back is a new one; those that stay are known on`, (t) => {
    const { balancer, serve, costs } = setUp(['a', 'b'])
    serve(400, (node) => (node === 'a' ? 10 : 80))
    const before = costs()
    balancer.add('c')
    t.is(costs().a, before.a)
    balancer.remove('b')
    balancer.add('b')
    const after = costs()
    t.true((after.b as number) < (before.b as number))
    t.is(after.b, after.c)
  })

  test(`${engine}: what is known of a node fades, and what is known of all stays`, (t) => {
    const { balancer, clock, serve, costs } = setUp(['a', 'b'], { fading: 1_000 })
    for (let i = 0; i < 50; i++) balancer.acquire({ exclude: ['a'] }).release({ latency: 100 })
    serve(200, (node) => (node === 'a' ? 10 : 100))
    const ratio = () => (costs().b as number) / (costs().a as number)
    t.true(ratio() > 3)
    for (let i = 0; i < 200; i++) {
      clock.jump(1_000)
      balancer.snapshot()
    }
    t.true(ratio() < 1.01)
  })

  test(`${engine}: picks without leases go by spare CPU, in turn`, (t) => {
    const { balancer } = setUp(['idle', 'half'])
    const even = countPicks(100, () => balancer.select())
    t.true(Math.abs((even.get('idle') ?? 0) - 50) <= 2, String(even.get('idle')))
    balancer.report('idle', { cpu: 0 })
    balancer.report('half', { cpu: 50 })
    const picked = countPicks(300, () => balancer.select())
    t.true(Math.abs((picked.get('idle') ?? 0) - 200) <= 2, String(picked.get('idle')))
    const indices = new Uint32Array(300)
    balancer.fill(indices)
    const filled = indices.filter((index) => index === 0).length
    t.true(Math.abs(filled - 200) <= 5, String(filled))
  })

  test(`${engine}: without leases a node that nobody has heard of counts as the mean of the others`, (t) => {
    const { balancer } = setUp(['idle', 'busy', 'silent'])
    balancer.report('idle', { cpu: 0 })
    balancer.report('busy', { cpu: 80 })
    const picked = countPicks(360, () => balancer.select())
    // 100, 20 and 60 points to spare.
    t.true(Math.abs((picked.get('silent') ?? 0) - 120) <= 5, String(picked.get('silent')))
    t.true(Math.abs((picked.get('busy') ?? 0) - 40) <= 5, String(picked.get('busy')))
  })

  test(`${engine}: excluded and draining nodes are not picked, and no one left is no pick`, (t) => {
    for (const count of [3, 40]) {
      const { balancer } = setUp(named(count))
      void balancer.drain('n2')
      for (let i = 0; i < 100; i++) {
        const lease = balancer.acquire({ exclude: ['n0'] })
        t.true(lease.node !== 'n0' && lease.node !== 'n2')
        lease.release({ latency: 5 })
      }
      t.is(balancer.trySelect({ exclude: named(count) }), undefined)
      balancer.setNodes([])
      t.is(balancer.trySelect(), undefined)
    }
  })

  test(`${engine}: of many nodes the idle ones are found, and the slow ones spared`, (t) => {
    const { balancer, clock } = setUp(named(100))
    const isSlow = (node: string) => Number(node.slice(1)) < 20
    const open: { lease: Lease<string>; end: number }[] = []
    const sent = { slow: 0, fast: 0 }
    for (let time = 0; time < 60_000; time += 5) {
      clock.jump(5)
      for (let i = open.length - 1; i >= 0; i--) {
        const request = open[i]
        if (request === undefined || request.end > time) continue
        request.lease.release()
        open.splice(i, 1)
      }
      const lease = balancer.acquire()
      open.push({ lease, end: time + (isSlow(lease.node) ? 200 : 20) })
      if (time > 20_000) sent[isSlow(lease.node) ? 'slow' : 'fast']++
    }
    // An equal share of the slow ones would be a fifth.
    t.true(sent.slow / (sent.slow + sent.fast) < 0.05, JSON.stringify(sent))
    t.true(Math.max(...balancer.snapshot().map(({ inFlight }) => inFlight)) <= 3)
  })

  test(`${engine}: a lease of a node that left teaches nothing about who has its place`, (t) => {
    const { balancer, costs } = setUp(['a', 'b'])
    const lease = balancer.acquire({ exclude: ['b'] })
    balancer.remove('a')
    balancer.select()
    lease.release({ latency: 1e6 })
    t.is(costs().b, 1)
  })

  test(`${engine}: more releases than are kept between two picks are all learned from`, (t) => {
    const { balancer, costs } = setUp(['a'])
    const leases = Array.from({ length: 500 }, () => balancer.acquire())
    for (const lease of leases) lease.release({ latency: 300 })
    // The k-th from the last leaves k behind: of the last 128 that count the mean is about 300 / 100.
    const cost = costs().a as number
    t.true(cost > 1.5 && cost < 6, String(cost))
  })

  for (const time of [Number.NaN, Number.POSITIVE_INFINITY, -1e9]) {
    test(`${engine}: a clock that tells ${time} once is not learned from for ever`, (t) => {
      let now = 1_000
      const clock = { now: () => now, setTimeout: () => undefined, clearTimeout: () => {} }
      const options = { algorithm: adaptive(), health: false, poll: false, seed: 5, engine } as const
      const balancer = createBalancer({ nodes: ['a', 'b'], clock, ...options })
      const request = (end = 10) => {
        const lease = balancer.acquire()
        now += end
        lease.release()
        return lease.node
      }
      for (let i = 0; i < 20; i++) request()
      request(time)
      request()
      now = 2_000
      for (let i = 0; i < 20; i++) request()
      const picked = countPicks(400, () => request())
      t.true((picked.get('a') ?? 0) > 50 && (picked.get('b') ?? 0) > 50, JSON.stringify([...picked]))
    })
  }

  test(`${engine}: in arrays it goes by spare CPU`, (t) => {
    const { balancer } = setUp(['a', 'b'])
    balancer.report('a', { cpu: 0 })
    balancer.report('b', { cpu: 75 })
    const nodes = ['a', 'b']
    const picked = countPicks(10_000, () => balancer.select(nodes))
    t.true(Math.abs((picked.get('a') ?? 0) - 7_980) < 300, String(picked.get('a')))
  })
}

for (const [option, values] of Object.entries({
  ttl: [-1, Number.NaN, '5', null],
  fading: [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '5', null],
  errorCost: [-1, 1e7, Number.NaN, '5', null],
})) {
  for (const value of values) {
    test(`adaptive ${option}: ${String(value)} (${typeof value}) is refused`, (t) => {
      const error = t.throws(() => adaptive({ [option]: value }), { instanceOf: OptionError })
      t.regex(error?.message ?? '', new RegExp(`adaptive\\.${option}`))
      t.is(error?.value as unknown, kept(value))
    })
  }
}

test('an unknown option of adaptive is refused, and the nearest is named', (t) => {
  t.throws(() => adaptive({ fade: 5 } as never), { instanceOf: OptionError, message: /fading/ })
})
