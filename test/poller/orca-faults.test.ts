import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { BackOff, GRPC_BACK_OFF } from '../../dist/poller/back-off.js'
import { connectOrca } from '../../dist/poller/orca-connection.js'
import { OrcaStream } from '../../dist/poller/orca-stream.js'
import { SecureContexts } from '../../dist/poller/secure-contexts.js'
import { orcaTransport, resolveOrca } from '../../dist/poller/transports/orca.js'
import { writeOrcaBinary } from '../../dist/reports/orca-binary.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { until } from '../agent/support.js'
import { serveReports, startGrpcAgent, type TellReports } from '../support/grpc.js'
import { httpPoller, readingOf, serve, serveTcp } from './agents.js'

const portOf = (server: { address(): AddressInfo | string | null }) => (server.address() as AddressInfo).port

/** A server of HTTP/2 that answers the call as it likes. */
async function serveHttp2(t: ExecutionContext, answer: (stream: ServerHttp2Stream) => void): Promise<number> {
  const server = createHttp2Server()
  const sessions = new Set<{ destroy(): void }>()
  server.on('session', (session) => sessions.add(session))
  server.on('stream', (stream) => {
    stream.on('error', () => {})
    answer(stream)
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  return portOf(server)
}

const OK_HEADERS = { ':status': 200, 'content-type': 'application/grpc+proto' }

/** A message as gRPC frames it. */
function framed(message: Buffer, compressed = 0): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt8(compressed, 0)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

const good = Buffer.from(writeOrcaBinary({ cpu: 40 }))
const telling = (...messages: Buffer[]): TellReports => {
  return (call) => {
    for (const message of messages) call.write(message)
  }
}

async function tcp(t: ExecutionContext, listener: (socket: Socket) => void): Promise<number> {
  return portOf(await serveTcp(t, listener))
}

async function reports(t: ExecutionContext, tell: TellReports): Promise<number> {
  return (await serveReports(t, tell)).port
}

interface Fault {
  readonly name: string
  /** Gives the port of a node that has it. */
  readonly serve: (t: ExecutionContext) => Promise<number>
  /** Where it is counted. */
  readonly counted: 'exit' | 'error' | 'bad'
  readonly secure?: true
}

// What is wrong with gRPC alone; what all transports meet is in faults/.
const FAULTS: readonly Fault[] = [
  { name: 'accepts and does not even read', counted: 'exit', serve: (t) => tcp(t, () => {}) },
  {
    name: 'never goes on with TLS',
    counted: 'exit',
    secure: true,
    serve: (t) => tcp(t, (socket) => socket.resume()),
  },
  { name: 'never answers the call', counted: 'exit', serve: (t) => serveHttp2(t, () => {}) },
  {
    name: 'ends the stream without a report',
    counted: 'exit',
    serve: (t) => reports(t, (call) => call.end()),
  },
  {
    name: 'closes in the middle of a report',
    counted: 'exit',
    serve: (t) =>
      serveHttp2(t, (stream) => {
        stream.respond(OK_HEADERS)
        stream.write(framed(good).subarray(0, 9), () => stream.session?.destroy())
      }),
  },
  {
    name: 'speaks HTTP/1',
    counted: 'error',
    serve: async (t) => portOf(await serve(t, (_, response) => response.end('hello'))),
  },
  {
    name: 'speaks HTTP/2, but no gRPC',
    counted: 'error',
    serve: (t) =>
      serveHttp2(t, (stream) => {
        stream.respond({ ':status': 200, 'content-type': 'text/html' })
        stream.end('<p>hello</p>')
      }),
  },
  {
    name: 'redirects',
    counted: 'error',
    serve: (t) =>
      serveHttp2(t, (stream) => {
        stream.respond({ ':status': 302, location: 'http://127.0.0.1:1/' }, { endStream: true })
      }),
  },
  {
    name: 'sends a message that says it has 4 GB',
    counted: 'error',
    serve: (t) =>
      serveHttp2(t, (stream) => {
        stream.respond(OK_HEADERS)
        stream.write(Buffer.from('00ffffffff00', 'hex'))
      }),
  },
  {
    name: 'sends little that unpacks to 60 MB',
    counted: 'error',
    serve: (t) =>
      serveHttp2(t, (stream) => {
        stream.respond({ ...OK_HEADERS, 'grpc-encoding': 'gzip' })
        stream.write(framed(gzipSync(Buffer.alloc(60_000_000)), 1))
      }),
  },
  {
    name: 'tells a report that is no protobuf',
    counted: 'bad',
    serve: (t) => reports(t, telling(Buffer.from('ffffffffffffffffffffffff', 'hex'))),
  },
]

for (const { name, serve: start, counted, secure = false } of FAULTS) {
  test(`a node that ${name} has no reading and is counted; another is heard all the while`, async (t) => {
    const faulty = `127.0.0.1:${await start(t)}`
    const fine = `127.0.0.1:${(await startGrpcAgent(t)).port}`
    const { table, poller } = httpPoller(t, {
      timeout: 300,
      transport: (id) =>
        orcaTransport({
          reportInterval: 100,
          ...(secure && id === faulty ? { protocol: 'https' } : {}),
        }),
    })
    const { counters } = poller
    poller.setMembers([table.claim(faulty), table.claim(fine)])
    poller.start()
    await until(() => (readingOf(table, fine)?.cpu ?? 0) > 0 && counters.cycles >= 3)
    await until(() => (counted === 'bad' ? counters.pushed.bad : counters[counted]) > 0)
    const { stored } = counters.pushed
    await until(() => counters.pushed.stored > stored + 3)
    t.is(readingOf(table, faulty), undefined)
    t.is(readingOf(table, fine)?.cpu, 37.5)
    if (counted === 'exit') t.is(counters.error, 0)
  })
}

test('a report without any field is heard, and stores nothing', async (t) => {
  const port = await reports(t, telling(Buffer.alloc(0)))
  const { table, poller } = httpPoller(t, { transport: orcaTransport() })
  poller.setMembers([table.claim(`127.0.0.1:${port}`)])
  poller.start()
  await poller.ready
  await until(() => poller.counters.pushed.empty === 1)
  t.is(readingOf(table, `127.0.0.1:${port}`), undefined)
  t.deepEqual([poller.counters.exit, poller.counters.error], [0, 0])
})

test('a flood of good reports is taken in part, counted, and cut off; another node is heard all the while', async (t) => {
  let cut = 0
  const flood = await reports(t, (call) => {
    call.on('cancelled', () => cut++)
    const write = () => {
      while (!call.cancelled && call.write(good));
      if (!call.cancelled) call.once('drain', write)
    }
    write()
  })
  const fine = await reports(t, telling(good))
  const { table, poller } = httpPoller(t, { transport: orcaTransport({ reportInterval: 100 }) })
  const { counters } = poller
  poller.setMembers([flood, fine].map((port) => table.claim(`127.0.0.1:${port}`)))
  poller.start()
  await until(() => cut > 0 && counters.pushed.bad > 0)
  t.is(readingOf(table, `127.0.0.1:${flood}`)?.cpu, 40)
  await until(() => readingOf(table, `127.0.0.1:${fine}`) !== undefined)
  t.true(counters.pushed.stored + counters.pushed.older <= 101 * cut + 101)
})

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** The heap that is in use once garbage is gone, MB. */
async function heapInUse(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    collect()
  }
  return process.memoryUsage().heapUsed / 1e6
}

interface Churn {
  readonly name: string
  readonly secure: boolean
  /** Whether the node ends a try; else the stream gives it up. */
  readonly ends: boolean
  readonly listener: (socket: Socket) => void
}

const TRIES = 300

const CHURN: readonly Churn[] = [
  { name: 'closes each connection', secure: false, ends: true, listener: (socket) => socket.destroy() },
  {
    name: 'answers with garbage',
    secure: false,
    ends: true,
    listener: (socket) => socket.write('garbage '.repeat(20)),
  },
  { name: 'never answers', secure: false, ends: false, listener: () => {} },
  { name: 'never goes on with TLS', secure: true, ends: false, listener: () => {} },
]

for (const { name, secure, ends, listener } of CHURN) {
  test.serial(`${TRIES} tries at a node that ${name} leave neither sockets nor memory behind`, async (t) => {
    const open = new Set<Socket>()
    let connections = 0
    const server = createServer((socket) => {
      connections++
      open.add(socket)
      socket.on('close', () => open.delete(socket))
      socket.on('error', () => {})
      socket.resume()
      listener(socket)
    })
    server.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    t.teardown(() => server.close())
    const { settings } = orcaTransport(secure ? { protocol: 'https' } : {})
    const target = resolveOrca(`127.0.0.1:${portOf(server)}`, settings)
    const contexts = new SecureContexts()
    const clock = new VirtualClock()
    let connects = 0
    const downs: string[] = []
    const stream = new OrcaStream({
      clock,
      interval: 1_000,
      backOff: new BackOff(GRPC_BACK_OFF, () => 0.5),
      connect(events) {
        connects++
        return connectOrca(target, contexts, events, clock)
      },
      onMessage: () => true,
      onDown: ({ reason }) => downs.push(reason),
      onFault: () => {},
    })
    stream.start()
    // Before the clock runs: one that is given up earlier is never made.
    await until(() => connections === 1)
    async function go(most: number): Promise<void> {
      while (connects < most) {
        const [before, connected, { length }] = [connects, connections, downs]
        while (connects === before) clock.jump(1_000)
        // Until it came about, and where it never ends until the stream gives it up.
        while (connections === connected) await new Promise((resolve) => setTimeout(resolve, 1))
        if (ends) while (downs.length === length) await new Promise((resolve) => setTimeout(resolve, 1))
      }
    }
    await go(50)
    const before = await heapInUse()
    await go(TRIES)
    const grown = (await heapInUse()) - before
    stream.close()
    await until(() => open.size === 0)
    t.is(connections, connects)
    t.is(clock.pending, 0)
    t.true(grown < 3, `${grown.toFixed(1)} MB more`)
  })
}
