// Nodes and dispatchers for tests: real servers on the loopback.
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createSecureServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import type { ExecutionContext } from 'ava'
import { type Balancer, createBalancer, roundRobin } from '../../../dist/index.js'
import {
  BalancedDispatcher,
  type BalancedDispatcherOptions,
} from '../../../dist/integrations/undici/index.js'
import { pem } from '../../agent/support.js'

export interface TestNode {
  readonly id: string
  readonly server: Server
  /** How many requests have come. */
  readonly requests: () => number
  /** Ends it at once, with all connections. */
  readonly kill: () => Promise<void>
}

/** A node that answers so, until the test ends. */
export async function node(t: ExecutionContext, listener: RequestListener, port = 0): Promise<TestNode> {
  let requests = 0
  const server = createServer((request, response) => {
    requests++
    listener(request, response)
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const kill = async () => {
    const closed = server.listening ? once(server, 'close') : undefined
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  t.teardown(kill)
  const id = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { id, server, requests: () => requests, kill }
}

/** A node that answers with its name. */
export const named = (t: ExecutionContext, name: string): Promise<TestNode> =>
  node(t, (_request, response) => response.end(name))

/** A node that speaks HTTP/2 and does this with streams. */
export async function http2Node(t: ExecutionContext, onStream: (stream: ServerHttp2Stream) => void) {
  const server = createSecureServer({ key: pem('server-key'), cert: pem('server') })
  server.on('stream', onStream)
  server.on('sessionError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { id: `127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Options of a dispatcher over such nodes. */
export const overHttp2 = {
  origins: (id: string) => `https://${id}`,
  pool: { connect: { ca: pem('ca') }, allowH2: true },
}

/** A port of the loopback that nobody listens on. */
export async function nobody(t: ExecutionContext): Promise<string> {
  const { id, kill } = await node(t, (_request, response) => response.end())
  await kill()
  return id
}

/** A balancer over these nodes that goes in turn, from the first one. */
export function inTurn(t: ExecutionContext, nodes: readonly string[]): Balancer<string> {
  const balancer = createBalancer({ poll: false, algorithm: roundRobin(), nodes, health: false, seed: 1 })
  t.teardown(() => balancer.close())
  while (balancer.selectIndex() !== nodes.length - 1);
  return balancer
}

/** A dispatcher over these nodes that goes in turn, from the first one. */
export function over(
  t: ExecutionContext,
  nodes: readonly { readonly id: string }[],
  options: BalancedDispatcherOptions<string> = {},
) {
  const ids = nodes.map(({ id }) => id)
  const balancer = inTurn(t, ids)
  const dispatcher = new BalancedDispatcher(balancer, options)
  t.teardown(() => dispatcher.destroy())
  const inFlight = () => balancer.snapshot().map((member) => member.inFlight)
  /** What was told of each node's leases: how many were released, and how many of these failed. */
  const outcomes = () => balancer.snapshot().map(({ released, failed }) => [released, failed])
  return { balancer, dispatcher, inFlight, outcomes }
}

/** A request of no special kind. */
export const get = { path: '/', method: 'GET' } as const
