import { Socket } from 'node:net'
import { reasonOf } from '../errors.js'
import { buildConnector, Client, type Dispatcher } from '../undici.js'
import type { Answer } from './answer.js'
import { HttpExchange, type HttpReading } from './http-exchange.js'
import type { SecureContexts } from './secure-contexts.js'
import type { HttpEndpoint } from './transports/http-endpoint.js'
import { withoutRef } from './without-ref.js'

/** Longest header of an answer, bytes. */
const HEADER_LIMIT = 16_384

// Longer than any sensible poll interval: undici's own 4 s would close the connection between polls of 5 s. Where the
// agent closes earlier and says so, undici heeds that.
const KEEP_ALIVE = 600_000

// What undici's parser takes at once, bytes. Of a head or trailers that are too long it makes an error for each field in what
// it was given, though the first has closed the connection: a node could hold up the thread for seconds with 64 KiB of them.
const PIECE = 512

/**
 * One node that is asked over HTTP, with its one kept connection. Its own client rather than a pool: what goes wrong
 * at one node then has nothing to hold up, and giving up on an answer is closing the connection.
 */
export class HttpNode {
  readonly #endpoint: HttpEndpoint
  readonly #reading: HttpReading
  readonly #contexts: SecureContexts
  readonly #now: () => number
  #client: Client | undefined
  #socket: Socket | undefined
  // The ask in progress, so that what comes of an earlier one is told apart.
  #exchange: HttpExchange | undefined

  constructor(endpoint: HttpEndpoint, reading: HttpReading, contexts: SecureContexts, now: () => number) {
    this.#endpoint = endpoint
    this.#reading = reading
    this.#contexts = contexts
    this.#now = now
  }

  /** Asks for the report; resolves in any case. Not again before it has, or was cancelled. */
  async ask(): Promise<Answer> {
    // What is left of an answer that was read by its headers is not waited for.
    if (this.#exchange?.ended === false) this.#drop()
    const reused = this.#socket !== undefined && !this.#socket.destroyed ? this.#socket : undefined
    const first = await this.#send()
    // The other side may close a kept connection at the very moment of the request: that is no failure of the node.
    const closedMeanwhile =
      reused !== undefined &&
      this.#socket === reused &&
      first.kind === 'exit' &&
      first === this.#exchange?.closed
    return closedMeanwhile ? this.#send() : first
  }

  /** Gives up on the answer and closes the connection; `ask` then resolves as `exit`. */
  cancel(reason: string): void {
    const exchange = this.#exchange
    this.#exchange = undefined
    exchange?.settle({ kind: 'exit', reason })
    this.#drop()
  }

  /** Closes the connection. */
  close(): void {
    this.cancel('closed')
  }

  #drop(): void {
    this.#client?.destroy().catch(() => {})
    this.#client = undefined
    // A client does not close a socket that is still connecting.
    this.#socket?.destroy()
    this.#socket = undefined
  }

  #send(): Promise<Answer> {
    return new Promise((settle) => {
      const exchange = new HttpExchange(settle, this.#reading, this.#now)
      this.#exchange = exchange
      try {
        this.#client ??= this.#open()
        this.#client.dispatch(this.#request(), exchange)
      } catch (error) {
        exchange.settle({ kind: 'error', reason: reasonOf(error) })
      }
    })
  }

  #request(): Dispatcher.DispatchOptions & { servername?: string } {
    const { path, authorization, tls } = this.#endpoint
    const headers = { ...this.#reading.headers, ...(authorization === undefined ? {} : { authorization }) }
    return {
      method: 'GET',
      path,
      headers,
      ...(tls?.servername === undefined ? {} : { servername: tls.servername }),
    }
  }

  #open(): Client {
    const { origin, tls } = this.#endpoint
    // It returns the socket, whatever its type says.
    const connect: (...args: Parameters<buildConnector.connector>) => unknown = buildConnector({
      // Whoever asks bounds the time, from the connection to the last byte.
      timeout: 0,
      ...(tls === undefined
        ? {}
        : { secureContext: this.#contexts.get(tls), rejectUnauthorized: tls.rejectUnauthorized !== false }),
    })
    return new Client(origin, {
      pipelining: 1,
      maxHeaderSize: HEADER_LIMIT,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE,
      connect: (options, done) => {
        const socket = connect(options, done)
        if (socket instanceof Socket) this.#socket = inPieces(withoutRef(socket))
      },
    })
  }
}

// Hands over what has come piece by piece, and nothing more once the socket is closed.
function inPieces(socket: Socket): Socket {
  const { read } = socket
  socket.read = (size?: number) => {
    if (socket.destroyed) return null
    const piece = Math.min(socket.readableLength, PIECE)
    return read.call(socket, size ?? (piece === 0 ? undefined : piece))
  }
  return socket
}
