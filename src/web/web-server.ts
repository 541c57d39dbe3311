import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import * as v from 'valibot'
import { HIDDEN, OptionError, reasonOf } from '../errors.js'
import { flag, options } from '../options.js'
import { type Pem, pemBuffers, pemSchema } from '../pem.js'

/** A certificate for a server, and whom it asks for theirs. */
export interface ServerTls {
  /** Private key, PEM. */
  readonly key: Pem
  /** Certificate chain, PEM. */
  readonly cert: Pem
  /** Authorities whose client certificates are good, PEM; the ones that Node.js knows by default. */
  readonly ca?: Pem | undefined
  /** Refuse clients without a good certificate (mutual TLS). Default false. */
  readonly requestCert?: boolean | undefined
}

/** `ServerTls`. */
export const serverTlsSchema = options({
  key: pemSchema,
  cert: pemSchema,
  ca: v.optional(pemSchema),
  requestCert: v.optional(flag(), false),
})

/** What becomes of requests that no handler sees. */
export interface WebServerCounters {
  /** Requests whose head was read. */
  requests: number
  /** Those that were refused for what they are. */
  refused: number
  /** Connections that were closed for a head that was bad, too long or too slow, or for failing the TLS handshake. */
  badConnections: number
}

// Requests to these servers have some hundred bytes. Times are ms.
const MAX_HEADER_SIZE = 8_192
const HEADERS_TIMEOUT = 5_000
const CHECK_INTERVAL = 1_000
// Longer than pollers usually wait between two polls, so that they find their connection open.
const KEEP_ALIVE = 75_000
// For a client that does not read its answer. Well above the time for a head, which is told and counted.
const INACTIVE = 8_000

const STATUS_OF: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/**
 * Makes a server for small requests without a body: it is short with heads that are long or slow, and with clients that do
 * not read. It does not listen yet.
 * @param refuse answers a request that expects something, with this status
 * @throws OptionError for a key and a certificate that are of no use
 */
export function createWebServer(
  tls: ServerTls | undefined,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  refuse: (response: ServerResponse, status: number, error: string) => void,
  counters: WebServerCounters,
): Server {
  const server = create(tls, oneByOne(handle, counters))
  server.headersTimeout = HEADERS_TIMEOUT
  server.requestTimeout = HEADERS_TIMEOUT
  server.keepAliveTimeout = KEEP_ALIVE
  server.timeout = INACTIVE
  // Without listeners Node.js deals with these two itself, and nothing would count them.
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    counters.requests++
    counters.refused++
    socket.on('error', () => socket.destroy())
    end(socket, '405 Method Not Allowed\r\nallow: GET, HEAD')
  })
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    counters.requests++
    counters.refused++
    refuse(response, 417, 'nothing is expected but 100-continue')
  })
  // Failed TLS handshakes come here too.
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const { code = '' } = error
    // The client went away: nothing to say, and nothing it did wrong.
    if (code !== 'ECONNRESET' && code !== 'EPIPE') counters.badConnections++
    const isHttp = code.startsWith('HPE_') || code.startsWith('ERR_HTTP')
    if (isHttp && socket.writable) end(socket, STATUS_OF[code] ?? '400 Bad Request')
    else socket.destroy()
  })
  return server
}

/**
 * Handles one request of a connection at a time. Clients that send others before they have their answer could have
 * thousands of answers made from one packet: they get the one that they wait for, and the connection is closed.
 */
function oneByOne(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  counters: WebServerCounters,
): (request: IncomingMessage, response: ServerResponse) => void {
  const answering = new WeakMap<Duplex, ServerResponse>()
  return (request, response) => {
    const { socket } = request
    const before = answering.get(socket)
    if (before === undefined) {
      answering.set(socket, response)
      response.once('close', () => answering.delete(socket))
      handle(request, response)
      return
    }
    counters.requests++
    counters.refused++
    if (endless.has(before)) socket.destroy()
    else if (before.listenerCount('close', closeBehind) === 0) {
      // What else it sends is not read.
      socket.pause()
      before.once('close', closeBehind)
    }
  }
}

const endless = new WeakSet<ServerResponse>()

/** Notes that an answer never ends: a client that asks for something else behind it is let go of at once. */
export function neverEnds(response: ServerResponse): void {
  endless.add(response)
}

function closeBehind(this: ServerResponse): void {
  this.req.socket.destroySoon()
}

function create(
  tls: ServerTls | undefined,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const limits: ServerOptions = {
    maxHeaderSize: MAX_HEADER_SIZE,
    connectionsCheckingInterval: CHECK_INTERVAL,
    // Node.js would answer by itself, and nothing would count it.
    requireHostHeader: false,
  }
  if (tls === undefined) return createHttpServer(limits, handle)
  const { key, cert, ca, requestCert = false } = tls
  try {
    return createHttpsServer(
      {
        ...limits,
        handshakeTimeout: HEADERS_TIMEOUT,
        key: pemBuffers(key),
        cert: pemBuffers(cert),
        ca: ca && pemBuffers(ca),
        requestCert,
        rejectUnauthorized: requestCert,
      },
      handle,
    )
  } catch (error) {
    throw new OptionError(
      'tls',
      HIDDEN,
      `a key and a certificate in PEM that belong together (${reasonOf(error)})`,
    )
  }
}

/** Whether a request has a body, which no request to these servers needs. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

function end(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n\r\n`, () => socket.destroy())
}
