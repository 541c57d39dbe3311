import * as grpc from '@grpc/grpc-js'
import test, { type ExecutionContext } from 'ava'
import {
  createAgent,
  type GrpcInterceptorOptions,
  grpcInterceptor,
  orcaService,
} from '../../../dist/agent/index.js'
import { OptionError } from '../../../dist/errors.js'
import { createBalancer } from '../../../dist/index.js'
import { readOrcaBinary } from '../../../dist/reports/orca-binary.js'
import { callOrca, clientOf, listenGrpc, serviceOf } from '../../support/grpc.js'
import { kept } from '../../support/kept.js'
import { until } from '../support.js'
import { fakeAgent } from './support.js'

const TRAILER = 'endpoint-load-metrics-bin'
const UNARY = '/shop.Carts/Add'
const DOWN = '/shop.Carts/Watch'
const UP = '/shop.Carts/Load'
const BOTH = '/shop.Carts/Talk'
const NOTHING = Buffer.alloc(0)
const asIs = (bytes: Buffer): Buffer => bytes

type Unary = grpc.handleUnaryCall<Buffer, Buffer>
type Down = grpc.handleServerStreamingCall<Buffer, Buffer>
type Up = grpc.handleClientStreamingCall<Buffer, Buffer>
type Both = grpc.handleBidiStreamingCall<Buffer, Buffer>

interface Handlers {
  readonly unary?: Unary
  readonly down?: Down
  readonly up?: Up
  readonly both?: Both
}

type Options = GrpcInterceptorOptions<grpc.ServerInterceptingCallInterface>

/** A server with the interceptor, and a client of it. */
async function serve(t: ExecutionContext, handlers: Handlers, options?: Options) {
  const fake = fakeAgent()
  const server = new grpc.Server({ interceptors: [grpcInterceptor(fake.agent, grpc, options)] })
  const { unary, down, up, both } = handlers
  if (unary) server.addService(serviceOf(UNARY), { method: unary })
  if (down) server.addService(serviceOf(DOWN, { responseStream: true }), { method: down })
  if (up) server.addService(serviceOf(UP, { requestStream: true }), { method: up })
  if (both)
    server.addService(serviceOf(BOTH, { requestStream: true, responseStream: true }), { method: both })
  const client = clientOf(t, await listenGrpc(t, server))
  return { ...fake, counters: fake.agent.traffic.counters, server, client }
}

/** Calls a method and gives its status, whose metadata are the trailers. */
function call(client: grpc.Client, path = UNARY, options: grpc.CallOptions = {}): Promise<grpc.StatusObject> {
  return new Promise((resolve) => {
    const made = client.makeUnaryRequest(path, asIs, asIs, NOTHING, new grpc.Metadata(), options, () => {})
    made.on('status', resolve)
  })
}

function statusOf(stream: { on(event: 'status', listener: (status: grpc.StatusObject) => void): unknown }) {
  return new Promise<grpc.StatusObject>((resolve) => stream.on('status', resolve))
}

function reportsIn({ metadata }: grpc.StatusObject) {
  return metadata.get(TRAILER).map((bytes) => readOrcaBinary(bytes as Buffer))
}

const answering: Unary = (_, done) => done(null, NOTHING)

test('a unary call takes the report along as a trailer, and counts', async (t) => {
  const { client, counters, agent } = await serve(t, { unary: answering })
  const status = await call(client)
  t.is(status.code, grpc.status.OK)
  t.deepEqual(reportsIn(status), [{ cpu: 37.5, inFlight: 0 }])
  t.like(counters, { begun: 1, ended: 1, failed: 0, reports: 1, withoutReport: 0 })
  t.is(agent.traffic.inFlight, 0)
})

test('a call is in flight until its handler is done', async (t) => {
  let finish: (() => void) | undefined
  const { client, counters, agent } = await serve(t, {
    unary: (_, done) => {
      finish = () => done(null, NOTHING)
    },
  })
  const slow = call(client)
  await until(() => finish !== undefined)
  t.is(agent.traffic.inFlight, 1)
  finish?.()
  await slow
  t.deepEqual([counters.begun, counters.ended], [1, 1])
})

for (const code of [grpc.status.NOT_FOUND, grpc.status.INTERNAL, grpc.status.UNAVAILABLE]) {
  test(`a call that ends as ${grpc.status[code]} failed; the report goes along all the same`, async (t) => {
    const { client, counters } = await serve(t, { unary: (_, done) => done({ code, details: 'sorry' }) })
    const status = await call(client)
    t.deepEqual([status.code, status.details], [code, 'sorry'])
    t.is(reportsIn(status).length, 1)
    t.like(counters, { begun: 1, ended: 1, failed: 1 })
  })
}

test('a handler that throws has failed', async (t) => {
  const { client, counters } = await serve(t, {
    unary: () => {
      throw new Error('oh')
    },
  })
  t.is((await call(client)).code, grpc.status.UNKNOWN)
  t.like(counters, { begun: 1, ended: 1, failed: 1 })
})

test('streams of each kind count once, and have one report at their end', async (t) => {
  const { client, counters } = await serve(t, {
    down: (stream) => {
      for (let i = 0; i < 5; i++) stream.write(NOTHING)
      stream.end()
    },
    up: (stream, done) => {
      stream.on('data', () => {})
      stream.on('end', () => done(null, NOTHING))
    },
    both: (stream) => {
      stream.on('data', (bytes) => stream.write(bytes))
      stream.on('end', () => stream.end())
    },
  })
  const down = client.makeServerStreamRequest(DOWN, asIs, asIs, NOTHING)
  let messages = 0
  down.on('data', () => messages++)
  t.is(reportsIn(await statusOf(down)).length, 1)
  t.is(messages, 5)

  const up = client.makeClientStreamRequest(UP, asIs, asIs, () => {})
  for (let i = 0; i < 5; i++) up.write(NOTHING)
  up.end()
  t.is(reportsIn(await statusOf(up)).length, 1)

  const both = client.makeBidiStreamRequest(BOTH, asIs, asIs)
  both.on('data', () => {})
  both.write(NOTHING)
  both.end()
  t.is(reportsIn(await statusOf(both)).length, 1)
  t.like(counters, { begun: 3, ended: 3, failed: 0, reports: 3 })
})

test('a call that the client cancels counts once, and did not fail; what its handler still does changes nothing', async (t) => {
  let late: (() => void) | undefined
  const { client, counters } = await serve(t, {
    unary: (_, done) => {
      late = () => done({ code: grpc.status.INTERNAL, details: 'late' })
    },
  })
  const made = client.makeUnaryRequest(UNARY, asIs, asIs, NOTHING, () => {})
  await until(() => late !== undefined)
  made.cancel()
  await until(() => counters.ended === 1)
  late?.()
  await call(client, '/a.B/C')
  t.like(counters, { begun: 1, ended: 1, failed: 0 })
})

test('a stream whose client is gone has ended', async (t) => {
  let begun = false
  const { client, counters } = await serve(t, {
    down: (stream) => {
      begun = true
      stream.write(NOTHING)
    },
  })
  const stream = client.makeServerStreamRequest(DOWN, asIs, asIs, NOTHING)
  stream.on('data', () => {})
  stream.on('error', () => {})
  await until(() => begun)
  stream.cancel()
  client.close()
  await until(() => counters.ended === 1)
  t.is(counters.failed, 0)
})

test('a call whose deadline passes failed', async (t) => {
  const { client, counters } = await serve(t, { unary: () => {} })
  const metadata = new grpc.Metadata()
  // As any client says it, but for giving up at the same time.
  metadata.set('grpc-timeout', '100m')
  const made = client.makeUnaryRequest(UNARY, asIs, asIs, NOTHING, metadata, () => {})
  t.is((await statusOf(made)).code, grpc.status.DEADLINE_EXCEEDED)
  await until(() => counters.ended === 1)
  t.is(counters.failed, 1)
})

test('a call that is cancelled long before its deadline did not fail', async (t) => {
  let begun = false
  const { client, counters } = await serve(t, {
    unary: () => {
      begun = true
    },
  })
  const deadline = Date.now() + 3_600_000
  const made = client.makeUnaryRequest(
    UNARY,
    asIs,
    asIs,
    NOTHING,
    new grpc.Metadata(),
    { deadline },
    () => {},
  )
  await until(() => begun)
  made.cancel()
  await until(() => counters.ended === 1)
  t.is(counters.failed, 0)
})

test("a handler's own trailers stay, and what it may send again is not changed", async (t) => {
  const trailers = new grpc.Metadata()
  trailers.set('x-own', 'a')
  const { client } = await serve(t, { unary: (_, done) => done(null, NOTHING, trailers) })
  for (let i = 0; i < 2; i++) {
    const status = await call(client)
    t.deepEqual(status.metadata.get('x-own'), ['a'])
    t.is(reportsIn(status).length, 1)
  }
  t.deepEqual(Object.keys(trailers.getMap()), ['x-own'])
})

test('what another interceptor adds to the trailers of one call is not in those of the next', async (t) => {
  const { agent } = fakeAgent()
  const adding: grpc.ServerInterceptor = (_method, made) =>
    new grpc.ServerInterceptingCall(made, {
      sendStatus(status, next) {
        status.metadata?.add('x-own', 'a')
        next(status)
      },
    })
  const server = new grpc.Server({ interceptors: [adding, grpcInterceptor(agent, grpc)] })
  server.addService(serviceOf(UNARY), { method: answering })
  const client = clientOf(t, await listenGrpc(t, server))
  for (let i = 0; i < 3; i++) {
    const status = await call(client)
    t.deepEqual(status.metadata.get('x-own'), ['a'])
    t.is(reportsIn(status).length, 1)
  }
})

test("a handler's own report gives way, as a gateway's would be that of the server behind it", async (t) => {
  const trailers = new grpc.Metadata()
  trailers.set(TRAILER, Buffer.from('09000000000000e03f', 'hex'))
  const { client } = await serve(t, { unary: (_, done) => done(null, NOTHING, trailers) })
  t.deepEqual(reportsIn(await call(client)), [{ cpu: 37.5, inFlight: 0 }])
})

test('a function picks the calls that take a report along; all of them count', async (t) => {
  const asked: string[] = []
  const when: Options['when'] = (path, made) => {
    asked.push(`${path} from ${made.getPeer().replace(/:\d+$/, '')}`)
    return asked.length > 1
  }
  const { client, counters } = await serve(t, { unary: answering }, { when })
  t.deepEqual(reportsIn(await call(client)), [])
  t.is(reportsIn(await call(client)).length, 1)
  t.deepEqual(asked, Array(2).fill(`${UNARY} from 127.0.0.1`))
  t.like(counters, { begun: 2, ended: 2, reports: 1, withoutReport: 0 })
})

test('a report too long for clients is left out and counted', async (t) => {
  const { client, counters, agent } = await serve(t, { unary: answering }, { reuse: 0 })
  const named = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`${i}`.padEnd(60, 'x'), i]))
  agent.said = { cpu: 1, named }
  t.deepEqual(reportsIn(await call(client)), [])
  t.like(counters, { reports: 0, badReports: 1, withoutReport: 1 })
})

test('before there is a report calls go without, and are counted', async (t) => {
  const { client, counters, agent } = await serve(t, { unary: answering })
  agent.said = undefined
  t.deepEqual(reportsIn(await call(client)), [])
  t.like(counters, { ended: 1, reports: 0, withoutReport: 1 })
})

test('a report is sent again for 10 ms, or as long as it is told to be', async (t) => {
  const { client, agent, clock } = await serve(t, { unary: answering })
  for (let i = 0; i < 5; i++) await call(client)
  t.is(agent.reports, 1)
  clock.jump(9.9)
  await call(client)
  t.is(agent.reports, 1)
  clock.jump(0.1)
  await call(client)
  t.is(agent.reports, 2)
  const anew = await serve(t, { unary: answering }, { reuse: 0 })
  for (let i = 0; i < 5; i++) await call(anew.client)
  t.is(anew.agent.reports, 5)
})

test('methods that are skipped neither count nor get a report', async (t) => {
  const skip = (path: string) => path === UNARY
  const { client, counters } = await serve(t, { unary: answering }, { skip })
  t.deepEqual(reportsIn(await call(client)), [])
  t.like(counters, { begun: 0, ended: 0 })
})

test("gRPC's own services and ORCA's do not count, though their streams stay open", async (t) => {
  const agent = await createAgent({ http: false, sampler: () => 5 })
  t.teardown(() => agent.close())
  const server = new grpc.Server({ interceptors: [grpcInterceptor(agent, grpc)] })
  const watch = serviceOf('/grpc.health.v1.Health/Watch', { responseStream: true })
  server.addService(watch, { method: (stream: Parameters<Down>[0]) => stream.write(NOTHING) })
  const { definition, implementation } = orcaService(agent)
  server.addService(definition, implementation)
  const port = await listenGrpc(t, server)
  let watched = 0
  const client = clientOf(t, port)
  const health = client.makeServerStreamRequest('/grpc.health.v1.Health/Watch', asIs, asIs, NOTHING)
  health.on('data', () => watched++)
  health.on('error', () => {})
  const { reports } = callOrca(t, port, { client })
  await until(() => watched === 1 && reports.length === 1)
  t.like(agent.counters.traffic, { begun: 0, ended: 0 })
  t.is(reports[0]?.inFlight, 0)
})

test('what is counted is in the report that the agent tells out of band', async (t) => {
  const agent = await createAgent({ http: false, sampler: () => 5 })
  t.teardown(() => agent.close())
  let begun = 0
  const server = new grpc.Server({ interceptors: [grpcInterceptor(agent, grpc)] })
  server.addService(serviceOf(UNARY), { method: () => begun++ })
  const port = await listenGrpc(t, server)
  const client = clientOf(t, port)
  const calls = Array.from({ length: 3 }, () => client.makeUnaryRequest(UNARY, asIs, asIs, NOTHING, () => {}))
  await until(() => begun === 3)
  const { definition, implementation } = orcaService(agent)
  server.addService(definition, implementation)
  const { reports } = callOrca(t, port)
  await until(() => reports.length === 1)
  t.is(reports[0]?.inFlight, 3)
  for (const made of calls) made.cancel()
  await until(() => agent.traffic.inFlight === 0)
})

test('a balancer takes the report off the trailers of a call', async (t) => {
  const { client } = await serve(t, { unary: answering })
  const balancer = createBalancer({ nodes: ['a'], poll: false })
  t.teardown(() => balancer.close())
  const { metadata } = await call(client)
  t.is(balancer.observe('a', metadata), 'stored')
  t.is(balancer.snapshot()[0]?.cpu, 37.5)
  t.is(balancer.observe('a', new grpc.Metadata()), 'absent')
})

test('a hundred calls at once are counted to the last', async (t) => {
  const { client, counters, agent } = await serve(t, {
    unary: (_, done) => setTimeout(() => done(null, NOTHING), 5),
  })
  const statuses = await Promise.all(Array.from({ length: 100 }, () => call(client)))
  t.true(statuses.every((status) => reportsIn(status).length === 1))
  t.like(counters, { begun: 100, ended: 100, failed: 0, reports: 100 })
  t.is(agent.traffic.inFlight, 0)
})

for (const [option, given] of [
  ['reuse', { reuse: -1 }],
  ['skip', { skip: true }],
  ['when', { when: 'always' }],
  ['skips', { skips: () => true }],
] as [string, never][]) {
  test(`a bad ${option} is refused`, (t) => {
    const error = t.throws(() => grpcInterceptor(fakeAgent().agent, grpc, given), { instanceOf: OptionError })
    t.is(error?.option, option)
  })
}

test('what is no agent is refused, a promise of one above all', (t) => {
  const promise = createAgent({ http: false, unref: true })
  t.teardown(async () => (await promise).close())
  const error = t.throws(() => grpcInterceptor(promise as never, grpc), { instanceOf: OptionError })
  t.is(error?.option, 'agent')
})

test('what is not the module of gRPC is refused when the interceptor is made, not at its first call', (t) => {
  for (const wrong of [
    undefined,
    null,
    {},
    'grpc',
    { ServerInterceptingCall: class {} },
    { default: grpc },
  ]) {
    const error = t.throws(() => grpcInterceptor(fakeAgent().agent, wrong as never), {
      instanceOf: OptionError,
    })
    t.is(error.option, 'grpc')
    t.is(error.value, kept(wrong))
  }
})
