// Nodes that misuse gRPC and HTTP/2, for tests and the soak: written against the wire alone.
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { deflateSync, gzipSync } from 'node:zlib'

/** A node that misbehaves; it ends with all its connections. */
export interface HostileNode {
  readonly port: number
  /** Connections that were accepted so far. */
  readonly connections: () => number
  /** Calls that it has answered in its way. */
  readonly calls: () => number
  close(): void
}

/** What a node of one kind does. */
export interface HostileKind {
  readonly name: string
  start(): Promise<HostileNode>
}

/** Of `:status: 200` and `content-type: application/grpc`, by HPACK. */
const RESPONSE = Buffer.concat([
  Buffer.from([0x88, 0x0f, 0x10, 16]),
  Buffer.from('application/grpc', 'latin1'),
])
/** Of `:status: 103`. */
const EARLY_HINTS = Buffer.from('0803313033', 'hex')

const DATA = 0
const HEADERS = 1
const PRIORITY = 2
const SETTINGS = 4
const PING = 6
const WINDOW_UPDATE = 8
const UNKNOWN = 0xfa
const END_HEADERS = 4
const PADDED = 8

/** A frame of HTTP/2. */
export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** A message as gRPC frames it. */
export function framed(message: Buffer, compressed = 0): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt8(compressed, 0)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** The frames that floods are made of; each is right, or may be skipped, by itself. */
export const FLOODS: Readonly<Record<string, Buffer>> = {
  'unknown frames': frame(UNKNOWN, 0, 0, Buffer.alloc(0)),
  PRIORITY: frame(PRIORITY, 0, 1, Buffer.from('0000000000', 'hex')),
  WINDOW_UPDATE: frame(WINDOW_UPDATE, 0, 0, Buffer.from('00000001', 'hex')),
  'padded empty DATA': frame(DATA, PADDED, 1, Buffer.alloc(1)),
  PING: frame(PING, 0, 0, Buffer.alloc(8)),
  SETTINGS: frame(SETTINGS, 0, 0, Buffer.alloc(0)),
}

/** Writes without end, as fast as the other side takes it. */
export function flood(socket: Socket, one: Buffer): void {
  const many = Buffer.concat(Array.from({ length: Math.ceil(65_536 / one.length) }, () => one))
  const write = () => {
    while (!socket.destroyed) {
      if (socket.write(many)) continue
      socket.once('drain', write)
      return
    }
  }
  write()
}

async function listening(server: Server, calls = () => 0): Promise<HostileNode> {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    calls,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Answers the first call with what begins an answer, where that is wanted, and then floods. */
function flooding(name: string, one: Buffer, { answered = true } = {}): HostileKind {
  return {
    name: `sends ${name} without end`,
    start: () =>
      listening(
        createServer((socket) => {
          socket.write(frame(SETTINGS, 0, 0, Buffer.alloc(0)))
          let came = 0
          socket.on('data', (chunk) => {
            const before = came
            came += chunk.length
            // Behind the preface and the settings comes the call.
            if (before >= 100 || came < 100) return
            if (answered) socket.write(frame(HEADERS, END_HEADERS, 1, RESPONSE))
            flood(socket, one)
          })
        }),
      ),
  }
}

/** Answers calls by `node:http2`. */
function answering(name: string, answer: (stream: ServerHttp2Stream) => void): HostileKind {
  return {
    name,
    start() {
      const server = createHttp2Server()
      let calls = 0
      server.on('stream', (stream) => {
        calls++
        stream.on('error', () => {})
        answer(stream)
      })
      server.on('sessionError', () => {})
      return listening(server, () => calls)
    },
  }
}

function compressed(encoding: string | undefined, message: Buffer): HostileKind {
  const name = `sends a compressed message of ${message.length} bytes as ${encoding ?? 'no encoding'}`
  return answering(name, (stream) => {
    stream.respond({
      ':status': 200,
      'content-type': 'application/grpc',
      ...(encoding === undefined ? {} : { 'grpc-encoding': encoding }),
    })
    stream.write(framed(message, 1))
  })
}

const BOMB = Buffer.alloc(60_000_000)
const RIGHT = { ':status': 200, 'content-type': 'application/grpc' }

/** What a backend may answer a call of the out-of-band service with that is no report. */
export const WRONG_ANSWERS: readonly HostileKind[] = [
  compressed('zstd', Buffer.alloc(1)),
  compressed('snappy', Buffer.from('x')),
  compressed('identity', Buffer.alloc(1)),
  compressed(undefined, Buffer.alloc(1)),
  compressed('gzip', Buffer.from('this is not gzip')),
  compressed('deflate', Buffer.from('this is not deflate')),
  compressed('gzip', gzipSync(BOMB)),
  compressed('deflate', deflateSync(BOMB)),
  answering('says that a message has 4 GB', (stream) => {
    stream.respond(RIGHT)
    stream.write(Buffer.from('00ffffffff00', 'hex'))
  }),
  answering('sends a message of 1 MB', (stream) => {
    stream.respond(RIGHT)
    stream.write(framed(Buffer.alloc(1_000_000)))
  }),
  answering('sends what is no protobuf', (stream) => {
    stream.respond(RIGHT)
    stream.write(framed(Buffer.from('ffffffffffffffffffffffff', 'hex')))
  }),
  answering('sets flags that mean nothing', (stream) => {
    stream.respond(RIGHT)
    stream.write(framed(Buffer.alloc(0), 0xff))
  }),
  answering('resets the stream', (stream) => stream.close(2)),
  answering('has a status that is no number', (stream) => {
    stream.respond({ ...RIGHT, 'grpc-status': 'fine', 'grpc-message': '%' }, { endStream: true })
  }),
  answering('ends without a status', (stream) => {
    stream.respond(RIGHT)
    stream.end()
  }),
]

/** Messages that are right, without end. */
export function messageFlood(message: Buffer): HostileKind {
  return answering('sends good reports without end', (stream) => {
    stream.respond(RIGHT)
    const many = Buffer.concat(Array.from({ length: 1_000 }, () => framed(message)))
    const write = () => {
      while (!stream.destroyed) {
        if (stream.write(many)) continue
        stream.once('drain', write)
        return
      }
    }
    write()
  })
}

/** What a node may send below a stream of gRPC. */
export const FRAME_FLOODS: readonly HostileKind[] = [
  ...Object.entries(FLOODS).map(([name, one]) => flooding(name, one)),
  flooding('informational HEADERS', frame(HEADERS, END_HEADERS, 1, EARLY_HINTS), { answered: false }),
]

/** A node that is right: it tells its report each interval. */
export function rightNode(message: Buffer, interval: number): Promise<HostileNode> {
  return answering('tells its reports', (stream) => {
    stream.respond(RIGHT)
    const tell = () => stream.write(framed(message))
    const timer = setInterval(tell, interval)
    stream.on('close', () => clearInterval(timer))
    tell()
  }).start()
}
