import { Socket } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import { buildConnector, Client, type Dispatcher, errors } from 'undici'
import { pemBuffers } from '../pem.js'
import { readOrcaJson } from '../reports/orca-json.js'
import { type Answer, type Failure, reasonOf } from './answer.js'
import type { TlsSettings } from './transports/credentials.js'
import type { HttpTarget } from './transports/http.js'

/** Longest body of a report, bytes. */
const BODY_LIMIT = 65_536
/** Longest header of an answer, bytes. */
const HEADER_LIMIT = 16_384

// Longer than any sensible poll interval: undici's own 4 s would close the connection between polls of 5 s. Where the
// agent closes earlier and says so, undici heeds that.
const KEEP_ALIVE = 600_000

/** TLS contexts by their settings: parsing the certificates anew for each of a thousand nodes takes seconds. */
export class SecureContexts {
  // The nodes of one message share the object, those of another have an equal one.
  readonly #same = new WeakMap<TlsSettings, SecureContext>()
  readonly #equal = new Map<string, SecureContext>()

  get(settings: TlsSettings): SecureContext {
    let context = this.#same.get(settings)
    if (context === undefined) {
      context = this.#find(settings)
      this.#same.set(settings, context)
    }
    return context
  }

  #find({ ca, cert, key }: TlsSettings): SecureContext {
    const pem = { ca: ca && pemBuffers(ca), cert: cert && pemBuffers(cert), key: key && pemBuffers(key) }
    const name = JSON.stringify(pem)
    let context = this.#equal.get(name)
    if (context === undefined) {
      context = createSecureContext(pem)
      this.#equal.set(name, context)
    }
    return context
  }
}

// A closed connection is the node's end (exit); a right connection with a wrong answer is its mistake (error).
function failureOf(error: unknown): Failure {
  // Of an answer that was cut off, undici's parser complains too, but with no bytes at fault.
  const unparsed = error instanceof errors.HTTPParserError && 'data' in error && error.data !== ''
  const wrong =
    unparsed ||
    error instanceof errors.HeadersOverflowError ||
    error instanceof errors.ResponseContentLengthMismatchError ||
    // Statuses below 200 that no request of ours asks for.
    (error instanceof errors.SocketError && /^bad (response|upgrade)$/.test(error.message))
  return { kind: wrong ? 'error' : 'exit', reason: reasonOf(error) }
}

/**
 * One node that is asked over HTTP, with its one kept connection. Its own client rather than a pool: what goes wrong
 * at one node then has nothing to hold up, and giving up on an answer is closing the connection.
 */
export class HttpNode {
  readonly #target: HttpTarget
  readonly #contexts: SecureContexts
  readonly #now: () => number
  #client: Client | undefined
  #socket: Socket | undefined
  // The ask in progress, so that what comes of an earlier one is told apart.
  #exchange: Exchange | undefined

  constructor(target: HttpTarget, contexts: SecureContexts, now: () => number) {
    this.#target = target
    this.#contexts = contexts
    this.#now = now
  }

  /** Asks for the report; resolves in any case. Not again before it has, or was cancelled. */
  async ask(): Promise<Answer> {
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
      const exchange = new Exchange(settle, this.#now)
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
    const { path, authorization, tls } = this.#target
    const headers: Record<string, string> = { accept: 'application/json' }
    if (authorization !== undefined) headers.authorization = authorization
    return {
      method: 'GET',
      path,
      headers,
      ...(tls?.servername === undefined ? {} : { servername: tls.servername }),
    }
  }

  #open(): Client {
    const { origin, tls } = this.#target
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
        if (socket instanceof Socket) this.#socket = withoutRef(socket)
      },
    })
  }
}

// Polling keeps no process alive, but undici refs the socket of a request in progress.
function withoutRef(socket: Socket): Socket {
  socket.unref()
  socket.ref = () => socket
  return socket
}

/** One request and its answer, as undici tells of it. */
class Exchange implements Dispatcher.DispatchHandler {
  /** The failure, where the connection ended before anything of an answer came. */
  closed: Failure | undefined
  readonly #settle: (answer: Answer) => void
  readonly #now: () => number
  #settled = false
  #at = -1
  #size = 0
  readonly #chunks: Buffer[] = []

  constructor(settle: (answer: Answer) => void, now: () => number) {
    this.#settle = settle
    this.#now = now
  }

  settle(answer: Answer): void {
    if (this.#settled) return
    this.#settled = true
    this.#settle(answer)
  }

  // Present, so that undici takes this for a handler of its current kind.
  onRequestStart(): void {}

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return
    // The age is that at the start of the answer; a slow body makes the sample older.
    this.#at = this.#now()
    if (status !== 200) {
      this.#refuse(
        controller,
        `status ${status}${status >= 300 && status < 400 ? ': redirects are not followed' : ''}`,
      )
    } else if (Number(headers['content-length']) > BODY_LIMIT) {
      this.#refuse(controller, `a body of ${headers['content-length']} bytes: at most ${BODY_LIMIT} are read`)
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length
    if (this.#size > BODY_LIMIT) this.#refuse(controller, `a body of more than ${BODY_LIMIT} bytes`)
    else this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    try {
      const report = readOrcaJson(Buffer.concat(this.#chunks).toString())
      this.settle({ kind: 'report', report, at: this.#at })
    } catch (error) {
      this.settle({ kind: 'error', reason: reasonOf(error) })
    }
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const failure = failureOf(error)
    if (this.#at < 0 && failure.kind === 'exit') this.closed = failure
    this.settle(failure)
  }

  // What is left of such an answer is not worth reading.
  #refuse(controller: Dispatcher.DispatchController, reason: string): void {
    this.settle({ kind: 'error', reason })
    controller.abort(new Error(reason))
  }
}
