import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { Clock } from '../clock.js'
import { reasonOf } from '../errors.js'
import { authority } from '../host.js'
import { FrameMeter } from '../http2/frame-meter.js'
import { framedMessage, MessageReader } from '../http2/grpc-messages.js'
import { MeteredSocket } from '../http2/metered-socket.js'
import { connectionLimits } from '../http2/report-limits.js'
import { MAX_REPORT } from '../reports/orca-fields.js'
import { writeOrcaRequest } from '../reports/orca-request.js'
import type { Failure } from './answer.js'
import { lookups } from './lookups.js'
import { failureOf, type GrpcStatus, statusOf, UNIMPLEMENTED } from './orca-status.js'
import type { OrcaConnection, OrcaEvents, StreamEnd } from './orca-stream.js'
import type { SecureContexts } from './secure-contexts.js'
import { boundTickets } from './tls-tickets.js'
import type { OrcaTarget } from './transports/orca.js'
import { withoutRef } from './without-ref.js'

/** Where the stream is. */
const STREAM_CORE_METRICS = '/xds.service.orca.v3.OpenRcaService/StreamCoreMetrics'

/** Most memory of one connection, MB. */
const SESSION_MEMORY = 1

// Of a connection's end, which may come in any state.
function endOf(given: unknown): Failure {
  // Of a name with several addresses, each has an error of its own.
  const error = given instanceof AggregateError && given.message === '' ? given.errors[0] : given
  // What is sent where there is no HTTP/2, or none that is right, is the node's mistake.
  const wrong = error instanceof Error && 'code' in error && error.code === 'ERR_HTTP2_ERROR'
  return { kind: wrong ? 'error' : 'exit', reason: reasonOf(error) }
}

/**
 * A connection to one node with one stream of gRPC. It is made by `node:http2` and by nothing else: the messages that are
 * expected are small, uncompressed and few, so all that a library of gRPC does beyond that would only be something that a
 * node could break. What its callbacks throw goes to `events.onFault`.
 */
class Connection implements OrcaConnection {
  readonly #target: OrcaTarget
  readonly #events: OrcaEvents
  readonly #clock: Clock
  readonly #socket: Socket
  readonly #messages = new MessageReader(MAX_REPORT)
  #session: ClientHttp2Session | undefined
  #stream: ClientHttp2Stream | undefined
  #open = false
  #ended = false
  #closed = false

  constructor(target: OrcaTarget, contexts: SecureContexts, events: OrcaEvents, clock: Clock) {
    this.#target = target
    this.#events = events
    this.#clock = clock
    const { host, port, secure, tls = {} } = target
    const { lookup } = lookups
    if (secure) {
      const socket = connectTls({ ...contexts.connection(host, tls), lookup, port, ALPNProtocols: ['h2'] })
      boundTickets(socket, (reason) => this.#run(() => this.#lose({ kind: 'error', reason, excess: true })))
      this.#socket = socket
    } else this.#socket = connect({ host, port, lookup })
    withoutRef(this.#socket)
    this.#socket.setNoDelay()
    // Whatever becomes of it, someone has to listen.
    this.#socket.on('error', (error) => this.#run(() => this.#lose(endOf(error))))
    this.#socket.once('close', () => this.#run(() => this.#lose({ kind: 'exit', reason: this.#closedIn() })))
    this.#socket.once(secure ? 'secureConnect' : 'connect', () => this.#run(() => this.#begin()))
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#session?.destroy()
    this.#socket.destroy()
  }

  // Nothing is told once it is closed, and what is thrown concerns this node alone.
  #run(step: () => void): void {
    if (this.#closed) return
    try {
      step()
    } catch (error) {
      this.#events.onFault(error)
    }
  }

  #closedIn(): string {
    if (this.#open) return 'the connection was lost'
    return this.#session === undefined && this.#target.secure
      ? 'closed in the TLS handshake'
      : 'closed before HTTP/2 was agreed on'
  }

  #begin(): void {
    const { secure, interval } = this.#target
    if (secure && (this.#socket as TLSSocket).alpnProtocol !== 'h2') {
      this.#lose({ kind: 'exit', reason: 'it does not speak HTTP/2' })
      return
    }
    const now = () => this.#clock.now()
    const meter = new FrameMeter(connectionLimits(interval), now())
    const metered = new MeteredSocket(
      this.#socket,
      (chunk) => meter.take(chunk, now()),
      (reason) => this.#run(() => this.#lose({ kind: 'error', reason, excess: true })),
    )
    const session = connectHttp2(`${secure ? 'https' : 'http'}://${authority(this.#target)}`, {
      createConnection: () => metered,
      settings: { enablePush: false, maxHeaderListSize: 8_192 },
      maxHeaderListPairs: 64,
      maxReservedRemoteStreams: 0,
      maxSessionMemory: SESSION_MEMORY,
    })
    this.#session = session
    session.on('error', (error) => this.#run(() => this.#lose(endOf(error))))
    session.once('remoteSettings', () => this.#run(() => this.#ask(session)))
    session.once('goaway', (code: number) => {
      this.#run(() =>
        this.#lose({ kind: 'exit', reason: `the node ended the connection, with code ${code}` }),
      )
    })
    session.once('close', () => this.#run(() => this.#lose({ kind: 'exit', reason: this.#closedIn() })))
  }

  #ask(session: ClientHttp2Session): void {
    const { authorization, interval } = this.#target
    this.#open = true
    this.#events.onOpen()
    if (this.#closed) return
    const stream = session.request({
      ':method': 'POST',
      ':path': STREAM_CORE_METRICS,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...(authorization === undefined ? {} : { authorization }),
    })
    this.#stream = stream
    let status: GrpcStatus | undefined
    stream.on('error', (error) => this.#run(() => this.#end(endOf(error))))
    stream.on('response', (headers) => {
      status = statusOf(headers)
      const { wrong } = status
      if (wrong !== undefined) this.#run(() => this.#end({ kind: 'error', reason: wrong }))
    })
    stream.on('trailers', (headers) => {
      status = statusOf({ ...headers, ':status': 200 })
    })
    stream.on('data', (chunk: Buffer) => this.#run(() => this.#read(chunk)))
    stream.once('close', () => this.#run(() => this.#finish(stream, status)))
    stream.end(framedMessage(writeOrcaRequest({ interval })))
  }

  #read(chunk: Buffer): void {
    if (this.#ended) return
    let wrong: unknown
    try {
      this.#messages.take(chunk, (message) => {
        this.#run(() => this.#events.onMessage(message))
        return !this.#closed
      })
    } catch (error) {
      wrong = error
    }
    if (wrong !== undefined) this.#end({ kind: 'error', reason: reasonOf(wrong) })
  }

  #finish({ rstCode }: ClientHttp2Stream, status: GrpcStatus | undefined): void {
    if (status?.code !== undefined) {
      this.#end({ ...failureOf(status.code, status.message), final: status.code === UNIMPLEMENTED })
    } else if (rstCode === 0) this.#end({ kind: 'error', reason: 'the stream ended without a status' })
    else this.#end({ kind: 'exit', reason: `the stream was reset, with code ${rstCode}` })
  }

  // The end of the stream; once.
  #end(end: Failure & Partial<StreamEnd>): void {
    if (this.#ended) return
    this.#ended = true
    // Where it goes on nobody reads it any more.
    this.#stream?.close()
    this.#events.onEnd({ final: false, ...end })
  }

  // The end of the connection, and of the stream before it.
  #lose(end: Failure & Partial<StreamEnd>): void {
    this.#end(end)
    if (!this.#open || this.#closed) return
    this.#open = false
    this.#events.onLost(end.excess)
  }
}

/** Connects and asks for the stream. */
export function connectOrca(
  target: OrcaTarget,
  contexts: SecureContexts,
  events: OrcaEvents,
  clock: Clock,
): OrcaConnection {
  return new Connection(target, contexts, events, clock)
}
