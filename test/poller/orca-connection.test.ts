import type { Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import * as grpc from '@grpc/grpc-js'
import test, { type ExecutionContext } from 'ava'
import { GRPC_BACK_OFF } from '../../dist/poller/back-off.js'
import { connectOrca } from '../../dist/poller/orca-connection.js'
import { OrcaMember } from '../../dist/poller/orca-member.js'
import { SecureContexts } from '../../dist/poller/secure-contexts.js'
import { type OrcaTransportOptions, orcaTransport, resolveOrca } from '../../dist/poller/transports/orca.js'
import { processClock } from '../../dist/process-clock.js'
import type { Report } from '../../dist/report.js'
import { writeOrcaBinary } from '../../dist/reports/orca-binary.js'
import { pem, until } from '../agent/support.js'
import { listenGrpc, serveReports } from '../support/grpc.js'
import { idOf, serveTcp } from './agents.js'

function targetOf(id: string, options: OrcaTransportOptions = {}) {
  return resolveOrca(id, orcaTransport(options).settings)
}

/** Connects, and writes down what comes of it. */
function listen(t: ExecutionContext, id: string, options: OrcaTransportOptions = {}) {
  const events: string[] = []
  const connection = connectOrca(
    targetOf(id, options),
    new SecureContexts(),
    {
      onOpen: () => events.push('open'),
      onMessage: (bytes) => events.push(`message of ${bytes.length}`),
      onEnd: ({ kind, reason, final }) => events.push(`${kind}${final ? ', final' : ''}: ${reason}`),
      onLost: () => events.push('lost'),
      onFault: (error) => events.push(`fault: ${error}`),
    },
    processClock,
  )
  t.teardown(() => connection.close())
  return { events, connection }
}

const good = Buffer.from(writeOrcaBinary({ cpu: 40 }))

test('what comes of a stream is told in order', async (t) => {
  const { port, server } = await serveReports(t, (call) => {
    call.write(good)
    call.write(good)
    call.end()
  })
  const { events } = listen(t, `127.0.0.1:${port}`)
  await until(() => events.length === 4)
  server.forceShutdown()
  await until(() => events.length === 5)
  t.deepEqual(events, ['open', 'message of 9', 'message of 9', 'exit: the node ended the stream', 'lost'])
})

test('a refusal is told with its reason alone', async (t) => {
  const server = await serveTcp(t, () => {})
  const id = idOf(server)
  await new Promise((resolve) => server.close(resolve))
  const { events } = listen(t, id)
  await until(() => events.length === 1)
  t.deepEqual(events, [`exit: connect ECONNREFUSED ${id}`])
})

test('a connection that is closed before it stands is told without the time of day', async (t) => {
  const { events } = listen(t, idOf(await serveTcp(t, (socket) => socket.destroy())))
  await until(() => events.length === 1)
  t.regex(events[0] ?? '', /^exit: [^(]+$/)
})

test('a missing service is final, and the connection stays until the server ends it', async (t) => {
  const server = new grpc.Server()
  const { events } = listen(t, `127.0.0.1:${await listenGrpc(t, server)}`)
  await until(() => events.length === 2)
  t.regex(events[1] ?? '', /^error, final: .*not implement/)
  server.forceShutdown()
  await until(() => events.length === 3)
  t.is(events[2], 'lost')
})

for (const { code, kind } of [
  { code: grpc.status.UNAVAILABLE, kind: 'exit' },
  { code: grpc.status.CANCELLED, kind: 'exit' },
  { code: grpc.status.DEADLINE_EXCEEDED, kind: 'exit' },
  { code: grpc.status.UNAUTHENTICATED, kind: 'error' },
  { code: grpc.status.PERMISSION_DENIED, kind: 'error' },
  { code: grpc.status.RESOURCE_EXHAUSTED, kind: 'error' },
  { code: grpc.status.INTERNAL, kind: 'error' },
  { code: grpc.status.UNKNOWN, kind: 'error' },
]) {
  test(`the status ${grpc.status[code]} is an ${kind}, in the words of the node if it has any`, async (t) => {
    let details = 'not now'
    const { port } = await serveReports(t, (call) => call.emit('error', { code, details }))
    const said = listen(t, `127.0.0.1:${port}`)
    await until(() => said.events.length === 2)
    t.is(said.events[1], `${kind}: not now`)
    details = ''
    const unsaid = listen(t, `127.0.0.1:${port}`)
    await until(() => unsaid.events.length === 2)
    t.true(unsaid.events[1]?.startsWith(`${kind}: `))
  })
}

test('a reason is no longer than a warning may be', async (t) => {
  const { port } = await serveReports(t, (call) => {
    call.emit('error', { code: grpc.status.INTERNAL, details: 'x'.repeat(5_000) })
  })
  const { events } = listen(t, `127.0.0.1:${port}`)
  await until(() => events.length === 2)
  t.true((events[1]?.length ?? 0) < 250)
})

test('nothing is told after the end, whenever that is; the sockets are closed', async (t) => {
  const sockets = new Set<Socket>()
  let accepted = 0
  const server = await serveTcp(t, (socket) => {
    accepted++
    sockets.add(socket)
    socket.resume()
    socket.on('close', () => sockets.delete(socket))
    socket.on('end', () => socket.destroy())
  })
  const id = idOf(server)
  const before = listen(t, id)
  before.connection.close()
  const connecting = listen(t, id)
  await until(() => accepted === 1)
  connecting.connection.close()
  connecting.connection.close()
  const handshaking = listen(t, id, { protocol: 'https' })
  await until(() => accepted === 2)
  handshaking.connection.close()
  await until(() => sockets.size === 0)
  t.deepEqual([...before.events, ...connecting.events, ...handshaking.events], [])
})

test('by TLS the name is checked, also where it is an address', async (t) => {
  const credentials = grpc.ServerCredentials.createSsl(null, [
    { private_key: Buffer.from(pem('server-key')), cert_chain: Buffer.from(pem('server')) },
  ])
  const { port } = await serveReports(t, (call) => call.write(good), { credentials })
  const tls = { ca: pem('ca') }
  for (const host of ['127.0.0.1', 'localhost']) {
    const { events } = listen(t, `${host}:${port}`, { tls })
    await until(() => events.length === 2)
    t.deepEqual(events, ['open', 'message of 9'])
  }
  const wrong = listen(t, `127.0.0.1:${port}`, { tls: { ...tls, servername: 'other.example' } })
  await until(() => wrong.events.length === 1)
  t.regex(wrong.events[0] ?? '', /^exit: Hostname\/IP does not match/)
})

test('by TLS HTTP/2 has to be agreed on', async (t) => {
  const pair = { key: pem('server-key'), cert: pem('server') }
  for (const [ALPNProtocols, reason] of [
    [undefined, /^exit: it does not speak HTTP\/2$/],
    [['http/1.1'], /^exit: .*alert/],
  ] as const) {
    const server = createTlsServer({ ...pair, ...(ALPNProtocols && { ALPNProtocols: [...ALPNProtocols] }) })
    server.on('tlsClientError', () => {})
    server.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    t.teardown(() => server.close())
    const { events } = listen(t, idOf(server), { tls: { ca: pem('ca') } })
    await until(() => events.length === 1)
    t.regex(events[0] ?? '', reason)
  }
})

test('an address of IPv6 is connected to', async (t) => {
  const server = new grpc.Server()
  t.teardown(() => server.forceShutdown())
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('[::1]:0', grpc.ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound)
      else reject(error)
    })
  })
  const { events } = listen(t, `[::1]:${port}`)
  await until(() => events.length === 2)
  t.regex(events[1] ?? '', /^error, final/)
})

test('a stream comes back after its server does, with short waits, in real time', async (t) => {
  const first = await serveReports(t, (call) => call.write(good))
  const reports: Report[] = []
  const contexts = new SecureContexts()
  const target = targetOf(`127.0.0.1:${first.port}`)
  const member = new OrcaMember(
    target.id,
    { slot: 0, generation: 0 },
    {
      clock: processClock,
      interval: 100,
      backOff: { ...GRPC_BACK_OFF, first: 20, longest: 100 },
      sink: {
        push: (_, report) => reports.push(report),
        bad: () => {},
        unknown: () => {},
        stranger: () => {},
      },
      connect: (events) => connectOrca(target, contexts, events, processClock),
      onFault: () => {},
    },
  )
  t.teardown(() => member.close())
  t.deepEqual(await member.ask(), { kind: 'heard' })
  first.server.forceShutdown()
  let answer = await member.ask()
  while (answer.kind === 'heard') {
    await new Promise((resolve) => setTimeout(resolve, 10))
    answer = await member.ask()
  }
  t.is(answer.kind, 'exit')
  await serveReports(t, (call) => call.write(good), { port: first.port })
  await until(() => reports.length === 2)
  t.deepEqual(await member.ask(), { kind: 'heard' })
})
