import test from 'ava'
import fc from 'fast-check'
import { type HashRingOptions, hashRing, OptionError, TableError } from '../../dist/index.js'
import { engines } from '../support/engines.js'
import { keyedBalancer, keys, movedKeys, names, owners } from '../support/keyed.js'

for (const engine of engines) {
  const balancerOf = (nodes: readonly string[], options: HashRingOptions = {}) =>
    keyedBalancer(nodes, hashRing(options), engine)

  test(`${engine}: a key's node does not depend on the order in which members were named`, (t) => {
    fc.assert(
      fc.property(fc.shuffledSubarray(names(20), { minLength: 1 }), fc.nat(), (nodes, seed) => {
        const balancer = balancerOf(nodes)
        const other = balancerOf([...nodes].sort())
        const grown = balancerOf([])
        for (const node of nodes) grown.add(node)
        for (const key of [`key-${seed}`, seed, '', Uint8Array.of(seed)]) {
          t.is(balancer.select({ key }), other.select({ key }))
          t.is(balancer.select({ key }), grown.select({ key }))
        }
      }),
      { numRuns: 60 },
    )
  })

  test(`${engine}: a ring of more points than memory should hold is refused, until members leave`, async (t) => {
    const nodes = names(1_350)
    const weights = Object.fromEntries(nodes.slice(3).map((id) => [id, 10]))
    const balancer = balancerOf(nodes, { points: 10_000, weights })
    t.throws(() => balancer.select({ key: 1 }), { instanceOf: TableError, code: 'IDLEST_TABLE' })
    t.throws(() => balancer.replicas(1, 2), { instanceOf: TableError })
    await t.throwsAsync(balancer.settled(), { instanceOf: TableError })
    t.true(nodes.includes(balancer.select()))
    balancer.setNodes(nodes.slice(0, 3))
    await balancer.settled()
    t.true(nodes.slice(0, 3).includes(balancer.select({ key: 1 })))
  })

  test(`${engine}: where a node leaves, its own keys alone move; where it comes back, they do`, (t) => {
    fc.assert(
      fc.property(
        fc.uniqueArray(
          fc.string({ minLength: 1 }).filter((id) => !id.includes('\0')),
          {
            minLength: 2,
            maxLength: 20,
          },
        ),
        fc.nat(),
        fc.constantFrom('murmur3' as const, 'xxh32' as const),
        (nodes, at, hash) => {
          const balancer = balancerOf(nodes, { hash, points: 40 })
          const gone = nodes[at % nodes.length] as string
          const before = owners(balancer, keys(300))
          balancer.remove(gone)
          const without = owners(balancer, keys(300))
          for (const key of movedKeys(before, without)) t.is(before.get(key), gone)
          t.false([...without.values()].includes(gone))
          balancer.add(gone)
          t.deepEqual(owners(balancer, keys(300)), before)
        },
      ),
      { numRuns: 60 },
    )
  })

  test(`${engine}: keys of a node that drains go where they would go without it, and come back`, async (t) => {
    const nodes = names(12)
    const balancer = balancerOf(nodes)
    const before = owners(balancer, keys(2_000))
    await balancer.drain('n3')
    await balancer.drain('n7')
    const drained = owners(balancer, keys(2_000))
    const without = balancerOf(nodes.filter((node) => node !== 'n3' && node !== 'n7'))
    t.deepEqual(drained, owners(without, keys(2_000)))
    t.is(balancer.snapshot()[3]?.share, 0)
    t.deepEqual(
      balancer.snapshot().flatMap(({ state, share }) => (state === 'up' ? [share] : [])),
      without.snapshot().map(({ share }) => share),
    )
    balancer.add('n3')
    balancer.add('n7')
    t.deepEqual(owners(balancer, keys(2_000)), before)
  })

  test(`${engine}: shares are what nodes get of all hashes, and sum to 1`, (t) => {
    const balancer = balancerOf(names(5), { points: 10, weights: { n1: 3, n2: 0.01, n4: 0 } })
    const shares = balancer.snapshot().map(({ share }) => share)
    t.is(
      shares.reduce((sum, share) => sum + share),
      1,
    )
    const counts = new Array<number>(5).fill(0)
    const hashes = 2 ** 16
    // Evenly spread hashes: each node gets its share of them, but for one at each end of its arcs.
    for (let i = 0; i < hashes; i++) {
      const index = balancer.nodes.indexOf(balancer.selectHash(i * 2 ** 16))
      counts[index] = (counts[index] as number) + 1
    }
    for (const [i, share] of shares.entries()) t.true(Math.abs((counts[i] as number) - share * hashes) <= 32)
    t.true((shares[2] as number) > 0)
    t.is(shares[4], 0)
  })

  test(`${engine}: with 160 points shares stray by 8 % of the mean, and more points make them more even`, (t) => {
    const spread = (points: number) => {
      const nodes = names(200).map((name) => `${name}.example:8080`)
      const shares = balancerOf(nodes, { points })
        .snapshot()
        .map(({ share }) => share * 200)
      return Math.sqrt(shares.reduce((sum, share) => sum + (share - 1) ** 2, 0) / 200)
    }
    for (const points of [40, 160, 640]) {
      const expected = 1 / Math.sqrt(points)
      // The standard error of a standard deviation over 200 is 5 % of it: five of these.
      t.true(Math.abs(spread(points) / expected - 1) < 0.25, `${points} points: ${spread(points)}`)
    }
  })

  test(`${engine}: shares go by weights, and a weight of 0 is never picked`, (t) => {
    const balancer = balancerOf(['a', 'b', 'c', 'zero'], {
      points: 3_000,
      weights: { b: 2, c: 0.5, zero: 0 },
    })
    const shares = balancer.snapshot().map(({ share }) => share)
    for (const [i, weight] of [1, 2, 0.5].entries()) {
      t.true(Math.abs((shares[i] as number) / (weight / 3.5) - 1) < 0.1, `${shares}`)
    }
    t.is(shares[3], 0)
    t.false([...owners(balancer, keys(3_000)).values()].includes('zero'))
  })

  test(`${engine}: another weight moves keys to or from its own node alone`, (t) => {
    const nodes = names(10)
    const before = owners(balancerOf(nodes), keys(2_000))
    const after = owners(balancerOf(nodes, { weights: { n4: 3 } }), keys(2_000))
    const moved = movedKeys(before, after)
    t.true(moved.length > 100)
    for (const key of moved) t.is(after.get(key), 'n4')
  })

  test(`${engine}: the other hash function makes another ring`, (t) => {
    const moved = movedKeys(
      owners(balancerOf(names(8)), keys(500)),
      owners(balancerOf(names(8), { hash: 'xxh32' }), keys(500)),
    )
    t.true(moved.length > 350)
  })

  test(`${engine}: no node has more in flight than its bound, and there is always one below it`, (t) => {
    fc.assert(
      fc.property(
        fc.record({
          size: fc.integer({ min: 1, max: 8 }),
          bound: fc.constantFrom(1, 1.1, 1.25, 2, 10),
          weights: fc.dictionary(fc.constantFrom(...names(8)), fc.constantFrom(0.3, 1 / 3, 1, 7), {
            maxKeys: 3,
          }),
          steps: fc.array(fc.record({ key: fc.nat(3), release: fc.boolean(), at: fc.nat(50) }), {
            maxLength: 80,
          }),
        }),
        ({ size, bound, weights, steps }) => {
          const nodes = names(size)
          const balancer = balancerOf(nodes, { boundedLoad: bound, weights, points: 20 })
          const total = nodes.reduce((sum, node) => sum + (weights[node] ?? 1), 0)
          const open: ReturnType<typeof balancer.acquire>[] = []
          for (const { key, release, at } of steps) {
            if (release && open.length > 0) {
              open.splice(at % open.length, 1)[0]?.release()
              continue
            }
            const lease = balancer.acquire({ key })
            open.push(lease)
            const inFlight = open.filter(({ node }) => node === lease.node).length
            const most = Math.ceil((bound * open.length * (weights[lease.node] ?? 1)) / total + 1e-9)
            t.true(inFlight <= most, `${inFlight} of ${open.length} at ${lease.node}, at most ${most}`)
          }
        },
      ),
      { numRuns: 200 },
    )
  })

  test(`${engine}: a key walks on past nodes that are at their bound, and comes back`, (t) => {
    const balancer = balancerOf(names(4), { boundedLoad: 1.25 })
    const [first, second, third] = balancer.replicas('hot', 4) as [string, string, string]
    const leases = [balancer.acquire({ key: 'hot' })]
    t.is(leases[0]?.node, first)
    // ceil(1.25 * 2 / 4) is 1: the next one has to go elsewhere.
    leases.push(balancer.acquire({ key: 'hot' }))
    t.is(leases[1]?.node, second)
    t.is(balancer.select({ key: 'hot' }), third)
    t.deepEqual(balancer.replicas('hot', 2), [third, first])
    leases[0]?.release()
    t.is(balancer.select({ key: 'hot' }), first)
    t.is(balancer.select({ key: 'hot', exclude: [first] }), third)
  })

  test(`${engine}: where all that are left are at their bound, the first of them is picked`, (t) => {
    const balancer = balancerOf(['a', 'b', 'c'], { boundedLoad: 1 })
    balancer.acquire({ key: 1, exclude: ['b', 'c'] })
    t.is(balancer.select({ key: 1, exclude: ['b', 'c'] }), 'a')
  })
}

test('options have their defaults, and are frozen', (t) => {
  const algorithm = hashRing({ weights: { a: 2 } })
  t.deepEqual(algorithm, {
    kind: 'hashRing',
    points: 160,
    hash: 'murmur3',
    boundedLoad: undefined,
    weights: { a: 2 },
  })
  t.true(Object.isFrozen(algorithm) && Object.isFrozen(algorithm.weights))
})

for (const [given, option] of [
  [{ points: 0 }, 'points'],
  [{ points: 10_001 }, 'points'],
  [{ points: 1.5 }, 'points'],
  [{ points: '160' }, 'points'],
  [{ hash: 'md5' }, 'hash'],
  [{ hash: () => 1 }, 'hash'],
  [{ boundedLoad: 0.99 }, 'boundedLoad'],
  [{ boundedLoad: Number.POSITIVE_INFINITY }, 'boundedLoad'],
  [{ boundedLoad: Number.NaN }, 'boundedLoad'],
  [{ boundedLoad: true }, 'boundedLoad'],
  [{ weights: [1] }, 'weights'],
  [{ weights: new Map() }, 'weights'],
  [{ weights: { a: -1 } }, 'weights.a'],
  [{ weights: { a: Number.NaN } }, 'weights.a'],
  [{ weights: { a: '2' } }, 'weights.a'],
  // 160 points a unit, and 100,000 at most.
  [{ weights: { a: 626 } }, 'weights.a'],
  [{ point: 5 }, 'point'],
] as const) {
  test(`hashRing refuses ${JSON.stringify(given)} at ${option}: ${String(Object.values(given)[0])}`, (t) => {
    const error = t.throws(() => hashRing(given as object), { instanceOf: OptionError })
    t.is(error?.option, `hashRing.${option}`)
  })
}
