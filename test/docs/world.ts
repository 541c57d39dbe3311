// What the examples have around them: the addresses that they name lead to these.
import { mkdtempSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { createAgent, createBalancer } from '../../dist/index.js'
import { hasNats, NatsServer } from '../nats/server.js'

export const TOKEN = 'a-token'

/** Servers on the loopback, of which the examples' are copies. */
export interface World {
  /** The services of nodes 1 to 3. */
  readonly nodes: readonly string[]
  /** Ports of an agent, which all nodes share. */
  readonly agentPort: number
  readonly grpcPort: number
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

/** Starts all of them, until the test ends. */
export async function startWorld(t: ExecutionContext): Promise<World> {
  const nodes = await Promise.all([service(t), service(t), service(t)])
  const nats = hasNats ? await NatsServer.start(t, `authorization { token: "${TOKEN}" }`) : undefined
  const agent = await createAgent({
    token: TOKEN,
    grpc: {},
    sampler: () => 37.5,
    ...(nats === undefined ? {} : { nats: { servers: nats.address, id: nodes[0] as string, token: TOKEN } }),
  })
  t.teardown(() => agent.close())
  return {
    nodes,
    agentPort: agent.port,
    grpcPort: agent.grpc?.port ?? 0,
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
export function inWorld(text: string, { nodes, agentPort, grpcPort, live, nats = 'nats' }: World): string {
  return text
    .replaceAll('http://127.0.0.1:9090', live)
    .replace(/10\.0\.0\.([123]):8080/g, (_, number: string) => nodes[Number(number) - 1] ?? '')
    .replaceAll('nats.example', nats)
    .replaceAll('/dev/shm/my-service', join(mkdtempSync(join(tmpdir(), 'idlest-docs-')), 'table'))
    .replace(/10\.0\.0\.\d+/g, '127.0.0.1')
    .replace(/(\bhttpTransport\(\{ port: )\d+/g, `$1${agentPort}`)
    .replace(/(\borcaTransport\(\{ port: )\d+/g, `$1${grpcPort}`)
    .replace(/(?<!Transport\(\{ |hostname: '[^']*', )(\bport: )\d+/g, '$10')
    .replace(/\.listen\(\d+\)/g, ".listen(0, '127.0.0.1')")
}
