import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls'
import { pem } from '../../agent/support.js'
import { EXPIRED, type Fault, type FaultedTransport, type FaultyNode } from './faults.js'

/** How nodes of one protocol over TCP answer. */
export interface TcpProtocol {
  /** Whether nodes wait for a request before they answer, or answer each connection at once. */
  readonly asked: boolean
  /**
   * A right answer, whole.
   * @param count answers of this node so far, from 1
   */
  answer(cpu: number, count: number): string
  /** An answer of right form with this in place of the load. */
  wrong(load: string): string
  /** An answer that lacks what is needed. */
  readonly empty: string
  /** What an answer that does not end begins with. */
  readonly endless: string
}

/** Between two bytes, ms: the shortest answer takes longer than any time-out of the tests. */
const BYTE_PAUSE = 200

/** Bytes that mean nothing in any protocol. */
export const GARBAGE = Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 73 + 17) % 256))

const FLOOD = Buffer.alloc(65_536, ' ')
const FLOOD_SIZE = 10_000_000

function flood(socket: Socket, sent = 0): void {
  if (sent >= FLOOD_SIZE || socket.destroyed) return
  socket.write(FLOOD, (error) => {
    if (!error) flood(socket, sent + FLOOD.length)
  })
}

/** Sends these bytes one by one. */
export function drip(socket: Socket, bytes: Buffer): void {
  let sent = 0
  const timer = setInterval(() => {
    if (socket.destroyed || sent === bytes.length) clearInterval(timer)
    else socket.write(bytes.subarray(sent, ++sent))
  }, BYTE_PAUSE)
  timer.unref()
}

class TcpNode implements FaultyNode {
  readonly id: string
  readonly #cpu: number
  readonly #protocol: TcpProtocol
  readonly #server: Server
  readonly #sockets: Set<Socket>
  #fault: Fault | undefined
  #answers = 0

  constructor(cpu: number, protocol: TcpProtocol, server: Server, sockets: Set<Socket>) {
    this.#cpu = cpu
    this.#protocol = protocol
    this.#server = server
    this.#sockets = sockets
    this.id = `127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  async break(fault: Fault): Promise<void> {
    this.#fault = fault
    if (fault === 'refuses') this.#server.close()
    // TLS servers alone are told of this.
    if (fault === EXPIRED) this.#certify('expired')
    this.#hangUp()
  }

  async mend(): Promise<void> {
    if (this.#fault === 'refuses') {
      this.#server.listen(Number(this.id.split(':')[1]), '127.0.0.1')
      await once(this.#server, 'listening')
    }
    if (this.#fault === EXPIRED) this.#certify('server')
    this.#fault = undefined
    this.#hangUp()
  }

  /** Takes a connection. */
  meet(socket: Socket): void {
    // Whatever it does, it hears that the other side has gone, and keeps no socket after that.
    socket.on('end', () => socket.destroy())
    socket.on('data', () => {
      if (this.#protocol.asked) this.#answer(socket)
    })
    if (!this.#protocol.asked) this.#answer(socket)
  }

  #certify(name: string): void {
    ;(this.#server as TlsServer).setSecureContext({ key: pem(`${name}-key`), cert: pem(name) })
  }

  #hangUp(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #answer(socket: Socket): void {
    const { answer, wrong, empty, endless } = this.#protocol
    const right = answer(this.#cpu, ++this.#answers)
    switch (this.#fault) {
      case undefined:
      case EXPIRED:
        socket.write(right)
        if (!this.#protocol.asked) socket.end()
        break
      case 'refuses':
      case 'resets':
        socket.resetAndDestroy()
        break
      case 'accepts and never answers':
        break
      case 'answers byte by byte':
        drip(socket, Buffer.from(right))
        break
      case 'half-closes':
        socket.end()
        break
      case 'floods 10 MB':
        socket.write(endless)
        flood(socket)
        break
      case 'sends garbage':
        socket.write(GARBAGE)
        break
      case 'closes in the middle':
        socket.end(right.slice(0, -3))
        break
      case 'reports NaN':
        socket.write(wrong('NaN'))
        break
      case 'reports a negative load':
        socket.write(wrong('-7'))
        break
      case 'reports a huge load':
        socket.write(wrong('1e300'))
        break
      case 'reports nothing that is needed':
        socket.write(empty)
        break
    }
  }
}

/** Starts nodes of a protocol over TCP. */
export function tcpNodes(protocol: TcpProtocol): FaultedTransport['start'] {
  return async (owner, cpu, tls) => {
    const sockets = new Set<Socket>()
    const take = (socket: Socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
      node.meet(socket)
    }
    const server: Server = tls
      ? createTlsServer({ key: pem('server-key'), cert: pem('server') }, take)
      : createServer({ allowHalfOpen: true }, take)
    server.on('tlsClientError', () => {})
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const node = new TcpNode(cpu, protocol, server, sockets)
    owner.teardown(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    return node
  }
}
