import test from 'ava'
import { createAgent } from '../../dist/agent/index.js'
import { child, without } from '../support/child.js'

const dist = new URL('../../dist/', import.meta.url)
const index = new URL('index.js', dist)

const LOADED = `
  import { createRequire } from 'node:module'
  const loaded = () => Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes('@grpc'))
`

test('without @grpc/grpc-js all else works, and options that need it are wrong and say what to install', async (t) => {
  const { exit, said } = child(
    t,
    `
    import { createAgent, createBalancer, orcaTransport } from '${index}'
    const balancer = createBalancer({ nodes: ['a'], poll: false })
    console.log(balancer.select())
    console.log(orcaTransport().kind)
    await createAgent({ grpc: {} }).catch((error) => console.log(error.code, error.message))
    `,
    without('@grpc/'),
  )
  t.deepEqual(await exit, [0, null])
  const wants = 'expected the package @grpc/grpc-js, which is not installed: npm install @grpc/grpc-js'
  t.is(said(), `a\norca\nIDLEST_BAD_OPTION option grpc is undefined: ${wants}\n`)
})

test('@grpc/grpc-js is loaded by an agent that serves gRPC, and by nobody else', async (t) => {
  const { exit, said } = child(
    t,
    `
    ${LOADED}
    import { createAgent, createBalancer, orcaService, orcaTransport } from '${index}'
    orcaTransport()
    const agent = await createAgent()
    orcaService(agent)
    createBalancer({ nodes: ['127.0.0.1:1'], poll: { startupJitter: 0, transport: orcaTransport() } })
    await new Promise((resolve) => setTimeout(resolve, 100))
    console.log(loaded())
    const serving = await createAgent({ http: false, grpc: {} })
    console.log(loaded())
    await agent.close()
    await serving.close()
    process.exit()
    `,
  )
  t.deepEqual(await exit, [0, null])
  t.is(said(), 'false\ntrue\n')
})

for (const [where, clock] of [
  ['in the polling thread', ''],
  [
    'on its own thread',
    'clock: { now: () => performance.now(), setTimeout: (...given) => setTimeout(...given).unref(), clearTimeout },',
  ],
] as const) {
  test(`a process that hears an agent ${where} ends by itself when its own work is done`, async (t) => {
    const agent = await createAgent({ http: false, sampler: () => 5, grpc: {} })
    t.teardown(() => agent.close())
    const { exit, said } = child(
      t,
      `
      import { createBalancer, orcaTransport } from '${index}'
      const balancer = createBalancer({
        nodes: ['127.0.0.1:${agent.grpc?.port}'],
        ${clock}
        poll: { transport: orcaTransport({ reportInterval: 100 }), startupJitter: 0, interval: 100, timeout: 30_000 },
      })
      await balancer.ready()
      console.log(balancer.stats().poll.heard > 0)
      `,
    )
    t.deepEqual(await exit, [0, null])
    t.is(said(), 'true\n')
  })
}

test('an agent with unref does not keep its process alive, nor do those who hear it', async (t) => {
  const { exit, said } = child(
    t,
    `
    import { createAgent, createBalancer, orcaTransport } from '${index}'
    const agent = await createAgent({ http: false, sampler: () => 5, grpc: {}, unref: true })
    const balancer = createBalancer({
      nodes: ['127.0.0.1:' + agent.grpc.port],
      poll: { transport: orcaTransport(), startupJitter: 0, timeout: 30_000 },
    })
    await balancer.ready()
    console.log(agent.counters.grpc.sent > 0)
    `,
  )
  t.deepEqual(await exit, [0, null])
  t.is(said(), 'true\n')
})
