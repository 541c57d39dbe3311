import type { Example } from '../examples.js'

/**
 * An example of a comment. Those that need what no machine has, such as a name to look up, or come to nothing that could
 * be told, are compiled alone.
 */
export interface CommentExample extends Example {
  readonly compiledAlone?: true
}

const CONTRACT = 'src/balancer/contract.ts'
const BALANCER = 'src/balancer/balancer.ts'
const TRANSPORTS = 'src/poller/transports'

export const commentExamples: readonly CommentExample[] = [
  {
    file: 'src/agent/agent.ts',
    has: 'createAgent(',
    comesTo: `
      await until(() => agent.report() !== undefined)
      assert.equal((await fetch(agent.url)).status, 200)
      await agent.close()`,
  },
  {
    file: 'src/agent/middleware/express.ts',
    has: 'expressMiddleware(agent)',
    comesTo: `
      app.get('/', (_: unknown, response: { end(text: string): void }) => response.end('hello'))
      app.listen(0, '127.0.0.1')
      assert.match((await answer({ 'endpoint-load-metrics-format': 'TEXT' })).headers.get('endpoint-load-metrics') ?? '', /^TEXT /)`,
  },
  {
    file: 'src/agent/middleware/fastify.ts',
    has: 'fastifyMiddleware(agent)',
    comesTo: `
      app.get('/', async () => 'hello')
      const { headers } = await app.inject({ url: '/', headers: { 'endpoint-load-metrics-format': 'TEXT' } })
      assert.match(String(headers['endpoint-load-metrics']), /^TEXT /)
      await app.close()`,
  },
  { file: 'src/agent/middleware/grpc.ts', has: 'new grpc.Server(', comesTo: 'server.forceShutdown()' },
  {
    file: 'src/agent/middleware/http.ts',
    has: 'http.createServer(',
    comesTo: "assert.equal(await (await answer()).text(), 'hello')",
  },
  { file: 'src/agent/orca-service.ts', has: 'orcaService(agent)', comesTo: 'server.forceShutdown()' },
  {
    file: 'src/algorithms/adaptive/options.ts',
    has: 'algorithm: adaptive()',
    comesTo: 'assert.equal(balancer.stats().leases.released, 1)',
  },
  {
    file: 'src/algorithms/custom/options.ts',
    has: 'custom(() => {',
    comesTo: `
      assert.equal(createBalancer({ nodes, poll: false, algorithm: stickiest }).select(), nodes[0])
      assert.ok(nodes.includes(createBalancer({ nodes, poll: false, algorithm: idlestOfThree }).select()))`,
  },
  {
    file: 'src/algorithms/hash-ring/options.ts',
    has: 'hashRing({ boundedLoad',
    comesTo: `
      assert.equal(node, first)
      assert.notEqual(first, second)`,
  },
  {
    file: 'src/algorithms/least-cpu/options.ts',
    has: 'leastCpu({ threshold',
    compiledAlone: true,
  },
  {
    file: 'src/algorithms/peak-ewma/options.ts',
    has: 'algorithm: peakEwma()',
    comesTo: 'assert.equal(balancer.stats().leases.released, 1)',
  },
  {
    file: 'src/balancer/attached.ts',
    has: 'attachBalancer(workerData.handle)',
    compiledAlone: true,
  },
  {
    file: BALANCER,
    has: 'balancer.run(',
    comesTo: 'assert.equal(balancer.stats().leases.released, 1)',
  },
  { file: BALANCER, has: "zone: 'a'", comesTo: "assert.ok(zone === 'a' || zone === 'b')" },
  {
    file: CONTRACT,
    has: '// as anywhere',
    comesTo: "assert.equal(await response.text(), 'report')",
  },
  { file: CONTRACT, has: 'exclude: [first]', comesTo: 'assert.notEqual(first, second)' },
  {
    file: CONTRACT,
    has: 'lease.release({ ok: response.ok })',
    comesTo: 'assert.equal(balancer.stats().leases.failed, 0)',
  },
  { file: CONTRACT, has: 'return response.text()', comesTo: "assert.equal(text, 'report')" },
  {
    file: CONTRACT,
    has: 'balancer.observe(',
    comesTo: 'assert.equal(balancer.stats().inBand.stored, 1)',
  },
  {
    file: CONTRACT,
    has: "meter('worker-3')",
    inThread: true,
    comesTo: 'await until(() => worked.length === 1)',
  },
  { file: CONTRACT, has: 'balancer.snapshotParts(', compiledAlone: true },
  { file: CONTRACT, has: 'balancer.explain(', comesTo: "assert.notEqual(words, '')" },
  { file: CONTRACT, has: 'balancer.serve(', comesTo: 'assert.equal((await fetch(url)).status, 200)' },
  {
    file: 'src/balancer/drop-in.ts',
    has: 'select(nodes)',
    comesTo: "assert.equal(await response.text(), 'report')",
  },
  { file: 'src/balancer/drop-in.ts', has: 'configure(', comesTo: 'assert.ok(nodes.includes(select(nodes)))' },
  {
    file: 'src/balancer/process-table.ts',
    has: 'createTable({ file:',
    needs: 'native',
    comesTo: 'await until(() => balancer.stats().poll?.elected?.here === true)',
  },
  { file: 'src/discovery/discovery.ts', has: 'for await', compiledAlone: true },
  { file: 'src/discovery/dns.ts', has: 'dnsDiscovery(', compiledAlone: true },
  {
    file: 'src/discovery/events.ts',
    has: 'eventDiscovery(',
    compiledAlone: true,
  },
  { file: 'src/discovery/file.ts', has: 'fileDiscovery(', compiledAlone: true },
  {
    file: 'src/estimate/estimate.ts',
    has: 'estimateFleet(',
    comesTo: `
      assert.ok(servers > 0)
      assert.equal(steps.length, 7)`,
  },
  {
    file: 'src/integrations/grpc/register.ts',
    has: 'registerIdlestPolicies()',
    comesTo: `
      assert.ok(grpc.experimental.isLoadBalancerNameRegistered('idlest_adaptive'))
      client.close()`,
  },
  {
    file: 'src/integrations/opentelemetry/instrument.ts',
    has: 'instrumentBalancer(balancer)',
    comesTo: 'watch.close()',
  },
  {
    file: 'src/integrations/prometheus/collect.ts',
    has: 'collectBalancer(balancer)',
    comesTo: `
      assert.match(await (await answer()).text(), /^idlest_pool_size/m)
      watch.close()`,
  },
  {
    file: 'src/integrations/undici/either-major.ts',
    has: 'new BalancedDispatcher(',
    comesTo: `
      assert.equal(await response.text(), 'report')
      await dispatcher.close()`,
  },
  { file: 'src/live/feed.ts', has: 'openFeed(', until: /^\d/ },
  {
    file: 'src/meter/meter.ts',
    has: 'meter({ metric:',
    comesTo: `
      assert.equal(await (await answer()).text(), 'handled')
      assert.equal(queue.counters.arrived, 1)`,
  },
  { file: 'src/poller/transport.ts', has: 'functionTransport(', comesTo: 'assert.ok(transport.poll)' },
  {
    file: `${TRANSPORTS}/agent-check.ts`,
    has: 'agentCheckTransport(',
    compiledAlone: true,
  },
  {
    file: `${TRANSPORTS}/http.ts`,
    has: 'httpTransport(',
    comesTo: 'await heard(transport)',
  },
  { file: `${TRANSPORTS}/nats.ts`, has: 'natsTransport(', compiledAlone: true },
  {
    file: `${TRANSPORTS}/node-exporter.ts`,
    has: 'nodeExporterTransport(',
    compiledAlone: true,
  },
  { file: `${TRANSPORTS}/orca.ts`, has: 'orcaTransport(', comesTo: 'await heard(transport)' },
]
