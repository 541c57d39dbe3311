import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import anyTest, { type ExecutionContext } from 'ava'
import { type Agent, createAgent } from '../dist/agent/index.js'
import {
  createBalancer,
  httpTransport,
  nodeExporterTransport,
  orcaTransport,
  type TransportOption,
} from '../dist/index.js'
import { BalancedDispatcher } from '../dist/integrations/undici/index.js'

const pem = (name: string) => readFileSync(new URL(`agent/tls/${name}.pem`, import.meta.url), 'utf8')
const server = { key: pem('server-key'), cert: pem('server') }
// The certificate is for localhost and 127.0.0.1, not for ::1.
const tls = { ca: pem('ca'), servername: 'localhost' }

const has = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'))
const test = has ? anyTest : anyTest.skip

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
  const balancer = createBalancer({ nodes: [id], poll: { transport, interval: 50 } })
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

const kinds: Record<
  string,
  (t: ExecutionContext, options: typeof tls) => Promise<[string, TransportOption]>
> = {
  httpTransport: async (t, tls) => {
    const { port } = await agentOf(t)
    return [`[::1]:${port}`, httpTransport({ protocol: 'https', tls })]
  },
  orcaTransport: async (t, tls) => {
    const { grpc } = await agentOf(t)
    return [`[::1]:${grpc?.port}`, orcaTransport({ tls })]
  },
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
