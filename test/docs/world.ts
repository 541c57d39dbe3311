// What the examples have around them: the addresses that they name lead to these.
import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as grpc from '@grpc/grpc-js'
import type { ExecutionContext } from 'ava'
import { type Agent, createAgent, createBalancer, grpcInterceptor } from '../../dist/index.js'
import { hasNats, NatsServer } from '../nats/server.js'

export const TOKEN = 'a-token'

/** Servers on the loopback, of which the examples' are copies. */
export interface World {
  /** The services of nodes 1 to 3. */
  readonly nodes: readonly string[]
  /** Ports of an agent, which all nodes share. */
  readonly agentPort: number
  readonly agentCheckPort: number
  /** Of an agent whose clients need a certificate. */
  readonly tlsAgentPort: number
  /** Where the agent tells its report by gRPC. */
  readonly grpcPort: number
  /** Of a service of gRPC, by two ports. */
  readonly servicePorts: readonly number[]
  /** Where nobody listens. */
  readonly freePort: number
  /** Where a balancer shows itself. */
  readonly live: string
  /** Undefined where there is no nats-server. */
  readonly nats: string | undefined
}

async function service(t: ExecutionContext): Promise<string> {
  const server: Server = createServer((_, response) => {
    response.setHeader('endpoint-load-metrics', 'TEXT cpu_utilization=0.375')
    response.end('report')
  })
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const CERTIFICATES = fileURLToPath(new URL('../agent/tls/', import.meta.url))

async function startTlsAgent(t: ExecutionContext): Promise<Agent> {
  const pem = (name: string) => readFileSync(`${CERTIFICATES}${name}.pem`)
  const tls = { key: pem('server-key'), cert: pem('server'), ca: pem('ca'), requestCert: true }
  const agent = await createAgent({ tls, sampler: () => 37.5 })
  t.teardown(() => agent.close())
  return agent
}

const asBytes = (value: Buffer) => value

/** Sums that are always empty. */
const ADD: grpc.MethodDefinition<Buffer, Buffer> = {
  path: '/Sums/Add',
  requestStream: false,
  responseStream: false,
  requestSerialize: asBytes,
  requestDeserialize: asBytes,
  responseSerialize: asBytes,
  responseDeserialize: asBytes,
}

async function startSums(t: ExecutionContext, agent: Agent): Promise<number[]> {
  const server = new grpc.Server({ interceptors: [grpcInterceptor(agent, grpc)] })
  server.addService(
    { add: ADD },
    { add: (_: unknown, reply: grpc.sendUnaryData<Buffer>) => reply(null, Buffer.alloc(0)) },
  )
  t.teardown(() => server.forceShutdown())
  const bind = () =>
    new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => {
        if (error === null) resolve(port)
        else reject(error)
      })
    })
  return Promise.all([bind(), bind()])
}

async function freePort(): Promise<number> {
  const server = createTcpServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts all of them, until the test ends. */
export async function startWorld(t: ExecutionContext): Promise<World> {
  const nodes = await Promise.all([service(t), service(t), service(t)])
  const nats = hasNats ? await NatsServer.start(t, `authorization { token: "${TOKEN}" }`) : undefined
  const agent = await createAgent({
    token: TOKEN,
    grpc: {},
    agentCheck: {},
    sampler: () => 37.5,
    ...(nats === undefined ? {} : { nats: { servers: nats.address, id: nodes[0] as string, token: TOKEN } }),
  })
  t.teardown(() => agent.close())
  return {
    nodes,
    agentPort: agent.port,
    agentCheckPort: agent.agentCheck?.port ?? 0,
    tlsAgentPort: (await startTlsAgent(t)).port,
    grpcPort: agent.grpc?.port ?? 0,
    servicePorts: await startSums(t, agent),
    freePort: await freePort(),
    live: await startLive(t, nodes),
    nats: nats?.address,
  }
}

/** Has a balancer of these nodes show itself, until the test ends; gives where, without a slash at the end. */
export async function startLive(t: ExecutionContext, nodes: readonly string[]): Promise<string> {
  const balancer = createBalancer({ name: 'shown', nodes, poll: false })
  t.teardown(() => balancer.close())
  const { url } = await balancer.serve({ interval: 100 })
  return url.replace(/\/$/, '')
}

/** An example's text, with its addresses replaced by those of this world: what listens does so on any port. */
export function inWorld(text: string, world: World): string {
  const { nodes, live, nats = 'nats', servicePorts } = world
  return text
    .replaceAll('http://127.0.0.1:9090', live)
    .replace(/10\.0\.0\.([123]):8080/g, (_, number: string) => nodes[Number(number) - 1] ?? '')
    .replace(
      /10\.0\.0\.([12]):50051/g,
      (_, number: string) => `127.0.0.1:${servicePorts[Number(number) - 1]}`,
    )
    .replaceAll('0.0.0.0:50051', `127.0.0.1:${world.freePort}`)
    .replaceAll('nats.example', nats)
    .replaceAll('/dev/shm/my-service', join(mkdtempSync(join(tmpdir(), 'idlest-docs-')), 'table'))
    .replaceAll('/etc/idlest/', CERTIFICATES)
    .replace(/10\.0\.0\.\d+|(?<=host: ')0\.0\.0\.0/g, '127.0.0.1')
    .replace(/(\bhttpTransport\(\{ port: )\d+/g, `$1${world.agentPort}`)
    .replace(/(\bhttpTransport\(\{ protocol: 'https', port: )\d+/g, `$1${world.tlsAgentPort}`)
    .replace(/(\bagentCheckTransport\(\{ port: )\d+/g, `$1${world.agentCheckPort}`)
    .replace(/(\borcaTransport\(\{ port: )\d+/g, `$1${world.grpcPort}`)
    .replace(/(?<!Transport\(\{ |'https', |hostname: '[^']*', )(\bport: )\d+/g, '$10')
    .replace(/\.listen\(\d+\)/g, ".listen(0, '127.0.0.1')")
}
