// Real servers and clients of gRPC for tests of the policies, on the loopback.
import * as grpc from '@grpc/grpc-js'
import type { ExecutionContext } from 'ava'
import { reportTrailer } from '../../../dist/agent/report-header.js'
import { type Balancer, createTable, type Report } from '../../../dist/index.js'
import {
  type GrpcNode,
  type PolicyName,
  type RegisterOptions,
  registerIdlestPolicies,
} from '../../../dist/integrations/grpc/index.js'
import { VirtualClock } from '../../../dist/simulation/virtual-clock.js'
import { listenGrpc, serviceOf } from '../../support/grpc.js'

const PATH = '/test.Service/Answer'
// So that a busy machine is asked seldom.
const AT_A_TIME = 100

const asIs = (bytes: Buffer): Buffer => bytes

export interface TestServer {
  readonly id: string
  readonly port: number
  readonly server: grpc.Server
  /** Calls so far. */
  calls: number
  /** What it sends in trailers. */
  report: Report | undefined
  /** How it answers; default at once. */
  answer: grpc.handleUnaryCall<Buffer, Buffer> | undefined
  /** Ends it at once, with all connections. */
  kill(): void
}

/** A server that counts calls. */
export async function serve(
  t: ExecutionContext,
  report?: Report,
  {
    host = '127.0.0.1',
    port = 0,
    credentials = grpc.ServerCredentials.createInsecure(),
    add = (_server: grpc.Server) => {},
  } = {},
): Promise<TestServer> {
  const server = new grpc.Server()
  add(server)
  server.addService(serviceOf(PATH), {
    method: (call: grpc.ServerUnaryCall<Buffer, Buffer>, done: grpc.sendUnaryData<Buffer>) => {
      it.calls++
      if (it.answer !== undefined) return it.answer(call, done)
      const trailer = new grpc.Metadata()
      if (it.report !== undefined) trailer.set('endpoint-load-metrics-bin', reportTrailer(it.report))
      done(null, Buffer.from('fine'), trailer)
    },
  })
  const bound = await listenGrpc(t, server, { host, port, credentials })
  const it: TestServer = {
    id: `${host}:${bound}`,
    port: bound,
    server,
    calls: 0,
    report,
    answer: undefined,
    kill: () => server.forceShutdown(),
  }
  return it
}

export interface TestChannel {
  readonly client: grpc.Client
  readonly clock: VirtualClock
  /** The balancers that the channel has had. */
  readonly balancers: Balancer<GrpcNode>[]
  readonly balancer: () => Balancer<GrpcNode>
  /** One call; its status. */
  call(options?: grpc.CallOptions): Promise<grpc.StatusObject>
  /** So many calls, some at a time; how many went to each server. */
  count(servers: readonly TestServer[], calls: number): Promise<number[]>
}

/** A real client of these servers, whose balancers are in virtual time. */
export function connect(
  t: ExecutionContext,
  policy: PolicyName,
  config: object,
  target: readonly TestServer[] | string,
  {
    credentials = grpc.credentials.createInsecure(),
    channelOptions = {},
    balancer = {},
    retries = false,
    ...rest
  }: RegisterOptions & {
    credentials?: grpc.ChannelCredentials
    /** Whether grpc-js sends calls again by itself. */
    retries?: boolean
    channelOptions?: grpc.ChannelOptions
  } = {},
): TestChannel {
  const clock = new VirtualClock(1_000)
  const balancers: Balancer<GrpcNode>[] = []
  registerIdlestPolicies(grpc, {
    ...rest,
    // Each report is read at once.
    balancer: { table: createTable({ clock }), seed: 3, coalesce: 0, ...balancer },
    onBalancer: (its) => balancers.push(its),
  })
  const address = typeof target === 'string' ? target : `ipv4:${target.map(({ id }) => id).join(',')}`
  const client = new grpc.Client(address, credentials, {
    'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ [policy]: config }] }),
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_retries': retries ? 1 : 0,
    'grpc.initial_reconnect_backoff_ms': 100,
    ...channelOptions,
  })
  t.teardown(() => client.close())
  const call = (options: grpc.CallOptions = {}) =>
    new Promise<grpc.StatusObject>((resolve) => {
      const made = client.makeUnaryRequest(PATH, asIs, asIs, Buffer.from('ask'), options, () => {})
      made.on('status', resolve)
    })
  return {
    client,
    clock,
    balancers,
    balancer: () => balancers.at(-1) as Balancer<GrpcNode>,
    call,
    async count(servers, calls) {
      const before = servers.map((server) => server.calls)
      for (let left = calls; left > 0; left -= AT_A_TIME) {
        await Promise.all(Array.from({ length: Math.min(left, AT_A_TIME) }, () => call()))
      }
      return servers.map((server, i) => server.calls - (before[i] as number))
    },
  }
}

/** Waits until all of these are connected to. */
export async function connected(channel: TestChannel, count: number): Promise<void> {
  channel.client.getChannel().getConnectivityState(true)
  await until(() => channel.balancers.at(-1)?.nodes.length === count)
}

/** Waits for what comes in its own time. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1))
}
