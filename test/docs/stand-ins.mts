// What the examples name and do not have: compiled and loaded beside them, with the package by its name.
import assert from 'node:assert/strict'
import nodeHttp from 'node:http'
import type { AddressInfo } from 'node:net'
import { workerData as data, type MessagePort, parentPort as port } from 'node:worker_threads'
import type * as grpcPackage from '@grpc/grpc-js'
import type { Express } from 'express'
import {
  type Agent,
  type Balancer,
  type BalancerHandle,
  createAgent,
  createBalancer,
  grpcInterceptor,
  type TransportOption,
} from 'idlest'

/** As a client is that was made of a service's definition. */
interface AddClient {
  add(request: { readonly a: number }, callback: () => void): grpcPackage.ClientUnaryCall
}

declare global {
  var token: string
  var nodes: readonly string[]
  var node: string
  var agent: Agent
  var app: Express
  var balancer: Balancer<string>
  var grpc: typeof grpcPackage
  var client: AddClient
  var request: { readonly a: number }
  var http: typeof nodeHttp
  var handle: nodeHttp.RequestListener
  var work: (job: unknown) => void
  var workerData: { readonly handle: BalancerHandle }
  var parentPort: MessagePort | null
}

interface Given {
  readonly token: string
  readonly nodes: readonly string[]
  /** The words of the example: what it does not name is not made. */
  readonly words: readonly string[]
}

const given = JSON.parse(process.env.IDLEST_EXAMPLES ?? '') as Given
const names = (word: string) => given.words.includes(word)

/** The HTTP servers that the example has made. */
export const servers: nodeHttp.Server[] = []
/** What the example had done. */
export const worked: unknown[] = []

/** Resolves once it is so. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** Resolves once a balancer hears this node with this transport. */
export async function heard(transport: TransportOption, id = '127.0.0.1:1'): Promise<void> {
  const balancer = createBalancer({ nodes: [id], poll: { transport, startupJitter: 0, interval: 50 } })
  await until(() => balancer.snapshot()[0]?.fresh === true)
  await balancer.close()
}

/** The answer of the example's first server. */
export async function answer(headers: Record<string, string> = {}): Promise<Response> {
  const [server] = servers
  assert.ok(server, 'no server was made')
  await until(() => server.listening)
  return fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, { headers })
}

async function addClient(of: Agent, grpcPackage: typeof globalThis.grpc): Promise<AddClient> {
  const bytes = (value: Buffer) => value
  const method = {
    path: '/Sums/Add',
    requestStream: false as const,
    responseStream: false as const,
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  }
  const server = new grpcPackage.Server({ interceptors: [grpcInterceptor(of, grpcPackage)] })
  server.addService(
    { add: method },
    {
      add: (_: unknown, reply: grpcPackage.sendUnaryData<Buffer>) => reply(null, Buffer.alloc(0)),
    },
  )
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', grpcPackage.ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound)
      else reject(error)
    })
  })
  const stub = new grpcPackage.Client(`127.0.0.1:${bound}`, grpcPackage.credentials.createInsecure())
  return {
    add: (_, callback) => stub.makeUnaryRequest(method.path, bytes, bytes, Buffer.alloc(0), callback),
  }
}

globalThis.token = given.token
globalThis.nodes = given.nodes
globalThis.node = given.nodes[0] ?? ''
const callsGrpc = names('client') && names('add')
const hasAgent = names('agent') || callsGrpc
if (hasAgent) globalThis.agent = await createAgent({ sampler: () => 37.5, sampleInterval: 20, unref: true })
if (names('balancer')) globalThis.balancer = createBalancer({ nodes: given.nodes, poll: false })
if (names('grpc') || callsGrpc) globalThis.grpc = await import('@grpc/grpc-js')
if (callsGrpc) globalThis.client = await addClient(globalThis.agent, globalThis.grpc)
if (names('app')) globalThis.app = (await import('express')).default()
globalThis.request = { a: 1 }
const createServer = nodeHttp.createServer
// Also those of Express: its `listen` goes by this.
nodeHttp.createServer = ((...args: Parameters<typeof createServer>) => {
  const server = createServer(...args)
  servers.push(server)
  return server
}) as typeof createServer
globalThis.http = nodeHttp
globalThis.handle = (_, response) => {
  response.end('handled')
}
globalThis.work = (job) => {
  worked.push(job)
}
globalThis.workerData = data
globalThis.parentPort = port
if (hasAgent) await until(() => globalThis.agent.report() !== undefined)
