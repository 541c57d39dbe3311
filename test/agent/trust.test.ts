import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import test, { type ExecutionContext } from 'ava'
import type { Agent } from '../../dist/agent/index.js'
import { ask, keepAlive, pem, rawConnection, rawExchange, startAgent, until } from './support.js'

const tls = { key: pem('server-key'), cert: pem('server') }

function closed(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => (socket.closed ? resolve(undefined) : socket.once('close', resolve)))
}

/** Sends a piece every 100 ms for as long as it can. */
function trickle(t: ExecutionContext, socket: Socket, piece: string): void {
  const timer = setInterval(() => socket.writable && socket.write(piece), 100)
  socket.once('close', () => clearInterval(timer))
  t.teardown(() => clearInterval(timer))
}

/** An answer comes, though perhaps not at once: a busy machine takes longer for a handshake than an agent waits. */
async function isAnswered(t: ExecutionContext, agent: Agent): Promise<void> {
  let answer = await ask(agent.url, { ca: pem('ca') }).catch(() => undefined)
  while (answer === undefined) answer = await ask(agent.url, { ca: pem('ca') }).catch(() => undefined)
  t.is(answer.status, 200)
}

test('a connection that says nothing is ended, and one that says its head by the byte', async (t) => {
  const { agent } = await startAgent(t)
  const silent = await rawConnection(t, agent.port)
  const slow = await rawConnection(t, agent.port, 'GET /report HTTP/1.1\r\nx: ')
  trickle(t, slow, 'y')
  const both = [silent, slow].map((socket) => closed(socket.resume()))
  await isAnswered(t, agent)
  await Promise.all(both)
  await until(() => agent.counters.server.badConnections >= 2)
  t.is(agent.counters.server.answered, 1)
})

test('a TLS handshake that is never begun, or never finished, is ended and counted', async (t) => {
  const { agent } = await startAgent(t, { tls })
  const silent = await rawConnection(t, agent.port)
  const halfway = await rawConnection(t, agent.port, '\x16\x03\x01\x00\xff\x01')
  const both = [silent, halfway].map((socket) => closed(socket.resume()))
  await isAnswered(t, agent)
  await Promise.all(both)
  await until(() => agent.counters.server.badConnections >= 2)
  t.is(agent.counters.server.answered, 1)
})

test('after the handshake, a client that says nothing is ended too', async (t) => {
  const { agent } = await startAgent(t, { tls })
  const silent = connectTls({ port: agent.port, host: '127.0.0.1', ca: pem('ca') }).resume()
  t.teardown(() => silent.destroy())
  silent.on('error', () => {})
  await closed(silent)
  await until(() => agent.counters.server.badConnections >= 1)
  await isAnswered(t, agent)
})

test('a client that asks without end and reads nothing is ended', async (t) => {
  const { agent } = await startAgent(t)
  const greedy = await rawConnection(t, agent.port)
  greedy.pause()
  const batch = 'GET /report HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(1_000)
  while (greedy.writableLength === 0 && !greedy.destroyed) {
    greedy.write(batch)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await isAnswered(t, agent)
  await closed(greedy)
  await isAnswered(t, agent)
})

test('who has no token keeps no connection', async (t) => {
  const { agent } = await startAgent(t, { token: 'abc' })
  const client = keepAlive(t)
  const { status, headers } = await ask(agent.url, { agent: client })
  t.is(status, 401)
  t.is(headers.connection, 'close')
  const right = await ask(agent.url, { agent: client, headers: { authorization: 'Bearer abc' } })
  t.is(right.headers.connection, 'keep-alive')
})

// Other systems have one loopback address alone.
if (process.platform === 'linux') {
  test('one address can take no more than three quarters of all connections: there is room for others', async (t) => {
    const { agent } = await startAgent(t, { maxConnections: 8, agentCheck: { maxConnections: 8 } })
    for (const port of [agent.port, agent.agentCheck?.port ?? 0]) {
      const taken: Socket[] = []
      const { server, agentCheck } = agent.counters
      const dropped = () => (port === agent.port ? server.dropped : (agentCheck?.dropped ?? 0))
      while (dropped() === 0) {
        const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).resume()
        socket.on('error', () => {})
        t.teardown(() => socket.destroy())
        taken.push(socket)
        await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve))
      }
      t.true(taken.length > 6)
      const other = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' })
      other.write('GET /report HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
      let text = ''
      for await (const chunk of other) text += chunk
      t.regex(text, /^HTTP\/1\.1 200 |^ready up 63%\n$/)
      for (const socket of taken) socket.destroy()
    }
  })
}

test('agent checks are answered while other clients hold on to theirs', async (t) => {
  const { agent } = await startAgent(t, { agentCheck: {} })
  const { port = 0 } = agent.agentCheck ?? {}
  for (let i = 0; i < 40; i++) {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => {})
    t.teardown(() => socket.destroy())
    trickle(t, socket, 'x')
  }
  for (let i = 0; i < 10; i++) t.is(await rawExchange(port, ''), 'ready up 63%\n')
  await until(() => agent.counters.agentCheck?.cut === 40)
  t.is(agent.counters.agentCheck?.dropped, 0)
})
