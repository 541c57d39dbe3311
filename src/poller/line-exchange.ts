import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { TlsSettings } from '../client-tls.js'
import { reasonOf } from '../errors.js'
import type { Failure } from './answer.js'
import { lookups } from './lookups.js'
import type { SecureContexts } from './secure-contexts.js'
import { boundTickets } from './tls-tickets.js'

/** Longest reply, bytes. */
const LINE_LIMIT = 1_024

/** Where a line comes from. */
export interface LineSource {
  readonly host: string
  readonly port: number
  /** Sent first. */
  readonly send: string | undefined
  readonly tls: TlsSettings | undefined
}

/** What came: a reply with the end of its first line in it, or why there is none. */
export type Line = { readonly kind: 'line'; readonly reply: Buffer } | Failure

const CR = 0x0d
const LF = 0x0a

function endsLine(byte: number): boolean {
  return byte === LF || byte === CR || byte === 0
}

/** Connects, sends what is to be sent, reads up to the first line end, and closes; once. */
export class LineExchange {
  /** Resolves in any case. */
  readonly line: Promise<Line>
  readonly #settle: (line: Line) => void
  #socket: Socket | undefined
  #settled = false
  #reply = Buffer.alloc(0)

  constructor(source: LineSource, contexts: SecureContexts) {
    let settle: (line: Line) => void = () => {}
    this.line = new Promise((resolve) => {
      settle = resolve
    })
    this.#settle = settle
    try {
      this.#listen(this.#open(source, contexts))
    } catch (error) {
      this.#end({ kind: 'error', reason: reasonOf(error) })
    }
  }

  /** Gives up and closes the connection. */
  cancel(reason: string): void {
    this.#end({ kind: 'exit', reason })
  }

  #open({ host, port, send, tls }: LineSource, contexts: SecureContexts): Socket {
    const begin = () => {
      if (send !== undefined) this.#socket?.write(send)
    }
    const { lookup } = lookups
    if (tls === undefined) return connect({ host, port, lookup }, begin)
    const socket = connectTls({ ...contexts.connection(host, tls), port, lookup }, begin)
    boundTickets(socket, (reason) => this.#end({ kind: 'error', reason }))
    return socket
  }

  #listen(socket: Socket): void {
    this.#socket = socket
    // Polling keeps no process alive.
    socket.unref()
    socket.on('data', (chunk) => this.#take(chunk))
    socket.on('error', (error) => this.#end({ kind: 'exit', reason: reasonOf(error) }))
    socket.on('end', () => this.#closed())
    socket.on('close', () => this.#closed())
  }

  #take(chunk: Buffer): void {
    if (this.#settled) return
    const room = LINE_LIMIT - this.#reply.length
    this.#reply = Buffer.concat([this.#reply, chunk.subarray(0, room)])
    if (this.#reply.some(endsLine)) this.#end({ kind: 'line', reply: this.#reply })
    else if (chunk.length >= room) {
      this.#end({ kind: 'error', reason: `no line end within ${LINE_LIMIT} bytes` })
    }
  }

  #closed(): void {
    const reason = this.#reply.length === 0 ? 'closed without a reply' : 'closed before the end of a line'
    this.#end({ kind: 'exit', reason })
  }

  #end(line: Line): void {
    if (this.#settled) return
    this.#settled = true
    this.#socket?.destroy()
    this.#reply = Buffer.alloc(0)
    this.#settle(line)
  }
}
