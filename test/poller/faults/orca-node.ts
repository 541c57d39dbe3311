import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls'
import * as grpc from '@grpc/grpc-js'
import { writeOrcaBinary } from '../../../dist/reports/orca-binary.js'
import { pem } from '../../agent/support.js'
import { STREAM_CORE_METRICS, serviceOf } from '../../support/grpc.js'
import { EXPIRED, type Fault, type FaultedTransport, type FaultyNode } from './faults.js'
import { drip, GARBAGE } from './tcp-node.js'

/** ms between two reports of a node. */
const SPACING = 100

/** The first frame of a server of HTTP/2: settings, of which there are none. */
const SETTINGS = Buffer.from('000000040000000000', 'hex')

/** A report with this as its CPU utilization. */
function wrong(utilization: number): Buffer {
  const bytes = Buffer.alloc(9, 0x09)
  bytes.writeDoubleLE(utilization, 1)
  return bytes
}

const WRONG: Partial<Record<Fault, Buffer>> = {
  'reports NaN': wrong(Number.NaN),
  'reports a negative load': wrong(-7),
  'reports a huge load': wrong(1e300),
  'reports nothing that is needed': Buffer.alloc(0),
  'floods 10 MB': Buffer.alloc(10_000_000),
}

/** A node that tells by gRPC's stream. Its connections come through a server of its own, which may do with them what it likes. */
class OrcaNode implements FaultyNode {
  readonly id: string
  readonly #front: Server
  readonly #sockets: Set<Socket>
  readonly #grpc = new grpc.Server()
  readonly #injector: grpc.ConnectionInjector
  readonly #right: Buffer
  #fault: Fault | undefined

  constructor(cpu: number, front: Server, sockets: Set<Socket>) {
    this.#front = front
    this.#sockets = sockets
    this.#right = Buffer.from(writeOrcaBinary({ cpu }))
    this.id = `127.0.0.1:${(front.address() as AddressInfo).port}`
    this.#grpc.addService(serviceOf(STREAM_CORE_METRICS, { responseStream: true }), {
      method: (call: grpc.ServerWritableStream<Buffer, Buffer>) => this.#tell(call),
    })
    this.#injector = this.#grpc.createConnectionInjector(grpc.ServerCredentials.createInsecure())
  }

  async break(fault: Fault): Promise<void> {
    this.#fault = fault
    if (fault === 'refuses') this.#front.close()
    if (fault === EXPIRED) this.#certify('expired')
    this.#hangUp()
  }

  async mend(): Promise<void> {
    if (this.#fault === EXPIRED) this.#certify('server')
    this.#fault = undefined
    this.#hangUp()
  }

  close(): void {
    this.#grpc.forceShutdown()
    this.#front.close()
    this.#hangUp()
  }

  /** Takes a connection. */
  meet(socket: Socket): void {
    switch (this.#fault) {
      case 'refuses':
      case 'resets':
        socket.resetAndDestroy()
        break
      case 'accepts and never answers':
        socket.resume()
        break
      case 'answers byte by byte':
        socket.resume()
        drip(socket, SETTINGS)
        break
      case 'half-closes':
        socket.resume()
        socket.end()
        break
      case 'sends garbage':
        socket.resume()
        socket.write(GARBAGE)
        break
      case 'closes in the middle':
        socket.resume()
        socket.end(SETTINGS.subarray(0, 5))
        break
      default:
        this.#injector.injectConnection(socket)
    }
  }

  #tell(call: grpc.ServerWritableStream<Buffer, Buffer>): void {
    const write = () => call.write(WRONG[this.#fault as Fault] ?? this.#right)
    write()
    const timer = setInterval(() => {
      if (call.writableLength === 0) write()
    }, SPACING)
    call.on('cancelled', () => clearInterval(timer))
  }

  #certify(name: string): void {
    // TLS servers alone are told of this.
    ;(this.#front as TlsServer).setSecureContext({ key: pem(`${name}-key`), cert: pem(name) })
  }

  #hangUp(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

/** Starts a node that tells by gRPC. */
export const orcaNode: FaultedTransport['start'] = async (owner, cpu, tls) => {
  const sockets = new Set<Socket>()
  const take = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    node.meet(socket)
  }
  const front: Server = tls
    ? createTlsServer({ key: pem('server-key'), cert: pem('server'), ALPNProtocols: ['h2'] }, take)
    : createServer({ allowHalfOpen: true }, take)
  front.on('tlsClientError', () => {})
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
  const node = new OrcaNode(cpu, front, sockets)
  owner.teardown(() => node.close())
  return node
}
