// Nodes that misuse HTTP/1, for tests and the soak: written against the wire alone.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { HostileKind, HostileNode } from './hostile-grpc.js'

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
const UNTIL_CLOSE = 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n'

/** What begins an answer, and what then comes again and again. */
export const ENDLESS = [
  ['interim answers', '', 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n'],
  ['interim answers without fields', '', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ['blank lines before its head', '', '\r\n'],
  ['its reason phrase', 'HTTP/1.1 200 ', 'OK '],
  ['one header field', 'HTTP/1.1 200 OK\r\nx: ', 'y'],
  ['small header fields', 'HTTP/1.1 200 OK\r\n', 'a:\r\n'],
  ['continued header fields', 'HTTP/1.1 200 OK\r\nx: y\r\n', ' y\r\n'],
  ['its version', 'HTTP/1.', '1'],
  ['a chunk extension', `${CHUNKED}5`, ';a=b'],
  ['small chunks with extensions', CHUNKED, `1;${'e'.repeat(100)}\r\nx\r\n`],
  ['zeros of a chunk size', CHUNKED, '0'],
  ['trailers', `${CHUNKED}0\r\n`, 'a: b\r\n'],
  ['chunks of one byte', CHUNKED, '1\r\n \r\n'],
  ['its body', UNTIL_CLOSE, ' '],
  ['a page without line breaks', UNTIL_CLOSE, 'node_cpu_seconds_total{cpu="0",mode="idle"} 1 '],
] as const

/** Sends the beginning, and the rest as fast as it is taken, until the connection ends. */
export function sendEndlessly(socket: Socket, begin: string, again: string): void {
  const block = Buffer.from(again.repeat(Math.ceil(65_536 / again.length)))
  const more = (error?: Error | null): void => {
    if (!error && !socket.destroyed) socket.write(block, more)
  }
  socket.on('end', () => socket.destroy())
  socket.once('data', () => socket.write(begin, more))
}

// Each byte in a packet of its own, as fast as may be.
function sendByBytes(socket: Socket, begin: string, again: string): void {
  socket.setNoDelay()
  socket.on('end', () => socket.destroy())
  const text = begin + again.repeat(100_000)
  let at = 0
  const more = (): void => {
    if (socket.destroyed || at >= text.length) return
    socket.write(text[at++] as string)
    setImmediate(more)
  }
  socket.once('data', more)
}

// The same answer to each request of a connection that is kept.
function answerWith(socket: Socket, body: Buffer): void {
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`
  socket.on('data', () => {
    socket.write(head)
    socket.write(body)
  })
}

/** A node that treats each connection so. */
export async function startNode(listener: (socket: Socket) => void): Promise<HostileNode> {
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    listener(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    calls: () => connections,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

const kind = (name: string, listener: (socket: Socket) => void): HostileKind => ({
  name,
  start: () => startNode(listener),
})

/** Answers without end, and some that come byte by byte. */
export const HTTP_KINDS: readonly HostileKind[] = [
  ...ENDLESS.map(([name, begin, again]) => kind(name, (socket) => sendEndlessly(socket, begin, again))),
  ...(['its reason phrase', 'chunks of one byte', 'its body'] as const).map((name) => {
    const [, begin, again] = ENDLESS.find(([one]) => one === name) ?? ['', '', ' ']
    return kind(`${name}, each byte by itself`, (socket) => sendByBytes(socket, begin, again))
  }),
]

const MOST = 4 * 2 ** 20

function pageOf(line: string): Buffer {
  return Buffer.from(line.repeat(Math.floor(MOST / line.length)))
}

/** Pages as long as may be, whole and right, of so many lines. */
export const PAGE_KINDS: readonly HostileKind[] = [
  ['a page of blank lines', '\n'],
  ['a page of comments', '#\n'],
  ['a page of series that nobody asked for', 'a 1\n'],
  ['a page of series that count', 'node_cpu_seconds_total{cpu="0",mode="idle"} 1\n'],
  ['a page of series with many labels', `node_cpu_seconds_total{${'a="b",'.repeat(1_000)}mode="idle"} 1\n`],
].map(([name = '', line = '']) => {
  const page = pageOf(line)
  return kind(name, (socket) => answerWith(socket, page))
})
