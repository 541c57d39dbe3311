import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { TlsSettings } from '../client-tls.js'
import { reasonOf } from '../errors.js'
import { bareHost } from '../host.js'
import type { Answer } from './answer.js'
import { HttpExchange, type HttpReading } from './http-exchange.js'
import { lookups } from './lookups.js'
import type { SecureContexts } from './secure-contexts.js'
import { boundTickets } from './tls-tickets.js'
import { touch } from './touched.js'
import type { HttpEndpoint } from './transports/http-endpoint.js'

// How long before a node closes an idle connection a new one is made instead, ms: the request may be on its way then.
const MARGIN = 1_000

// What plain connections are read into, all of them: Node.js would otherwise allocate 64 KiB for each read, and what is left
// of these fragments the memory of the process. Deno and Bun have no such option.
const READ_BUFFER =
  'deno' in process.versions || 'bun' in process.versions ? undefined : Buffer.allocUnsafeSlow(65_536)

const NO_SETTINGS: TlsSettings = {}

/**
 * One node that is asked over HTTP, with its one kept connection. Neither a client nor an agent of a library: for thousands
 * of nodes these take most of the memory, and none of them limits all that a node can send.
 */
export class HttpNode {
  /** Bytes of the body of the last answer, as far as they came. */
  bodySize = 0
  /** Answers in a row that were no HTTP, or broke a limit. */
  refusals = 0
  readonly #endpoint: HttpEndpoint
  readonly #reading: HttpReading
  readonly #contexts: SecureContexts
  readonly #now: () => number
  #socket: Socket | undefined
  // Until when the connection may be used again, once it is idle, clock time.
  #keptUntil = 0
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
    if (this.#exchange?.ended === false || this.#now() >= this.#keptUntil) this.#drop()
    const isReused = this.#socket !== undefined
    const exchange = this.#send()
    const first = await exchange.answer
    // The other side may close a kept connection at the very moment of the request: that is no failure of the node.
    const last = isReused && first === exchange.closed ? this.#send() : exchange
    const answer = await last.answer
    this.bodySize = last.size
    this.refusals = last.refused ? this.refusals + 1 : 0
    return answer
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
    this.#exchange = undefined
    this.#close()
  }

  #close(): void {
    this.#socket?.destroy()
    this.#socket = undefined
  }

  #send(): HttpExchange {
    const exchange = new HttpExchange(this.#reading, this.#now)
    this.#exchange = exchange
    try {
      this.#socket ??= this.#open()
      this.#socket.write(this.#request(), 'latin1')
    } catch (error) {
      this.#drop()
      exchange.settle({ kind: 'error', reason: reasonOf(error) })
    }
    return exchange
  }

  #request(): string {
    const { origin, path, authorization } = this.#endpoint
    const { headers } = this.#reading
    let head = `GET ${path} HTTP/1.1\r\nhost: ${origin.slice(origin.indexOf('//') + 2)}\r\nconnection: keep-alive\r\n`
    for (const name in headers) head += `${name}: ${headers[name]}\r\n`
    if (authorization !== undefined) head += `authorization: ${authorization}\r\n`
    return `${head}\r\n`
  }

  #open(): Socket {
    const socket = this.#connect((bytes) => this.#take(socket, bytes))
    // Polling keeps no process alive.
    socket.unref()
    socket.once('connect', () => socket.unref())
    socket.on('error', (error) => this.#lost(socket, reasonOf(error)))
    socket.on('end', () => this.#lost(socket))
    socket.on('close', () => this.#lost(socket))
    return socket
  }

  // What is taken is overwritten by the next read.
  #connect(take: (bytes: Buffer) => void): Socket {
    const { origin, tls } = this.#endpoint
    const { protocol, hostname, port } = new URL(origin)
    const host = bareHost(hostname)
    const { lookup } = lookups
    if (protocol === 'https:') {
      const socket = connectTls({
        ...this.#contexts.connection(host, tls ?? NO_SETTINGS),
        lookup,
        port: Number(port || 443),
        ALPNProtocols: ['http/1.1'],
      }).on('data', take)
      boundTickets(socket, (reason) => this.#lost(socket, reason))
      return socket
    }
    const plain = { host, port: Number(port || 80), lookup }
    if (READ_BUFFER === undefined) return connect(plain).on('data', take)
    const callback = (length: number) => {
      take(READ_BUFFER.subarray(0, length))
      return true
    }
    return connect({ ...plain, onread: { buffer: READ_BUFFER, callback } })
  }

  #take(socket: Socket, bytes: Buffer): void {
    if (socket !== this.#socket) return
    touch(this)
    const exchange = this.#exchange
    // Nothing was asked for.
    if (exchange === undefined || exchange.ended) {
      this.#drop()
      return
    }
    exchange.take(bytes)
    if (!exchange.ended || socket !== this.#socket) return
    if (exchange.keptFor > MARGIN) this.#keptUntil = this.#now() + exchange.keptFor - MARGIN
    else this.#close()
    if (exchange.settled) this.#exchange = undefined
  }

  #lost(socket: Socket, reason?: string): void {
    if (socket !== this.#socket) return
    this.#close()
    this.#exchange?.lost(reason)
  }
}
