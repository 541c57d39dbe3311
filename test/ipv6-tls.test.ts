import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { createServer as createTlsServer } from 'node:tls'
import { fileURLToPath } from 'node:url'
import * as grpc from '@grpc/grpc-js'
import anyTest, { type ExecutionContext } from 'ava'
import { type Agent, createAgent } from '../dist/agent/index.js'
import { reportTrailer } from '../dist/agent/report-header.js'
import {
  agentCheckTransport,
  createBalancer,
  httpTransport,
  natsTransport,
  nodeExporterTransport,
  orcaTransport,
  type TransportOption,
} from '../dist/index.js'
import { BalancedDispatcher } from '../dist/integrations/undici/index.js'
import { connect, connected, serve, until } from './integrations/grpc/fleet.js'
import { hasNats, NatsServer } from './nats/server.js'
import { STREAM_CORE_METRICS, serviceOf } from './support/grpc.js'

const pem = (name: string) => readFileSync(new URL(`agent/tls/${name}.pem`, import.meta.url), 'utf8')
const server = { key: pem('server-key'), cert: pem('server') }
// The certificate is for localhost and 127.0.0.1, not for ::1.
const tls = { ca: pem('ca'), servername: 'localhost' }

// However busy the machine is that runs this, ms.
const BUSY = 60_000

const has = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'))
const test = has ? anyTest : anyTest.skip
// For policies: what is registered is registered for all.
const serial = has ? anyTest.serial : anyTest.skip

async function agentOf(t: ExecutionContext): Promise<Agent> {
  const agent = await createAgent({
    host: '::1',
    tls: server,
    sampler: () => 37.5,
    sampleInterval: 10,
    grpc: { host: '::1' },
  })
  t.teardown(() => agent.close())
  return agent
}

async function serverOf(t: ExecutionContext): Promise<number> {
  let seconds = 0
  const made = createServer(server, (_, response) => {
    seconds += 0.001
    response.end(`process_cpu_seconds_total ${seconds}\n`)
  })
  made.listen(0, '::1')
  t.teardown(() => made.close())
  await once(made, 'listening')
  return (made.address() as AddressInfo).port
}

/** Reports of a node at ::1 that were stored; its failure where it fails. */
async function poll(t: ExecutionContext, id: string, transport: TransportOption) {
  const balancer = createBalancer({ nodes: [id], poll: { transport, interval: 50, timeout: BUSY } })
  t.teardown(() => balancer.close())
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    const {
      stored = 0,
      heard = 0,
      exit = 0,
      error = 0,
    } = (balancer.stats().poll ?? {}) as Record<string, number>
    const [node] = balancer.snapshot()
    if (stored + heard > 0) return 'heard'
    if (exit + error > 2) return JSON.stringify(node)
  }
}

type Kind = (t: ExecutionContext, options: typeof tls) => Promise<[string, TransportOption]>

const pathOf = (name: string) => fileURLToPath(new URL(`agent/tls/${name}.pem`, import.meta.url))

// Agents publish to it over IPv6 and TLS too.
const nats: Kind = async (t, options) => {
  const config = `tls { cert_file: "${pathOf('server')}", key_file: "${pathOf('server-key')}", timeout: 5 }`
  const { address } = await NatsServer.start(t, config, '::1')
  const agent = await createAgent({
    http: false,
    sampler: () => 37.5,
    sampleInterval: 10,
    nats: { servers: address, id: '[::1]:80', interval: 20, tls },
  })
  t.teardown(() => agent.close())
  return ['[::1]:80', natsTransport({ servers: address, tls: options })]
}

const kinds: Record<string, Kind> = {
  httpTransport: async (t, tls) => {
    const { port } = await agentOf(t)
    return [`[::1]:${port}`, httpTransport({ protocol: 'https', tls })]
  },
  orcaTransport: async (t, tls) => {
    const { grpc } = await agentOf(t)
    return [`[::1]:${grpc?.port}`, orcaTransport({ tls })]
  },
  agentCheckTransport: async (t, tls) => {
    const made = createTlsServer(server, (socket) => socket.on('error', () => {}).end('up ready 40%\n'))
    made.listen(0, '::1')
    t.teardown(() => made.close())
    await once(made, 'listening')
    const { port } = made.address() as AddressInfo
    return ['[::1]:80', agentCheckTransport({ port, tls, weight: 'idle' })]
  },
  ...(hasNats && { natsTransport: nats }),
  nodeExporterTransport: async (t, tls) => {
    const port = await serverOf(t)
    const metric = { kind: 'process', cores: 1 } as const
    return ['::1', nodeExporterTransport({ protocol: 'https', tls, port, metric })]
  },
}

for (const [name, make] of Object.entries(kinds)) {
  test(`${name}: a node at an IPv6 address by TLS, with the name of its certificate`, async (t) => {
    const [id, transport] = await make(t, tls)
    t.is(await poll(t, id, transport), 'heard')
  })

  test(`${name}: a certificate for another name is refused`, async (t) => {
    const [id, transport] = await make(t, { ...tls, servername: 'other.example' })
    t.regex(await poll(t, id, transport), /altnames|other\.example/)
  })
}

test('the node option gives an IPv6 host and a port to a node whose id is a name', async (t) => {
  const { port, grpc } = await agentOf(t)
  const node = (port: number | undefined) => () => ({ host: '::1', port })
  t.is(await poll(t, 'web', httpTransport({ protocol: 'https', tls, node: node(port) })), 'heard')
  t.is(await poll(t, 'web', orcaTransport({ tls, node: node(grpc?.port) })), 'heard')
})

test('the dispatcher: a node at an IPv6 address by TLS, with the name of its certificate', async (t) => {
  const id = `https://[::1]:${await serverOf(t)}`
  await using balancer = createBalancer({ nodes: [id], poll: false })
  const ask = async (connect: object) => {
    const dispatcher = new BalancedDispatcher(balancer, {
      origins: (node) => String(node),
      pool: { connect },
    })
    t.teardown(() => dispatcher.close())
    const { statusCode, body } = await dispatcher.request({ origin: 'http://any', path: '/', method: 'GET' })
    await body.dump()
    return statusCode
  }
  t.is(await ask(tls), 200)
  await t.throwsAsync(ask({ ...tls, servername: 'other.example' }), { message: /altnames/ })
})

test("agentCheckTransport: an agent's plain port at an IPv6 address, in each form of a node's id", async (t) => {
  const agent = await createAgent({
    http: false,
    agentCheck: { host: '::1' },
    sampler: () => 37.5,
    sampleInterval: 10,
  })
  t.teardown(() => agent.close())
  const port = agent.agentCheck?.port ?? 0
  for (const [id, host] of [
    ['::1', undefined],
    ['[::1]', undefined],
    ['[::1]:80', undefined],
    ['web', '::1'],
    ['web', '[::1]'],
  ] as const) {
    const balancer = createBalancer({
      nodes: [id],
      poll: {
        transport: agentCheckTransport({ port, host, weight: 'idle' }),
        startupJitter: 0,
        timeout: BUSY,
      },
    })
    const { answered } = await balancer.ready()
    t.is(answered, 1, id)
    t.is(balancer.snapshot()[0]?.report?.cpu, 37)
    await balancer.close()
  }
  // A percentage of the weight is no reading: the table stores nothing, and the report counts as empty.
  const balancer = createBalancer({
    nodes: ['::1'],
    poll: { transport: agentCheckTransport({ port }), startupJitter: 0, timeout: BUSY },
  })
  t.teardown(() => balancer.close())
  t.deepEqual(await balancer.ready(), { nodes: 1, answered: 1 })
  t.like(balancer.stats().poll, { stored: 0, empty: 1, exit: 0, error: 0 })
  t.is(balancer.snapshot()[0]?.told.weight, 63)
})

for (const policy of ['idlest_weighted_round_robin', 'idlest_adaptive'] as const) {
  serial(`${policy}: a backend at an IPv6 address by TLS, with reports out of band`, async (t) => {
    const one = await serve(t, undefined, {
      host: '[::1]',
      credentials: grpc.ServerCredentials.createSsl(null, [
        { private_key: Buffer.from(server.key), cert_chain: Buffer.from(server.cert) },
      ]),
      add: (server) =>
        server.addService(serviceOf(STREAM_CORE_METRICS, { responseStream: true }), {
          method: (call: grpc.ServerWritableStream<Buffer, Buffer>) => {
            call.write(reportTrailer({ qps: 7, cpu: 50 }))
          },
        }),
    })
    const config = { blackoutPeriod: '0s', enableOobLoadReport: true }
    const credentials = grpc.credentials.createSsl(Buffer.from(tls.ca))
    const named = (name: string) => ({
      credentials,
      channelOptions: { 'grpc.ssl_target_name_override': name },
    })
    const channel = connect(t, policy, config, `ipv6:${one.id}`, named('localhost'))
    await connected(channel, 1)
    t.is(channel.balancer().snapshot()[0]?.id, one.id)
    await until(() => channel.balancer().snapshot()[0]?.report.qps === 7)
    t.deepEqual(await channel.count([one], 3), [3])
    // For another name there is no connection.
    const other = connect(t, policy, config, `ipv6:${one.id}`, named('other.example'))
    t.is((await other.call({ deadline: Date.now() + 3_000 })).code, grpc.status.UNAVAILABLE)
    t.is(one.calls, 3)
  })
}
