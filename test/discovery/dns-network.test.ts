// Node.js's own resolvers against a server on loopback, whose answers are scripted.

import { channel } from 'node:diagnostics_channel'
import dns from 'node:dns'
import { Resolver } from 'node:dns/promises'
import test, { type ExecutionContext } from 'ava'
import {
  createBalancer,
  type DiscoveryProblemEvent,
  type DnsDiscoveryOptions,
  dnsDiscovery,
} from '../../dist/index.js'
import { DnsServer, type Script, shuffled } from './dns-server.js'
import { untilFound } from './support.js'

const PODS = Array.from({ length: 300 }, (_, i) => `10.1.${i >> 8}.${i & 255}`)

// Quick, so that nobody waits: the times themselves are tested in virtual time.
const QUICK = { interval: 40, minInterval: 20, timeout: 20_000 }

function resolverFor({ address }: DnsServer, timeout = 20_000): Resolver {
  const resolver = new Resolver({ timeout, tries: 1 })
  resolver.setServers([address])
  return resolver
}

async function setUp(t: ExecutionContext, script: Script, options: Partial<DnsDiscoveryOptions> = {}) {
  const server = await DnsServer.start(t, script)
  const name = `${t.title}`
  const discovery = dnsDiscovery({
    hostname: 'api.test',
    port: 80,
    family: 4,
    resolver: resolverFor(server),
    name,
    ...QUICK,
    ...options,
  })
  t.teardown(() => discovery.close())
  const problem = (kind: string) =>
    new Promise<DiscoveryProblemEvent>((resolve) => {
      const listen = (event: unknown) => {
        const heard = event as DiscoveryProblemEvent
        if (heard.discovery !== name || heard.kind !== kind) return
        channel('idlest:discovery:problem').unsubscribe(listen)
        resolve(heard)
      }
      channel('idlest:discovery:problem').subscribe(listen)
    })
  return { server, discovery, problem }
}

test('an answer that is too long for UDP is asked for over TCP: all pods of a headless service, in any order', async (t) => {
  const { server, discovery } = await setUp(t, () => ({ records: shuffled(PODS), ttl: 0 }))
  const balancer = createBalancer({ nodes: discovery, poll: false })
  t.teardown(() => balancer.close())
  await balancer.ready()
  t.is(balancer.nodes.length, 300)
  const { nodes } = balancer
  // Two more answers, each in another order.
  while (server.questions.filter(({ over }) => over === 'tcp').length < 3) await new Promise(setImmediate)
  t.is(balancer.nodes, nodes)
  server.script = () => ({ records: shuffled(PODS.slice(1)), ttl: 0 })
  await untilFound(discovery, (found) => found.length === 299)
  t.like(discovery.stats(), { added: 300, removed: 1, nodes: 299 })
})

test('each lookup asks the server, and resolvers of both kinds tell of the TTL', async (t) => {
  const { server, discovery } = await setUp(t, () => ({ records: ['10.0.0.1'], ttl: 3_600 }))
  await discovery.ready()
  const callbacks = new dns.Resolver()
  callbacks.setServers([server.address])
  const other = dnsDiscovery({ hostname: 'other.test', port: 80, resolver: callbacks, ...QUICK })
  t.teardown(() => other.close())
  const loop = other.follow({ take: () => {} })
  while (server.asked('A', 'other.test') < 3) await new Promise(setImmediate)
  loop.end()
  t.deepEqual(other.nodes, [
    { id: '10.0.0.1:80', host: '10.0.0.1', port: 80, name: 'other.test', weight: 1, priority: 0 },
  ])
})

test('SRV records come with their targets, and IPv6 addresses in brackets', async (t) => {
  const { discovery } = await setUp(
    t,
    ({ type, name }) => {
      if (type === 'SRV') return { records: ['10 5 8080 one.test', '20 0 8081 two.test'] }
      if (name === 'one.test') return type === 'A' ? { records: ['10.0.0.1', '10.0.0.2'] } : {}
      return type === 'AAAA' ? { records: ['fd00::2'] } : {}
    },
    { hostname: '_http._tcp.api.test', port: undefined, family: 0 },
  )
  await untilFound(discovery, (nodes) => nodes.length === 3)
  t.deepEqual(discovery.nodes, [
    { id: '10.0.0.1:8080', host: '10.0.0.1', port: 8080, name: 'one.test', weight: 2.5, priority: 10 },
    { id: '10.0.0.2:8080', host: '10.0.0.2', port: 8080, name: 'one.test', weight: 2.5, priority: 10 },
    { id: '[fd00::2]:8081', host: 'fd00::2', port: 8081, name: 'two.test', weight: 1, priority: 20 },
  ])
})

for (const [what, script, kind] of [
  ['no record', () => ({}), 'empty'],
  ['NXDOMAIN', () => ({ code: 'NXDOMAIN' }), 'notFound'],
  ['SERVFAIL', () => ({ code: 'SERVFAIL' }), 'failed'],
  ['REFUSED', () => ({ code: 'REFUSED' }), 'failed'],
  ['silence', () => undefined, 'timeout'],
  ['bytes that make no sense', () => ({ garbage: true }), undefined],
] as const satisfies readonly (readonly [string, Script, string | undefined])[]) {
  test(`a server that answers with ${what} takes nobody's place, and is followed again when it is well`, async (t) => {
    const { server, discovery, problem } = await setUp(
      t,
      () => ({ records: ['10.0.0.1'], ttl: 0 }),
      what === 'silence' ? { timeout: 500 } : {},
    )
    const balancer = createBalancer({ nodes: discovery, poll: false, coalesce: 0 })
    t.teardown(() => balancer.close())
    await balancer.ready()
    // c-ares may take such bytes for an answer that is bad, or for none.
    const heard =
      kind === undefined
        ? Promise.race([problem('invalid'), problem('timeout'), problem('failed')])
        : problem(kind)
    server.script = script
    const { reason } = await heard
    t.regex(reason, /api\.test/)
    t.deepEqual(
      balancer.nodes.map(({ id }) => id),
      ['10.0.0.1:80'],
    )
    server.script = () => ({ records: ['10.0.0.2'], ttl: 0 })
    await untilFound(discovery, ([node]) => node?.host === '10.0.0.2')
    t.deepEqual(
      balancer.nodes.map(({ id }) => id),
      ['10.0.0.2:80'],
    )
  })
}

test('without any server the first nodes are waited for, and come when one is there', async (t) => {
  const { server, discovery, problem } = await setUp(t, () => undefined, { timeout: 300 })
  const balancer = createBalancer({ nodes: discovery, poll: false })
  t.teardown(() => balancer.close())
  const ready = balancer.ready()
  await problem('timeout')
  t.is(balancer.trySelect(), undefined)
  server.script = () => ({ records: ['10.0.0.1'] })
  await ready
  t.is(balancer.select().id, '10.0.0.1:80')
})
