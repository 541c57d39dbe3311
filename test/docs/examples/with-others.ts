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
    has: 'dnsDiscovery({ hostname',
    comesTo: `
      assert.deepEqual(balancer.nodes, [])
      await balancer.close()`,
  },
]
