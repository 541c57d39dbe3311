import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { ExecutionContext } from 'ava'
import test from 'ava'
import { WebSocket } from 'undici/index.js'
import { named, nobody, node, over } from './servers.js'

const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n'
const ESTABLISHED = 'HTTP/1.1 200 Connection Established\r\n\r\n'

/** A node that echoes what comes over an upgraded connection. */
async function echoing(t: ExecutionContext) {
  const echo = await named(t, 'plain')
  const answer = (head: string) => (_request: unknown, socket: Socket) => {
    socket.on('error', () => {})
    socket.write(head)
    socket.pipe(socket)
  }
  echo.server.on('upgrade', answer(SWITCHING)).on('connect', answer(ESTABLISHED))
  return echo
}

async function echoed(socket: Socket): Promise<string> {
  socket.write('hello')
  const [data] = await once(socket, 'data')
  return String(data)
}

test('an upgraded request is in flight until its socket is closed', async (t) => {
  const { dispatcher, balancer, inFlight, outcomes } = over(t, [await echoing(t)])
  const { socket, headers } = await dispatcher.upgrade({ path: '/', protocol: 'echo' })
  t.is(headers.upgrade, 'echo')
  t.is(await echoed(socket as Socket), 'hello')
  t.deepEqual(inFlight(), [1])
  socket.destroy()
  await once(socket, 'close')
  t.deepEqual(inFlight(), [0])
  t.deepEqual(outcomes(), [[1, 0]])
  t.not(balancer.snapshot()[0]?.latency, undefined)
})

test('CONNECT is in flight until its socket is closed', async (t) => {
  const { dispatcher, inFlight, outcomes } = over(t, [await echoing(t)])
  const { statusCode, socket } = await dispatcher.connect({ path: 'example.org:443', origin: 'http://x' })
  t.is(statusCode, 200)
  t.is(await echoed(socket as Socket), 'hello')
  t.deepEqual(inFlight(), [1])
  socket.end()
  socket.resume()
  await once(socket, 'close')
  t.deepEqual(inFlight(), [0])
  t.deepEqual(outcomes(), [[1, 0]])
})

test('a CONNECT that the node refuses with 502 is a failure of status', async (t) => {
  const proxy = await named(t, 'plain')
  proxy.server.on('connect', (_request, socket) => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'))
  const { dispatcher, outcomes } = over(t, [proxy])
  const { statusCode, socket } = await dispatcher.connect({ path: 'example.org:443', origin: 'http://x' })
  t.is(statusCode, 502)
  socket.resume()
  await once(socket, 'close')
  t.deepEqual(outcomes(), [[1, 1]])
})

test('a node that can not be connected to is passed over; one that does not upgrade is not', async (t) => {
  const echo = await echoing(t)
  const { dispatcher, outcomes } = over(t, [{ id: await nobody(t) }, echo, await named(t, 'plain')])
  const { socket } = await dispatcher.upgrade({ path: '/', protocol: 'echo' })
  t.is(await echoed(socket as Socket), 'hello')
  socket.destroy()
  await once(socket, 'close')
  await t.throwsAsync(dispatcher.upgrade({ path: '/', protocol: 'echo' }))
  t.is(outcomes()[1]?.[0], 1)
})

test('a WebSocket is in flight at its node until it is closed', async (t) => {
  const { createHash } = await import('node:crypto')
  const server = await node(t, (_request, response) => response.end())
  server.server.on('upgrade', ({ headers }, socket) => {
    const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
    const accept = createHash('sha1').update(key).digest('base64')
    const head = `connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: ${accept}\r\n\r\n`
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${head}`)
    // One text frame, "hi".
    socket.write(Buffer.from([0x81, 2, 0x68, 0x69]))
    socket.on('data', () => socket.end(Buffer.from([0x88, 0])))
  })
  const { dispatcher, inFlight } = over(t, [server])
  const webSocket = new WebSocket('ws://service.local/', { dispatcher })
  const [message] = await once(webSocket, 'message')
  t.is(message.data, 'hi')
  t.deepEqual(inFlight(), [1])
  webSocket.close()
  await once(webSocket, 'close')
  while (inFlight()[0] !== 0) await new Promise(setImmediate)
  t.deepEqual(inFlight(), [0])
})
