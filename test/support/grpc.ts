// Clients and servers of gRPC for tests, written against @grpc/grpc-js and the wire alone.
import * as grpc from '@grpc/grpc-js'
import type { ExecutionContext } from 'ava'
import { type AgentOptions, createAgent } from '../../dist/agent/index.js'
import type { Report } from '../../dist/report.js'
import { readOrcaBinary } from '../../dist/reports/orca-binary.js'
import { writeOrcaRequest } from '../../dist/reports/orca-request.js'

export const STREAM_CORE_METRICS = '/xds.service.orca.v3.OpenRcaService/StreamCoreMetrics'

const asIs = (bytes: Buffer): Buffer => bytes

/** A service of one method, whose messages are bytes. */
export function serviceOf(path: string, { requestStream = false, responseStream = false } = {}) {
  return {
    method: {
      path,
      requestStream,
      responseStream,
      requestSerialize: asIs,
      requestDeserialize: asIs,
      responseSerialize: asIs,
      responseDeserialize: asIs,
    },
  }
}

/** Has a server listen on a port of the loopback, until the test ends. */
export function listenGrpc(
  t: ExecutionContext,
  server: grpc.Server,
  { host = '127.0.0.1', port = 0, credentials = grpc.ServerCredentials.createInsecure() } = {},
): Promise<number> {
  t.teardown(() => server.forceShutdown())
  return new Promise((resolve, reject) => {
    server.bindAsync(`${host}:${port}`, credentials, (error, bound) => {
      if (error === null) resolve(bound)
      else reject(error)
    })
  })
}

/** What a server does with a stream of reports. */
export type TellReports = (call: grpc.ServerWritableStream<Buffer, Buffer>) => void

/** A plain server that tells reports as the test says. */
export async function serveReports(
  t: ExecutionContext,
  tell: TellReports,
  options: { port?: number; credentials?: grpc.ServerCredentials } = {},
): Promise<{ server: grpc.Server; port: number }> {
  const server = new grpc.Server()
  server.addService(serviceOf(STREAM_CORE_METRICS, { responseStream: true }), { method: tell })
  return { server, port: await listenGrpc(t, server, options) }
}

/** A client that is closed when the test ends. */
export function clientOf(
  t: ExecutionContext,
  port: number,
  credentials = grpc.credentials.createInsecure(),
): grpc.Client {
  const client = new grpc.Client(`127.0.0.1:${port}`, credentials, {
    'grpc.use_local_subchannel_pool': 1,
    // The library asks TLS for the target by its name, which from Node.js 26 on may be no address.
    'grpc.ssl_target_name_override': 'localhost',
  })
  t.teardown(() => client.close())
  return client
}

/** An agent that tells by gRPC alone: 37.5 % of CPU, sampled each 20 ms and told as often as it is asked to. */
export async function startGrpcAgent(t: ExecutionContext, options: AgentOptions = {}) {
  const agent = await createAgent({
    http: false,
    grpc: { minInterval: 20 },
    sampler: () => 37.5,
    sampleInterval: 20,
    ...options,
  })
  t.teardown(() => agent.close())
  return { agent, port: agent.grpc?.port ?? 0 }
}

export interface OrcaClientOptions {
  /** ms. */
  readonly interval?: number
  /** The request, where it is not one for the interval. */
  readonly request?: Buffer
  readonly authorization?: string
  readonly client?: grpc.Client
}

/** Calls the out-of-band service as any client does. */
export function callOrca(t: ExecutionContext, port: number, options: OrcaClientOptions = {}) {
  const { interval = 0, request = Buffer.from(writeOrcaRequest({ interval })), authorization } = options
  const { client = clientOf(t, port) } = options
  const metadata = new grpc.Metadata()
  if (authorization !== undefined) metadata.set('authorization', authorization)
  const call = client.makeServerStreamRequest(STREAM_CORE_METRICS, asIs, asIs, request, metadata)
  const reports: Report[] = []
  call.on('data', (bytes: Buffer) => reports.push(readOrcaBinary(bytes)))
  call.on('error', () => {})
  t.teardown(() => call.cancel())
  const ended = new Promise<grpc.StatusObject>((resolve) => call.on('status', resolve))
  return { call, client, reports, ended }
}
