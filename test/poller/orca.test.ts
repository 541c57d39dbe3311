import * as grpc from '@grpc/grpc-js'
import test, { type ExecutionContext } from 'ava'
import { createBalancer } from '../../dist/index.js'
import type { PollerOptions } from '../../dist/poller/poller.js'
import type { PlacedTold } from '../../dist/poller/told.js'
import { type OrcaTransportOptions, orcaTransport } from '../../dist/poller/transports/orca.js'
import { writeOrcaBinary } from '../../dist/reports/orca-binary.js'
import { pem, until } from '../agent/support.js'
import { listenGrpc, serveReports, startGrpcAgent } from '../support/grpc.js'
import { httpPoller, readingOf } from './agents.js'

/** A poller that hears nodes by gRPC, in the polling thread. */
function orcaPoller(
  t: ExecutionContext,
  given: OrcaTransportOptions = {},
  options: Partial<PollerOptions> = {},
) {
  const told: PlacedTold[] = []
  const { table, poller } = httpPoller(t, {
    transport: orcaTransport({ reportInterval: 100, ...given }),
    onTold: (some) => told.push(...some),
    // However busy the machine is that runs this.
    timeout: 60_000,
    ...options,
  })
  function start(...ports: number[]): void {
    poller.setMembers(ports.map((port) => table.claim(`127.0.0.1:${port}`)))
    poller.start()
  }
  return { table, poller, told, start, counters: poller.counters }
}

function tell(cpu: number): (call: grpc.ServerWritableStream<Buffer, Buffer>) => void {
  return (call) => call.write(Buffer.from(writeOrcaBinary({ cpu })))
}

const cpuOf = (table: Parameters<typeof readingOf>[0], port: number) =>
  readingOf(table, `127.0.0.1:${port}`)?.cpu

test('an agent is heard: its report is there when the first cycle ends, and again and again', async (t) => {
  const { port } = await startGrpcAgent(t)
  const { table, poller, start, counters } = orcaPoller(t)
  start(port)
  await poller.ready
  t.is(cpuOf(table, port), 37.5)
  await until(() => counters.pushed.stored >= 5)
  t.deepEqual([counters.exit, counters.error, counters.pushed.bad], [0, 0, 0])
  t.true((readingOf(table, `127.0.0.1:${port}`)?.age ?? 1e9) < 5_000)
})

test('what an agent tells of taking work is told within a moment', async (t) => {
  const { agent, port } = await startGrpcAgent(t, { weight: 70, grpc: { minInterval: 60_000 } })
  const { poller, told, start } = orcaPoller(t)
  start(port)
  await poller.ready
  await until(() => told.length === 1)
  t.like(told[0], { state: 'up', weight: 70 })
  agent.drain()
  await until(() => told.length === 2)
  t.is(told[1]?.state, 'drain')
})

test('a balancer gives a node that drains no more work, and takes it up again', async (t) => {
  const [one, other] = await Promise.all([startGrpcAgent(t), startGrpcAgent(t)])
  const id = (port: number) => `127.0.0.1:${port}`
  const balancer = createBalancer({
    nodes: [id(one.port), id(other.port)],
    poll: { transport: orcaTransport({ reportInterval: 100 }), startupJitter: 0, timeout: 60_000 },
  })
  t.teardown(() => balancer.close())
  await balancer.ready()
  one.agent.drain()
  await until(() => balancer.snapshot().some(({ state }) => state === 'drain'))
  const picked = new Set(Array.from({ length: 50 }, () => balancer.select()))
  t.deepEqual([...picked], [id(other.port)])
  one.agent.ready()
  await until(() => balancer.snapshot().every(({ state }) => state === 'up'))
  t.is(balancer.select({ exclude: [id(other.port)] }), id(one.port))
})

test('a plain server is asked for the interval, with the token, and its age counts', async (t) => {
  const calls: { request: string; authorization: unknown }[] = []
  const { port } = await serveReports(t, (call) => {
    calls.push({
      request: call.request.toString('hex'),
      authorization: call.metadata.get('authorization')[0],
    })
    call.write(Buffer.from(writeOrcaBinary({ cpu: 50, age: 60_000 })))
  })
  const { table, poller, start } = orcaPoller(t, { reportInterval: 1_500, token: 'abc' })
  start(port)
  await poller.ready
  const { cpu, age = 0 } = readingOf(table, `127.0.0.1:${port}`) ?? {}
  t.is(cpu, 50)
  t.true(age >= 60_000)
  t.deepEqual(calls, [{ request: '0a0808011080cab5ee01', authorization: 'Bearer abc' }])
})

test('each node is where its own URL says, with its own token', async (t) => {
  const tokens: unknown[] = []
  const { port } = await serveReports(t, (call) => {
    tokens.push(call.metadata.get('authorization')[0])
    tell(60)(call)
  })
  const { table, poller } = orcaPoller(t, {
    token: 'common',
    node: (id) => (id === 'one' ? { url: `http://localhost:${port}`, token: 'own' } : { url: 'ftp://x' }),
  })
  poller.setMembers([table.claim('one'), table.claim('two')])
  poller.start()
  await poller.ready
  t.is(readingOf(table, 'one')?.cpu, 60)
  t.deepEqual(tokens, ['Bearer own'])
  t.is(poller.counters.error, 1)
})

test('a server without the service is an error each cycle, and is called once', async (t) => {
  let calls = 0
  const unknown = { code: grpc.status.UNIMPLEMENTED, details: 'what?' }
  const { port } = await serveReports(t, (call) => {
    calls++
    call.emit('error', unknown)
  })
  const bare = new grpc.Server()
  const other = await listenGrpc(t, bare)
  const { table, start, counters } = orcaPoller(t)
  start(port, other)
  await until(() => counters.cycles >= 20)
  t.is(calls, 1)
  t.is(counters.error, 2 * counters.cycles)
  t.is(cpuOf(table, port), undefined)
})

test('a server that comes back with the service is heard again, by a connection of its own', async (t) => {
  const bare = new grpc.Server()
  const port = await listenGrpc(t, bare)
  const { table, start, counters } = orcaPoller(t)
  start(port)
  await until(() => counters.error > 0)
  bare.forceShutdown()
  await serveReports(t, tell(30), { port })
  await until(() => counters.pushed.stored > 0)
  t.is(cpuOf(table, port), 30)
})

test('a server that restarts is heard again, and no cycle says that it failed', async (t) => {
  const first = await serveReports(t, tell(20))
  const { table, poller, start, counters } = orcaPoller(t, { reportInterval: 60_000 })
  start(first.port)
  await poller.ready
  t.is(cpuOf(table, first.port), 20)
  first.server.forceShutdown()
  await serveReports(t, tell(80), { port: first.port })
  await until(() => counters.pushed.stored === 2)
  t.is(cpuOf(table, first.port), 80)
  t.deepEqual([counters.exit, counters.error], [0, 0])
})

test('a node that leaves has its connection closed, and one that closes with the poller too', async (t) => {
  const ended: string[] = []
  const serve = (name: string) =>
    serveReports(t, (call) => {
      call.on('cancelled', () => ended.push(name))
      tell(10)(call)
    })
  const [leaving, staying] = await Promise.all([serve('leaving'), serve('staying')])
  const { table, poller, start, counters } = orcaPoller(t)
  start(leaving.port, staying.port)
  await poller.ready
  poller.setMembers([table.claim(`127.0.0.1:${staying.port}`)])
  await until(() => ended.length > 0)
  t.deepEqual(ended, ['leaving'])
  t.is(counters.pushed.stored, 2)
  await poller.close()
  await until(() => ended.length > 1)
  t.deepEqual(ended, ['leaving', 'staying'])
})

test('two hundred nodes have a report when the first cycle ends', async (t) => {
  const { port } = await startGrpcAgent(t, { grpc: { minInterval: 60_000 } })
  const transport = { node: () => ({ url: `http://127.0.0.1:${port}` }) }
  const { table, poller, counters } = orcaPoller(t, transport)
  poller.setMembers(Array.from({ length: 200 }, (_, i) => table.claim(`node-${i}`)))
  poller.start()
  await poller.ready
  t.deepEqual([counters.exit, counters.error, counters.heard], [0, 0, 200])
  t.is(readingOf(table, 'node-199')?.cpu, 37.5)
})

const tls = { key: pem('server-key'), cert: pem('server') }
const ca = pem('ca')

function credentials(key = tls.key, cert = tls.cert): grpc.ServerCredentials {
  const [private_key, cert_chain] = [Buffer.from(key), Buffer.from(cert)]
  return grpc.ServerCredentials.createSsl(null, [{ private_key, cert_chain }])
}

/** What one cycle comes to with these TLS options. */
async function hearBy(t: ExecutionContext, port: number, options: OrcaTransportOptions) {
  const { table, poller, counters, start } = orcaPoller(t, options, { interval: 600_000 })
  start(port)
  await poller.ready
  const { exit, error } = counters
  return { cpu: cpuOf(table, port), exit, error }
}

test('by TLS a node is heard whose certificate is good, and no other', async (t) => {
  const { port } = await serveReports(t, tell(42), { credentials: credentials() })
  t.deepEqual(await hearBy(t, port, { tls: { ca } }), { cpu: 42, exit: 0, error: 0 })
  t.deepEqual(await hearBy(t, port, { protocol: 'https' }), { cpu: undefined, exit: 1, error: 0 })
  t.deepEqual(await hearBy(t, port, { tls: { ca, servername: 'localhost' } }), { cpu: 42, exit: 0, error: 0 })
  t.deepEqual(await hearBy(t, port, { tls: { ca, servername: 'other.example' } }), {
    cpu: undefined,
    exit: 1,
    error: 0,
  })
  t.deepEqual(await hearBy(t, port, { tls: { rejectUnauthorized: false } }), { cpu: 42, exit: 0, error: 0 })
  t.is((await hearBy(t, port, { protocol: 'http' })).cpu, undefined)
})

test('an expired certificate is no good certificate', async (t) => {
  const [key, cert] = [pem('expired-key'), pem('expired')]
  const { port } = await serveReports(t, tell(42), { credentials: credentials(key, cert) })
  t.deepEqual(await hearBy(t, port, { tls: { ca: cert } }), { cpu: undefined, exit: 1, error: 0 })
})

test('an agent that wants a certificate of who asks gets it', async (t) => {
  const { port } = await startGrpcAgent(t, { grpc: { tls: { ...tls, ca, requestCert: true } } })
  t.is((await hearBy(t, port, { tls: { ca } })).cpu, undefined)
  const own = { key: pem('client-key'), cert: pem('client') }
  t.deepEqual(await hearBy(t, port, { tls: { ca, ...own } }), { cpu: 37.5, exit: 0, error: 0 })
})

test('no cycle takes longer than its time-out, and who tells later is heard then', async (t) => {
  let release: (() => void) | undefined
  const { port } = await serveReports(t, (call) => {
    release = () => tell(70)(call)
  })
  const { table, start, counters } = orcaPoller(t, {}, { timeout: 50 })
  start(port)
  await until(() => counters.cycles >= 3 && release !== undefined)
  t.is(counters.exit, counters.cycles)
  release?.()
  await until(() => counters.heard > 0)
  t.is(cpuOf(table, port), 70)
})

test('a server that tells and ends the stream is heard again and again', async (t) => {
  const { port } = await serveReports(t, (call) => {
    tell(5)(call)
    call.end()
  })
  const { table, start, counters } = orcaPoller(t, { reportInterval: 60_000 })
  start(port)
  await until(() => counters.pushed.stored >= 2)
  t.is(cpuOf(table, port), 5)
  t.deepEqual([counters.exit, counters.error], [0, 0])
})
