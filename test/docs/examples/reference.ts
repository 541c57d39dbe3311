import type { Example } from '../examples.js'

const AGENT = '.github/docs/agent.md'
const BALANCER = '.github/docs/balancer.md'
const REPORTS = '.github/docs/reports.md'

export const reference: readonly Example[] = [
  {
    file: REPORTS,
    has: 'createAgent({ http: false, grpc:',
    comesTo: 'await heard(orcaTransport({ port: agent.grpc?.port ?? 0, token }))',
  },
  {
    file: REPORTS,
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
    file: REPORTS,
    has: 'orcaTransport({ port: 9001',
    comesTo: `
      await until(() => balancer.stats().inBand.stored === 1)
      await until(() => balancer.snapshot().every(({ fresh }) => fresh))`,
  },
  {
    file: REPORTS,
    has: 'createAgent({ http: false, nats:',
    needs: 'nats-server',
    comesTo: "await heard(natsTransport({ servers: 'nats.example', token }), '10.0.0.1:8080')",
  },
  {
    file: REPORTS,
    has: 'natsTransport({',
    needs: 'nats-server',
    comesTo: 'await until(() => balancer.snapshot()[0]?.fresh === true)',
  },
  {
    file: REPORTS,
    has: 'balancer.observe(node, response.headers)',
    comesTo: `
      assert.equal(balancer.stats().inBand.stored, 1)
      assert.equal(balancer.snapshot()[0]?.cpu, 37.5)`,
  },
  {
    file: BALANCER,
    has: 'const queue = meter()',
    comesTo: `
      assert.equal(await (await answer()).text(), 'handled')
      assert.equal(queue.counters.arrived, 1)`,
  },
  {
    file: BALANCER,
    has: "meter('worker-3')",
    inThread: true,
    comesTo: `
      await until(() => worked.length > 0)
      assert.deepEqual(worked, ['job 1'])
      await until(() => queue.counters.recorded === 1)`,
  },
  {
    file: AGENT,
    has: 'utilization: ({ cpu, eventLoop = 0, memory = 0 })',
  },
  {
    file: AGENT,
    has: 'app.use(expressMiddleware(agent))',
    comesTo: `
      app.get('/', (_, response) => { response.send('served') })
      app.listen(0, '127.0.0.1')
      await until(() => agent.report() !== undefined)
      const served = await answer({ 'endpoint-load-metrics-format': 'TEXT' })
      assert.match(served.headers.get('endpoint-load-metrics') ?? '', /^TEXT .*cpu_utilization=/)
      assert.equal(await served.text(), 'served')`,
  },
]
