import { createContext, runInContext } from 'node:vm'
import test from 'ava'
import {
  attachBalancer,
  createBalancer,
  createTable,
  eventDiscovery,
  hashRing,
  leastCpu,
  OptionError,
  type SelectOptions,
} from '../../dist/index.js'
import { engines } from '../support/engines.js'

// What is made in it is of no class of this realm, as in test runners that run tests in contexts of their own.
const context = createContext({})
const foreign = <T>(code: string): T => runInContext(`(${code})`, context) as T

for (const engine of engines) {
  test(`${engine}: options, nodes, reports, outcomes and arrays may come from another realm`, async (t) => {
    const balancer = createBalancer({
      ...foreign<object>(
        "{ nodes: ['a', 'b'], poll: false, health: { ejection: 1_000 }, name: 'foreign', seed: 3 }",
      ),
      table: createTable(),
      engine,
    })
    t.teardown(() => balancer.close())
    t.not(Object.getPrototypeOf(foreign<object>('{}')), Object.prototype)
    t.deepEqual([...balancer.nodes], ['a', 'b'])
    t.true(balancer.report('a', foreign('{ cpu: 10, named: { queue: 1 }, age: 5 }')))
    t.true(['a', 'b'].includes(balancer.select(foreign<string[]>("['a', 'b']"))))
    t.is(balancer.select(foreign<SelectOptions>("{ exclude: ['a'] }")), 'b')
    balancer.acquire().release(foreign("{ ok: false, error: new Error('there'), latency: 3 }"))
    t.is(balancer.stats().leases.failed, 1)
    t.is(await balancer.run(foreign<(node: string) => Promise<number>>('async (node) => node.length')), 1)
    t.is(balancer.observe('a', foreign("{ 'endpoint-load-metrics': 'TEXT cpu_utilization=0.2' }")), 'stored')
    t.is(
      balancer.observe('a', foreign("new Map([['endpoint-load-metrics', 'TEXT cpu_utilization=0.2']])")),
      'stored',
    )
    t.is(balancer.observe('a', foreign("['Endpoint-Load-Metrics', 'TEXT cpu_utilization=0.2']")), 'stored')
    const into = foreign<Uint32Array>('new Uint32Array(4)')
    t.is(balancer.fill(into), 4)
    t.true([...into].every((index) => index < 2))
  })

  test(`${engine}: bytes of another realm are the key that they are here`, (t) => {
    const options = { nodes: ['a', 'b', 'c', 'd'], poll: false, algorithm: hashRing(), engine } as const
    const balancer = createBalancer({ ...options, table: createTable() })
    t.teardown(() => balancer.close())
    for (let i = 0; i < 20; i++) {
      const key = foreign<Uint8Array>(`new Uint8Array([${i}, 7])`)
      t.is(balancer.select({ key }), balancer.select({ key: Uint8Array.of(i, 7) }))
    }
    t.throws(() => balancer.select({ key: foreign<Uint8Array>('new Uint16Array(2)') }), {
      code: 'IDLEST_BAD_KEY',
    })
  })
}

test('what is wrong in options of another realm is told by an error of this one', (t) => {
  const error = t.throws(() => createBalancer(foreign("{ nodes: ['a'], pol: false }")), {
    instanceOf: OptionError,
  })
  t.regex(error?.message ?? '', /"poll"/)
})

test('options without a prototype, frozen ones, proxies and clones are as good', (t) => {
  const plain = { nodes: ['a'], poll: false, health: { ejection: 5 } } as const
  for (const options of [
    Object.assign(Object.create(null), plain),
    Object.freeze({ ...plain, nodes: Object.freeze(['a']) }),
    new Proxy({ ...plain }, {}),
    structuredClone(plain),
    JSON.parse(JSON.stringify(plain)),
  ]) {
    const balancer = createBalancer({ ...options, table: createTable() })
    t.teardown(() => balancer.close())
    t.is(balancer.select(), 'a')
  }
})

test('a cloned algorithm is refused, since it may have been changed; a cloned handle is as good as the handle', (t) => {
  t.throws(() => createBalancer({ nodes: ['a'], poll: false, algorithm: structuredClone(leastCpu()) }), {
    instanceOf: OptionError,
    message: /such as leastCpu\(\)/,
  })
  const balancer = createBalancer({ nodes: ['a'], poll: false, table: createTable(), algorithm: leastCpu() })
  t.teardown(() => balancer.close())
  const attached = attachBalancer(structuredClone(balancer.handle()))
  t.is(attached.select(), 'a')
  attached.close()
})

test('events of another realm tell of nodes', async (t) => {
  const discovery = eventDiscovery<string>(
    foreign("(async function* () { yield ['a']; yield { add: ['b'], remove: ['a'] } })()"),
    { coalesce: 0 },
  )
  t.teardown(() => discovery.close())
  const seen: string[][] = []
  for await (const nodes of discovery) {
    seen.push([...nodes])
    if (nodes.includes('b')) break
  }
  t.deepEqual(seen.at(-1), ['b'])
})
