import type { Example } from '../examples.js'

const HAPROXY = '.github/docs/with-haproxy.md'
const GRPC = '.github/docs/with-grpc.md'
const KUBERNETES = '.github/docs/on-kubernetes.md'

export const withOthers: readonly Example[] = [
  {
    file: HAPROXY,
    has: 'createAgent({ http: false, agentCheck',
    comesTo: `
      await heard(agentCheckTransport({ port: agent.agentCheck?.port ?? 0, weight: 'idle' }))
      process.emit('SIGTERM')
      assert.equal(agent.state, 'drain')
      await until(() => !server.listening)`,
  },
  {
    file: HAPROXY,
    has: "agentCheckTransport({ port: 9001, weight: 'idle' })",
    comesTo: 'await until(() => balancer.snapshot().every(({ fresh, cpu }) => fresh && cpu === 37))',
  },
  {
    file: HAPROXY,
    has: 'const proxy = http.createServer',
    comesTo: `
      const passed = await answer({ 'endpoint-load-metrics-format': 'TEXT' })
      assert.equal(await passed.text(), 'report')
      assert.equal(passed.headers.get('endpoint-load-metrics'), null)
      assert.equal(balancer.stats().inBand.stored, 1)
      proxy.close()`,
  },
  {
    file: GRPC,
    has: 'orcaService(agent)',
    comesTo: `
      await heard(orcaTransport(), '0.0.0.0:50051')
      process.emit('SIGTERM')
      assert.equal(agent.state, 'drain')`,
  },
  {
    file: GRPC,
    has: 'registerIdlestPolicies(grpc',
    comesTo: `
      assert.ok(grpc.experimental.isLoadBalancerNameRegistered('idlest_adaptive'))
      client.close()`,
  },
  {
    file: GRPC,
    has: 'enableOobLoadReport: true',
    comesTo: 'client.close()',
  },
  {
    file: GRPC,
    has: 'const lease = balancer.acquire()',
    comesTo: `
      await call('/Sums/Add', Buffer.alloc(0))
      await until(() => balancer.stats().leases.released === 1)
      assert.equal(balancer.stats().inBand.stored, 1)
      for (const client of clients.values()) client.close()`,
  },
  {
    file: KUBERNETES,
    has: 'httpMiddleware(agent, (request, response)',
    comesTo: `
      assert.equal((await answer()).status, 200)
      process.emit('SIGTERM')
      assert.equal(agent.state, 'drain')`,
  },
  {
    file: KUBERNETES,
    has: "hostname: '_http._tcp.caches",
    comesTo: `
      assert.deepEqual(caches.nodes, [])
      const { algorithm } = caches
      assert.ok(algorithm.kind === 'hashRing')
      const pod = (host: string): DnsNode =>
        ({ id: host + ':80', host, port: 80, name: 'caches-0.caches.default.svc.cluster.local', weight: 1, priority: 0 })
      assert.equal(algorithm.keyOf?.(pod('10.0.0.1') as never), 'caches-0.caches.default.svc.cluster.local')
      const balancer = createBalancer({ nodes: [pod('10.0.0.1')], algorithm, poll: false })
      balancer.setNodes([pod('10.0.9.9')])
      assert.equal(balancer.select({ key: 1 }).host, '10.0.9.9')
      await caches.close()`,
  },
  {
    file: KUBERNETES,
    has: "hostname: 'reports.default",
    comesTo: `
      assert.deepEqual(balancer.nodes, [])
      await balancer.close()`,
  },
]
