import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net'
import type { ExecutionContext } from 'ava'
import type { Clock } from '../../dist/clock.js'
import { Asker } from '../../dist/poller/asker.js'
import { HttpNode } from '../../dist/poller/http-node.js'
import { LocalShare } from '../../dist/poller/local-share.js'
import { orcaReading } from '../../dist/poller/orca-reading.js'
import { Poller, type PollerOptions } from '../../dist/poller/poller.js'
import { SecureContexts } from '../../dist/poller/secure-contexts.js'
import { Targets } from '../../dist/poller/targets.js'
import type { CustomTransport } from '../../dist/poller/transport.js'
import { type HttpTransportOptions, httpTransport, resolveHttp } from '../../dist/poller/transports/http.js'
import type { WorkerHost } from '../../dist/poller/worker-host.js'
import { WorkerShare } from '../../dist/poller/worker-share.js'
import { processClock } from '../../dist/process-clock.js'
import type { Report } from '../../dist/report.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { readReading } from '../../dist/table/reading.js'
import { Table } from '../../dist/table/table.js'

/** Warnings are part of what the poller does; in the output of the tests they are noise. */
process.removeAllListeners('warning')
process.on('warning', () => {})

/** The reading that the table holds of a node: CPU in percent and its age, or undefined. */
export function readingOf(table: Table, id: string): { cpu: number; age: number } | undefined {
  const reading = rawReading(table, id)
  return reading && { cpu: reading.value / 1000, age: table.now() - reading.time }
}

/** Table time of the sample of the reading that the table holds of a node, or undefined. */
export function sampledAt(table: Table, id: string): number | undefined {
  return rawReading(table, id)?.time
}

function rawReading(table: Table, id: string) {
  const entry = table.find(id)
  if (entry === undefined) return undefined
  const reading = { time: 0, tag: 0, value: -1 }
  readReading(table.memory, entry.slot, reading)
  return reading.value < 0 ? undefined : reading
}

/** A table that counts its publications. */
export class CountingTable extends Table {
  publications = 0
  override publish(): void {
    this.publications++
    super.publish()
  }
}

/** One ask of a transport that answers when the test says so. */
export interface Ask {
  readonly node: string
  readonly signal: AbortSignal
  readonly at: number
  answer(report: Report): void
  fail(error: Error): void
}

/** A transport whose answers the test gives. */
export class ManualTransport implements CustomTransport {
  readonly asks: Ask[] = []
  readonly #clock: Clock
  constructor(clock: Clock) {
    this.#clock = clock
  }
  poll(node: string, signal: AbortSignal): Promise<Report> {
    return new Promise((answer, fail) => {
      this.asks.push({ node, signal, at: this.#clock.now(), answer, fail })
    })
  }
}

/** A poller in virtual time. */
export function virtualPoller(given: Partial<PollerOptions> = {}) {
  const clock = new VirtualClock(1_000)
  const table = new CountingTable(clock)
  const transport = new ManualTransport(clock)
  const poller = new Poller({
    name: 'test',
    table,
    clock,
    interval: 5_000,
    startupJitter: 0,
    timeout: 2_000,
    transport,
    random: () => 0.5,
    ...given,
  })
  return { clock, table, transport, poller, asks: transport.asks }
}

/** A poller over HTTP, by the polling thread. */
export function httpPoller(t: ExecutionContext, given: Partial<PollerOptions> = {}) {
  const table = new CountingTable(processClock)
  const poller = new Poller({
    name: 'test',
    table,
    clock: processClock,
    interval: 20,
    startupJitter: 0,
    timeout: 5_000,
    transport: httpTransport(),
    random: Math.random,
    ...given,
  })
  t.teardown(() => poller.close())
  return { table, poller }
}

/** A node that is asked over HTTP by itself, at the time 1,234. */
export function httpNode(t: ExecutionContext, id: string, options: HttpTransportOptions = {}): HttpNode {
  const target = resolveHttp(id, httpTransport(options).settings)
  const node = new HttpNode(target, orcaReading(target.format), new SecureContexts(), () => 1_234)
  t.teardown(() => node.close())
  return node
}

/** What asks over HTTP, by these polling threads. */
export function httpAsker({ memory, clock }: Table, hosts: readonly WorkerHost[]): Asker {
  const settings = { silentFor: 0, coalesce: 50 }
  const listener = { onLate: () => {}, onAside: () => {}, onFault: () => {} }
  const buffer = memory.buffer as SharedArrayBuffer
  return new Asker({
    memory,
    clock,
    targets: new Targets(httpTransport()),
    silentFor: 0,
    local: new LocalShare(memory, clock, settings, listener),
    remote: hosts.map((host) => new WorkerShare(host, memory, buffer, settings, listener)),
  })
}

/** The id of a node whose agent is this server. */
export function idOf(server: Server | TcpServer): string {
  const { port } = server.address() as AddressInfo
  return `127.0.0.1:${port}`
}

/** An HTTP server on a free port of the loopback. */
export function serve(t: ExecutionContext, listener: RequestListener): Promise<Server> {
  return listening(t, createServer(listener))
}

/** Has a server listen on a free port of the loopback, until the test ends. */
export async function listening<S extends Server | TlsServer>(t: ExecutionContext, server: S): Promise<S> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return server
}

/** A TCP server on a free port of the loopback. */
export async function serveTcp(t: ExecutionContext, listener: (socket: Socket) => void): Promise<TcpServer> {
  const sockets = new Set<Socket>()
  const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    listener(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return server
}

/** Answers with a report of this CPU in percent. */
export function reporting(cpu: number, age = 0): RequestListener {
  return (_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ cpu_utilization: cpu / 100, age_ms: age }))
  }
}

/** A promise and its ends; Node.js 20 has no Promise.withResolvers. */
export function withResolvers<T>() {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
