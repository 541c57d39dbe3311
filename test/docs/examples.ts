// What each example should come to. A new one belongs here: the tests refuse those that nobody thought of.
import type { Block } from './blocks.js'

/** An example in TypeScript or JavaScript. */
export interface Example {
  readonly file: string
  /** A text that this example of the file has, and no other. */
  readonly has: string
  /** What is done after it, and asserted of what it has made: TypeScript in the example's own scope. */
  readonly comesTo?: string
  /** It is written for a worker thread. */
  readonly inThread?: true
  /** It goes on for ever: what it says once it does what it should. */
  readonly until?: RegExp
  /** It needs a program that not every machine has. */
  readonly needs?: 'nats-server' | 'native'
}

const SEE_IT = '.github/docs/see-it.md'
const PLUG_IN = '.github/docs/plug-in.md'

export const examples: readonly Example[] = [
  {
    file: 'README.md',
    has: "createAgent({ host: '10.0.0.1', port: 9000, token",
  },
  {
    file: 'README.md',
    has: 'httpTransport({ port: 9000',
    comesTo: `
      assert.equal(text, 'report')
      for (const one of [node, other]) assert.ok(nodes.includes(one))
      await until(() => balancer.snapshot().every(({ fresh, cpu }) => fresh && cpu === 37.5))
      assert.equal(balancer.stats().leases.released, 1)`,
  },
  {
    file: 'README.md',
    has: 'createAgent({ http: false, grpc:',
    comesTo: 'await heard(orcaTransport({ port: agent.grpc?.port ?? 0, token }))',
  },
  {
    file: 'README.md',
    has: 'new grpc.Server(',
    comesTo: `
      const port = await new Promise<number>((resolve, reject) => {
        server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) => {
          if (error === null) resolve(bound)
          else reject(error)
        })
      })
      await heard(orcaTransport({ port, token, reportInterval: 1_000 }))
      close()
      await new Promise<void>((resolve) => server.tryShutdown(() => resolve()))`,
  },
  {
    file: 'README.md',
    has: 'orcaTransport({ port: 9001',
    comesTo: `
      await until(() => balancer.stats().inBand.stored === 1)
      await until(() => balancer.snapshot().every(({ fresh }) => fresh))`,
  },
  {
    file: 'README.md',
    has: 'createAgent({ http: false, nats:',
    needs: 'nats-server',
    comesTo: "await heard(natsTransport({ servers: 'nats.example', token }), '10.0.0.1:8080')",
  },
  {
    file: 'README.md',
    has: 'natsTransport({',
    needs: 'nats-server',
    comesTo: 'await until(() => balancer.snapshot()[0]?.fresh === true)',
  },
  {
    file: 'README.md',
    has: 'balancer.observe(node, response.headers)',
    comesTo: `
      assert.equal(balancer.stats().inBand.stored, 1)
      assert.equal(balancer.snapshot()[0]?.cpu, 37.5)`,
  },
  {
    file: 'README.md',
    has: 'const queue = meter()',
    comesTo: `
      assert.equal(await (await answer()).text(), 'handled')
      assert.equal(queue.counters.arrived, 1)`,
  },
  {
    file: 'README.md',
    has: "meter('worker-3')",
    inThread: true,
    comesTo: `
      await until(() => worked.length > 0)
      assert.deepEqual(worked, ['job 1'])
      await until(() => queue.counters.recorded === 1)`,
  },
  {
    file: 'README.md',
    has: 'utilization: ({ cpu, eventLoop = 0, memory = 0 })',
  },
  {
    file: 'README.md',
    has: 'app.use(expressMiddleware(agent))',
    comesTo: `
      app.get('/', (_, response) => { response.send('served') })
      app.listen(0, '127.0.0.1')
      await until(() => agent.report() !== undefined)
      const served = await answer({ 'endpoint-load-metrics-format': 'TEXT' })
      assert.match(served.headers.get('endpoint-load-metrics') ?? '', /^TEXT .*cpu_utilization=/)
      assert.equal(await served.text(), 'served')`,
  },
  {
    file: SEE_IT,
    has: 'estimateFleet({',
    comesTo: `
      assert.equal(planned, Math.ceil(planned))
      assert.ok(load > 0 && load < 1)
      assert.ok(equalShare > bySpareCapacity)
      assert.ok(steps.length > 5)`,
  },
  {
    file: SEE_IT,
    has: 'balancer.serve({ port: 9090 })',
    comesTo: "assert.equal((await fetch(new URL('snapshot', url))).status, 200)",
  },
  {
    file: SEE_IT,
    has: 'openFeed(',
    until: /^\d+(\.\d+)? \[/m,
  },
  {
    file: PLUG_IN,
    has: 'new BalancedDispatcher(',
    comesTo: `
      assert.equal(await response.text(), 'report')
      assert.equal(dispatcher.stats.requests, 1)
      assert.equal(balancer.stats().leases.released, 1)
      await dispatcher.close()`,
  },
  {
    file: PLUG_IN,
    has: 'registerIdlestPolicies()',
    comesTo: `
      assert.ok(grpc.experimental.isLoadBalancerNameRegistered('idlest_weighted_round_robin'))
      assert.ok(grpc.experimental.isLoadBalancerNameRegistered('idlest_adaptive'))
      client.close()`,
  },
  {
    file: PLUG_IN,
    has: 'dnsDiscovery({ hostname',
    comesTo: `
      assert.deepEqual(balancer.nodes, [])
      await balancer.close()`,
  },
  {
    file: PLUG_IN,
    has: 'createTable({ file:',
    needs: 'native',
    comesTo: `
      await until(() => balancer.stats().poll?.elected?.here === true)
      await balancer.close()`,
  },
  {
    file: PLUG_IN,
    has: 'balancer.explain(',
    comesTo: 'assert.equal(balancer.explain()[0]?.mayBePicked, true)',
  },
  {
    file: PLUG_IN,
    has: "from 'idlest/prometheus'",
    comesTo: 'assert.match(page, /^idlest_pool_size\\{.*state=.up.*\\} \\d$/m)',
  },
  {
    file: PLUG_IN,
    has: "from 'idlest/opentelemetry'",
  },
]

/** The one example for a block, or why there is none. */
export function exampleOf({ file, text }: Block): Example | string {
  const found = examples.filter((one) => one.file === file && text.includes(one.has))
  const [only] = found
  if (only === undefined) return 'no test knows it: say in test/docs/examples.ts what it should come to'
  return found.length === 1 ? only : `is taken for several: ${found.map(({ has }) => has).join('; ')}`
}
