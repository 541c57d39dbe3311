import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import test from 'ava'
import {
  attachBalancer,
  BadNodeError,
  type Balancer,
  type BalancerHandle,
  createBalancer,
  hashRing,
  maglev,
  OptionError,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { keys, movedKeys } from '../support/keyed.js'

interface Pod {
  readonly id: string
  readonly key?: unknown
  readonly name?: string
}

const all = keys(2_000)

/** Pods of a StatefulSet as discovery finds them: addresses differ from start to start, names do not. */
function pods(count: number, start: number): Pod[] {
  return Array.from({ length: count }, (_, i) => ({ id: `10.0.${start}.${i}:80`, key: `cache-${i}` }))
}

/** The pod that each key has, by name. */
function owners(balancer: Balancer<Pod>): Map<string, string> {
  return new Map(all.map((key) => [key, String(balancer.select({ key }).key)]))
}

function channelClone<T>(value: T): T {
  const { port1, port2 } = new MessageChannel()
  port1.postMessage(value)
  const message = receiveMessageOnPort(port2)?.message as T
  port1.close()
  return message
}

for (const engine of engines) {
  for (const make of [
    (options: object) => hashRing(options),
    (options: object) => maglev({ tableSize: 4_093, ...options }),
    // Built in the background.
    (options: object) => hashRing({ points: 2_000, ...options }),
  ]) {
    const { kind, ...rest } = make({})
    const setUp = (nodes: readonly Pod[], options: object = {}) =>
      createBalancer<Pod>({
        nodes,
        algorithm: make(options),
        poll: false,
        clock: new VirtualClock(),
        seed: 1,
        engine,
      })
    const name = `${engine}, ${kind}${'points' in rest ? ` of ${rest.points} points` : ''}`

    test(`${name}: a rolling restart with other addresses moves no key but those of the pod that is away`, async (t) => {
      const before = pods(8, 0)
      const after = pods(8, 1)
      const balancer = setUp(before)
      await balancer.settled()
      const first = owners(balancer)
      t.is(new Set(first.values()).size, 8)
      for (let i = 0; i < 8; i++) {
        const away = [...after.slice(0, i), ...before.slice(i + 1)]
        balancer.setNodes(away)
        if (kind === 'hashRing') {
          for (const key of movedKeys(first, owners(balancer))) t.is(first.get(key), `cache-${i}`)
        }
        balancer.setNodes([...after.slice(0, i + 1), ...before.slice(i + 1)])
        await balancer.settled()
        t.deepEqual(movedKeys(first, owners(balancer)), [])
      }
      t.deepEqual(
        balancer.nodes.map(({ id }) => id),
        after.map(({ id }) => id),
      )
    })

    test(`${name}: keyOf gives the key, also in place of the node's own`, async (t) => {
      const named = (start: number) =>
        pods(5, start).map(({ id, key }) => ({ id, key: 'one for all', name: String(key) }))
      const balancer = setUp(named(0), { keyOf: ({ name = '' }: Pod) => name })
      const byKey = setUp(pods(5, 0))
      await Promise.all([balancer.settled(), byKey.settled()])
      const expected = owners(byKey)
      const found = () => new Map(all.map((key) => [key, String(balancer.select({ key }).name)]))
      t.deepEqual(found(), expected)
      balancer.setNodes(named(1))
      await balancer.settled()
      t.deepEqual(found(), expected)
    })

    test(`${name}: of several members with one key the last that joined has its keys, while it is up`, async (t) => {
      const balancer = setUp(pods(4, 0))
      await balancer.settled()
      const first = owners(balancer)
      const [old, fresh] = ['10.0.0.2:80', '10.0.9.2:80']
      balancer.add({ id: fresh, key: 'cache-2' })
      await balancer.settled()
      const holders = () =>
        new Set(all.map((key) => balancer.select({ key }).id).filter((id) => id.endsWith('.2:80')))
      t.deepEqual(owners(balancer), first)
      t.deepEqual([...holders()], [fresh])
      balancer.report(fresh, { state: 'down' })
      t.deepEqual(owners(balancer), first)
      t.deepEqual([...holders()], [old])
      t.not(
        balancer.select({ key: all.find((key) => first.get(key) === 'cache-2') as string, exclude: [old] })
          .key,
        'cache-2',
      )
      balancer.report(fresh, { state: 'up' })
      balancer.remove(old)
      await balancer.settled()
      t.deepEqual(owners(balancer), first)
      t.deepEqual([...holders()], [fresh])
      const shares = balancer.snapshot().map(({ share }) => share)
      t.true(Math.abs(shares.reduce((sum, share) => sum + share, 0) - 1) < 1e-9)
    })

    test(`${name}: weights go by keys`, async (t) => {
      const balancer = setUp(pods(3, 0), { weights: { 'cache-0': 3, 'cache-2': 0 } })
      await balancer.settled()
      const counts = new Map<string, number>()
      for (const owner of owners(balancer).values()) counts.set(owner, (counts.get(owner) ?? 0) + 1)
      t.false(counts.has('cache-2'))
      const [heavy = 0, light = 0] = [counts.get('cache-0'), counts.get('cache-1')]
      t.true(heavy > 2 * light && heavy < 5 * light, `${heavy}, ${light}`)
      t.is(balancer.snapshot()[2]?.fixedWeight, 0)
      // Another key for the same address.
      balancer.setNodes([
        { id: '10.0.0.0:80', key: 'cache-2' },
        { id: '10.0.0.1:80', key: 'cache-1' },
      ])
      await balancer.settled()
      t.deepEqual(new Set(owners(balancer).values()), new Set(['cache-1']))
    })

    test(`${name}: attached threads find the same nodes, also by keyOf`, async (t) => {
      for (const options of [{}, { keyOf: ({ id }: Pod) => `shard of ${id.split('.')[3]}` }]) {
        const clock = new VirtualClock()
        const balancer = createBalancer<Pod>({
          nodes: pods(5, 0),
          algorithm: make(options),
          poll: false,
          clock,
          engine,
        })
        await balancer.settled()
        const attached = attachBalancer(channelClone<BalancerHandle>(balancer.handle()), { clock, engine })
        await attached.settled()
        const ids = () => all.map((key) => balancer.select({ key }).id)
        t.deepEqual(
          all.map((key) => attached.select({ key })),
          ids(),
        )
        balancer.setNodes(pods(5, 1))
        await balancer.settled()
        await attached.settled()
        t.deepEqual(
          all.map((key) => attached.select({ key })),
          ids(),
        )
        attached.close()
        balancer.close()
      }
    })
  }
}

test('what is no key of a node is refused, and the members stay as they were', (t) => {
  const nodes = [{ id: 'a', key: 'x' }]
  const balancer = createBalancer<Pod>({ nodes, algorithm: hashRing(), poll: false })
  for (const key of ['', 7, null, 'k'.repeat(1_025), {}]) {
    const bad = { id: 'b', key }
    t.throws(() => balancer.setNodes([{ id: 'c' }, bad]), { instanceOf: BadNodeError })
    t.throws(() => balancer.add(bad), { instanceOf: BadNodeError })
    t.throws(() => createBalancer<Pod>({ nodes: [bad], algorithm: maglev(), poll: false }), {
      instanceOf: BadNodeError,
    })
    t.throws(
      () =>
        createBalancer({ nodes: ['a'], algorithm: hashRing({ keyOf: () => key as string }), poll: false }),
      { instanceOf: BadNodeError },
    )
  }
  t.deepEqual(balancer.nodes, nodes)
  t.deepEqual(balancer.select({ key: 1 }), { id: 'a', key: 'x' })
  t.throws(() => hashRing({ keyOf: 'name' as never }), { instanceOf: OptionError })
})

test('an algorithm that takes no keys looks at none', (t) => {
  const balancer = createBalancer<Pod>({ nodes: [{ id: 'a', key: 7 }], poll: false })
  t.is(balancer.select().id, 'a')
})
