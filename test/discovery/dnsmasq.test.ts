import test from 'ava'
import { createBalancer, dnsDiscovery } from '../../dist/index.js'
import { Dnsmasq, hasDnsmasq, hostsOf } from './dnsmasq.js'
import { untilFound } from './support.js'

const SERVICE = 'api.default.svc.cluster.test'
const QUICK = { interval: 60, minInterval: 30, timeout: 10_000 }
const pods = (first: number, count: number) => Array.from({ length: count }, (_, i) => `10.2.0.${first + i}`)

// Fewer tests, no failure, where it is not installed.
if (hasDnsmasq) {
  test('dnsmasq: the pods of a headless service are followed as they come and go, with no request lost', async (t) => {
    const server = await Dnsmasq.start(t, hostsOf(SERVICE, pods(1, 100)))
    const discovery = dnsDiscovery({ hostname: SERVICE, port: 8080, resolver: server.resolver(), ...QUICK })
    const balancer = createBalancer({ nodes: discovery, poll: false, coalesce: 0 })
    t.teardown(() => balancer.close())
    t.teardown(() => discovery.close())
    await balancer.ready()
    // More than fit into one answer over UDP.
    t.is(balancer.nodes.length, 100)
    const lease = balancer.acquire()
    const stays = lease.node.id
    const kept = (id: string) => id === stays
    // A rolling update: half of the pods are replaced.
    const next = [...pods(1, 100).filter((host, i) => i < 50 || kept(`${host}:8080`)), ...pods(101, 50)]
    server.serve(hostsOf(SERVICE, next))
    await untilFound(
      discovery,
      (nodes) => nodes.length === next.length && nodes.some(({ host }) => host === '10.2.0.150'),
    )
    t.is(balancer.nodes.length, next.length)
    const known = balancer.snapshot().find(({ id }) => id === stays)
    t.is(known?.inFlight, 1)
    lease.release({ ok: true })
    t.is(balancer.snapshot().find(({ id }) => id === stays)?.inFlight, 0)
    const hosts = new Set(next)
    t.true(Array.from({ length: 1_000 }, () => balancer.select().host).every((host) => hosts.has(host)))
  })

  test('dnsmasq: with no pod left, or the server gone, the members stay until it tells of others', async (t) => {
    const server = await Dnsmasq.start(t, hostsOf(SERVICE, pods(1, 3)))
    const name = 'pods that go'
    const discovery = dnsDiscovery({
      hostname: SERVICE,
      port: 8080,
      name,
      resolver: server.resolver(),
      ...QUICK,
    })
    const balancer = createBalancer({ nodes: discovery, poll: false, coalesce: 0 })
    t.teardown(() => balancer.close())
    t.teardown(() => discovery.close())
    await balancer.ready()
    server.serve('')
    const { problems } = discovery.stats()
    const before = problems.empty + problems.notFound
    const gone = () => discovery.stats().problems.empty + discovery.stats().problems.notFound
    while (gone() === before) await new Promise(setImmediate)
    t.is(balancer.nodes.length, 3)
    await server.stop()
    const wrong = () => discovery.stats().problems.failed + discovery.stats().problems.timeout
    while (wrong() === 0) await new Promise(setImmediate)
    t.is(balancer.nodes.length, 3)
    t.is(typeof balancer.select().host, 'string')
    server.serve(hostsOf(SERVICE, pods(7, 2)))
    await server.run()
    await untilFound(discovery, (nodes) => nodes.length === 2)
    t.deepEqual(balancer.nodes.map(({ host }) => host).sort(), pods(7, 2))
  })

  test('dnsmasq: SRV records with weights and priorities', async (t) => {
    const server = await Dnsmasq.start(
      t,
      ['10.3.0.1 one.test', '10.3.0.2 two.test', '10.3.0.3 three.test'].join('\n'),
      [
        '--srv-host=_http._tcp.api.test,one.test,8081,10,3',
        '--srv-host=_http._tcp.api.test,two.test,8082,10,1',
        '--srv-host=_http._tcp.api.test,three.test,8083,20,0',
      ],
    )
    const discovery = dnsDiscovery({ hostname: '_http._tcp.api.test', resolver: server.resolver(), ...QUICK })
    t.teardown(() => discovery.close())
    await untilFound(discovery, (nodes) => nodes.length === 3)
    t.deepEqual(
      discovery.nodes.map(({ id, name, priority, weight }) => [id, name, priority, weight]),
      [
        ['10.3.0.1:8081', 'one.test', 10, 3],
        ['10.3.0.2:8082', 'two.test', 10, 1],
        ['10.3.0.3:8083', 'three.test', 20, 1],
      ],
    )
  })
}
