import test from 'ava'
import fc from 'fast-check'
import {
  BadKeyError,
  ClosedError,
  hashRing,
  type Key,
  leastCpu,
  maglev,
  NoNodesError,
  OptionError,
  roundRobin,
} from '../../dist/index.js'
import { KeyHash } from '../../dist/keys/key-hash.js'
import { engines } from '../support/engines.js'
import { keyedBalancer, keys, movedKeys, names, owners } from '../support/keyed.js'
import { areUniform, countPicks } from '../support/shares.js'

const anyKey = (value: unknown) => value as Key

for (const engine of engines) {
  for (const algorithm of [hashRing(), maglev({ tableSize: 1_021 })]) {
    const name = `${engine}, ${algorithm.kind}`
    const balancerOf = (nodes: readonly string[]) => keyedBalancer(nodes, algorithm, engine)

    test(`${name}: every way to pick gives a key the same node, again and again`, async (t) => {
      const balancer = balancerOf(names(7))
      const hash = new KeyHash('murmur3')
      for (const key of ['', 'a', 'user-000001', 'zażółć', '\ud800', 0, 1, -1.5, Uint8Array.of(1, 2, 3)]) {
        const node = balancer.select({ key })
        t.is(balancer.select({ key }), node)
        t.is(balancer.trySelect({ key }), node)
        t.is(balancer.selectHash(hash.of(key)), node)
        t.is(balancer.replicas(key, 1)[0], node)
        const lease = balancer.acquire({ key })
        t.is(lease.node, node)
        lease.release()
        t.is(await balancer.run((picked) => picked, { key }), node)
      }
    })

    test(`${name}: what is no key is refused, and nothing is picked`, async (t) => {
      const balancer = balancerOf(names(3))
      const expected = { instanceOf: BadKeyError, code: 'IDLEST_BAD_KEY' }
      for (const wrong of [
        null,
        Number.NaN,
        Number.POSITIVE_INFINITY,
        5n,
        true,
        {},
        ['a'],
        new Uint16Array(1),
      ]) {
        const key = anyKey(wrong)
        t.throws(() => balancer.select({ key }), expected)
        t.throws(() => balancer.trySelect({ key }), expected)
        t.throws(() => balancer.acquire({ key }), expected)
        t.throws(() => balancer.replicas(key, 1), expected)
        await t.throwsAsync(
          balancer.run(() => 0, { key }),
          expected,
        )
      }
      t.throws(() => balancer.replicas(anyKey(undefined), 1), expected)
      t.is(balancer.stats().picks.picks, 0)
      t.is(balancer.stats().leases.acquired, 0)
    })

    test(`${name}: a hash that is not an unsigned 32-bit number is refused`, (t) => {
      const balancer = balancerOf(names(3))
      for (const hash of [-1, 2 ** 32, 0.5, Number.NaN, '5', 5n, undefined, null]) {
        t.throws(() => balancer.selectHash(hash as number), {
          instanceOf: OptionError,
          message: /option hash /,
        })
      }
      for (const hash of [0, 2 ** 32 - 1]) t.true(names(3).includes(balancer.selectHash(hash)))
    })

    test(`${name}: replicas are distinct, as many as asked for where so many are up, and go by the walk`, async (t) => {
      const balancer = balancerOf(names(6))
      await balancer.drain('n2')
      for (const key of keys(100)) {
        const all = balancer.replicas(key, 99)
        t.deepEqual([...all].sort(), ['n0', 'n1', 'n3', 'n4', 'n5'])
        for (let count = 1; count <= 5; count++)
          t.deepEqual(balancer.replicas(key, count), all.slice(0, count))
        // Whoever is excluded is passed over, so the next one has the key.
        for (let i = 0; i < 5; i++) t.is(balancer.select({ key, exclude: all.slice(0, i) }), all[i] as string)
        t.is(balancer.trySelect({ key, exclude: all }), undefined)
      }
      for (const count of [0, -1, 1.5, Number.NaN, '2', undefined]) {
        t.throws(() => balancer.replicas('a', count as number), {
          instanceOf: OptionError,
          message: /option count /,
        })
      }
      t.is(balancer.stats().picks.picks, 500)
    })

    test(`${name}: without a key picks are uniform, and counted as keyless`, (t) => {
      const balancer = balancerOf(names(4))
      t.true(areUniform([...countPicks(4_000, () => balancer.select()).values()]))
      t.is(balancer.fill(new Uint32Array(100)), 100)
      balancer.selectIndex()
      balancer.acquire()
      balancer.select({ exclude: ['n1'] })
      const nodes = ['x', 'y', 'z']
      t.true(areUniform([...countPicks(3_000, () => balancer.select(nodes)).values()]))
      balancer.select({ key: 'a' })
      balancer.selectHash(1)
      const { picks, arrayPicks, keyless } = balancer.stats().picks
      t.deepEqual({ picks, arrayPicks, keyless }, { picks: 4_105, arrayPicks: 3_000, keyless: 7_103 })
    })

    test(`${name}: picks by key count for their nodes`, (t) => {
      const balancer = balancerOf(names(4))
      const expected = countPicks(0, () => '')
      for (const key of keys(200)) {
        const node = balancer.select({ key })
        expected.set(node, (expected.get(node) ?? 0) + 1)
      }
      for (const { id, picks } of balancer.snapshot()) t.is(picks, expected.get(id) ?? 0)
      t.is(balancer.stats().picks.keyless, 0)
    })

    test(`${name}: no member is no node, and a closed balancer says so`, async (t) => {
      const balancer = balancerOf([])
      t.throws(() => balancer.select({ key: 'a' }), { instanceOf: NoNodesError })
      t.throws(() => balancer.selectHash(5), { instanceOf: NoNodesError })
      t.deepEqual(balancer.replicas('a', 2), [])
      t.is(balancer.stats().picks.empty, 2)
      balancer.setNodes(names(3))
      t.is(balancer.replicas('a', 5).length, 3)
      await balancer.close()
      t.throws(() => balancer.select({ key: 'a' }), { instanceOf: ClosedError })
      t.throws(() => balancer.selectHash(5), { instanceOf: ClosedError })
      t.throws(() => balancer.replicas('a', 2), { instanceOf: ClosedError })
      t.is(balancer.trySelect({ key: 'a' }), undefined)
      await t.throwsAsync(balancer.settled(), { instanceOf: ClosedError })
    })
  }

  test(`${engine}: nodes whose ids hash alike have their keys by a rule that no order changes`, (t) => {
    // The bit in which their first four bytes differ is moved to the top of the hash, and taken back by the others.
    const [one, other] = ['\t`J+1\u001aZ:', 'a\u0001k 1\u001a\u000bv']
    t.deepEqual(new KeyHash('murmur3').ofId(one), new KeyHash('murmur3').ofId(other))
    for (const algorithm of [hashRing(), maglev({ tableSize: 251 })]) {
      const nodes = [one, 'x', other]
      const straight = keyedBalancer(nodes, algorithm, engine)
      const turned = keyedBalancer([...nodes].reverse(), algorithm, engine)
      t.deepEqual(owners(straight, keys(100)), owners(turned, keys(100)))
      t.deepEqual(straight.replicas('k', 3), turned.replicas('k', 3))
      // On a ring the one goes where the other was.
      straight.remove(one)
      t.false([...owners(straight, keys(100)).values()].includes(one))
      t.true([...owners(straight, keys(100)).values()].includes(other))
    }
  })

  for (const algorithm of [hashRing(), maglev({ tableSize: 65_537 })]) {
    test(`${engine}, ${algorithm.kind}: while a large table is built, picks go on among members that are up`, async (t) => {
      const nodes = names(200)
      const balancer = keyedBalancer(nodes, algorithm, engine)
      const before = owners(balancer, keys(1_000))
      balancer.add('new')
      balancer.remove('n5')
      void balancer.drain('n7')
      const meanwhile = owners(balancer, keys(1_000))
      for (const node of meanwhile.values()) t.false(['new', 'n5', 'n7'].includes(node))
      for (const key of movedKeys(before, meanwhile)) t.true(['n5', 'n7'].includes(before.get(key) as string))
      // The one that the table does not have yet is picked where no one else is left.
      t.is(balancer.select({ key: 'x', exclude: nodes }), 'new')
      await balancer.settled()
      const after = owners(balancer, keys(1_000))
      const rest = nodes.filter((node) => node !== 'n5' && node !== 'n7')
      t.deepEqual(after, owners(keyedBalancer([...rest, 'new'], algorithm, engine), keys(1_000)))
      t.true([...after.values()].includes('new'))
    })

    test(`${engine}, ${algorithm.kind}: members that change while a table is built are in the next one`, async (t) => {
      const balancer = keyedBalancer(names(150), algorithm, engine)
      balancer.select({ key: 'x' })
      for (let i = 150; i < 170; i++) {
        balancer.add(`n${i}`)
        balancer.remove(`n${i - 150}`)
        balancer.select({ key: i })
        await Promise.resolve()
      }
      await balancer.settled()
      const same = keyedBalancer(names(170).slice(20), algorithm, engine)
      t.deepEqual(owners(balancer, keys(500)), owners(same, keys(500)))
    })

    test(`${engine}, ${algorithm.kind}: where most members are new, the next pick waits for their table`, (t) => {
      const balancer = keyedBalancer(names(100), algorithm, engine)
      balancer.select({ key: 'x' })
      const others = names(300).slice(99)
      balancer.setNodes(others)
      t.deepEqual(owners(balancer, keys(300)), owners(keyedBalancer(others, algorithm, engine), keys(300)))
    })
  }

  test(`${engine}: a key for an algorithm that takes none is refused, rather than lost`, async (t) => {
    for (const algorithm of [leastCpu(), roundRobin()]) {
      const balancer = keyedBalancer(names(2), algorithm, engine)
      const message = new RegExp(`option key is "k": expected no key, or .*hashRing.*${algorithm.kind}\\(\\)`)
      t.throws(() => balancer.select({ key: 'k' }), { instanceOf: OptionError, message })
      t.throws(() => balancer.trySelect({ key: 'k', exclude: ['n0'] }), { instanceOf: OptionError, message })
      t.throws(() => balancer.acquire({ key: 'k' }), { instanceOf: OptionError, message })
      const expected = {
        instanceOf: OptionError,
        message: /option algorithm is .*: expected hashRing\(\) or maglev\(\)/,
      }
      t.throws(() => balancer.selectHash(5), expected)
      t.throws(() => balancer.replicas('k', 2), expected)
      t.true(names(2).includes(balancer.select({ exclude: [] })))
      await balancer.settled()
      t.is(balancer.stats().picks.keyless, 0)
    }
  })
}

if (engines.length === 2) {
  test('both engines pick the same nodes by key, whatever happens to the members', async (t) => {
    const step = fc.record({
      what: fc.constantFrom(
        'add' as const,
        'remove' as const,
        'drain' as const,
        'acquire' as const,
        'set' as const,
      ),
      node: fc.integer({ min: 0, max: 30 }),
    })
    const algorithm = fc.oneof(
      fc
        .record({
          points: fc.integer({ min: 1, max: 300 }),
          boundedLoad: fc.constantFrom(undefined, 1, 1.25),
          weights: fc.constantFrom(undefined, { n1: 3, n2: 0, n3: 0.001 }),
        })
        .map(hashRing),
      fc
        .record({
          tableSize: fc.constantFrom(31, 1_021, 10_007),
          weights: fc.constantFrom(undefined, { n1: 3, n2: 0, n3: 0.001 }),
        })
        .map(maglev),
    )
    await fc.assert(
      fc.asyncProperty(algorithm, fc.array(step, { maxLength: 12 }), async (by, steps) => {
        const balancers = engines.map((engine) => keyedBalancer(names(12), by, engine))
        for (const { what, node } of [...steps, { what: 'acquire' as const, node: 1 }]) {
          const said = []
          for (const balancer of balancers) {
            if (what === 'add') balancer.add(`n${node}`)
            else if (what === 'remove') balancer.remove(`n${node}`)
            else if (what === 'set') balancer.setNodes(names(node))
            else if (what === 'drain' && balancer.nodes.includes(`n${node}`)) {
              balancer.drain(`n${node}`).catch(() => {})
            }
            await balancer.settled()
            const held = [0, 1, 2].map(
              (i) => balancer.trySelect({ key: i }) && balancer.acquire({ key: i }).node,
            )
            said.push([
              held,
              keys(20).map((key) => balancer.trySelect({ key })),
              keys(5).map((key) => balancer.replicas(key, 4)),
              balancer.snapshot().map(({ share }) => share),
              [balancer.trySelect(), balancer.trySelect({ exclude: ['n0'], key: 1 })],
            ])
          }
          t.deepEqual(said[0], said[1])
        }
        for (const balancer of balancers) await balancer.close()
      }),
      { numRuns: 150 },
    )
  })
}
