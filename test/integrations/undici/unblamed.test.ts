import { once } from 'node:events'
import { constants } from 'node:http2'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import test, { type ExecutionContext } from 'ava'
import { Client, fetch as undiciFetch } from 'undici/index.js'
import { pem } from '../../agent/support.js'
import { get, http2Node, named, over, overHttp2 } from './servers.js'

const url = 'http://service.local/'
const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfirst'

/** A node that answers the first requests of a connection, and ends it so on the next. */
async function closing(t: ExecutionContext, answers: number, end: (socket: Socket) => void, tls = false) {
  let requests = 0
  const take = (socket: Socket) => {
    let left = answers
    socket.on('error', () => {})
    socket.on('data', () => {
      requests++
      if (left-- > 0) socket.write(answer)
      else end(socket)
    })
  }
  const server = tls
    ? createTlsServer({ key: pem('server-key'), cert: pem('server') }, take)
    : createServer(take)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { id: `127.0.0.1:${(server.address() as AddressInfo).port}`, requests: () => requests }
}

const ends: [string, (socket: Socket) => void][] = [
  ['closed', (socket) => socket.destroy()],
  ['ended', (socket) => socket.end()],
  ['reset', (socket) => socket.resetAndDestroy()],
]

for (const [how, end] of ends) {
  test(`a kept connection that is ${how} before any byte of an answer is no failure of the node`, async (t) => {
    const a = await closing(t, 1, end)
    const { dispatcher, outcomes, inFlight } = over(t, [a], { retry: false, pool: { connections: 1 } })
    t.is(await (await dispatcher.request(get)).body.text(), 'first')
    await t.throwsAsync(dispatcher.request(get))
    t.deepEqual(outcomes(), [[1, 0]])
    t.is(dispatcher.stats.unblamed, 1)
    t.is(dispatcher.stats.failures.reset, 0)
    t.deepEqual(inFlight(), [0])
  })

  test(`a new connection that is ${how} is one`, async (t) => {
    // A TLS socket can't be reset.
    for (const tls of how === 'reset' ? [false] : [false, true]) {
      const a = await closing(t, 0, end, tls)
      const options = tls
        ? { origins: (id: string) => `https://${id}`, pool: { connect: { ca: pem('ca') } } }
        : {}
      const { dispatcher, outcomes } = over(t, [a], { retry: false, ...options })
      await t.throwsAsync(dispatcher.request(get))
      t.deepEqual(outcomes(), [[1, 1]], `tls: ${tls}`)
    }
  })
}

test('a connection that is lost in the middle of an answer is a failure, also a kept one', async (t) => {
  const a = await closing(t, 1, (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nfour'))
  const { dispatcher, outcomes } = over(t, [a], { pool: { connections: 1 } })
  await (await dispatcher.request(get)).body.text()
  const { body } = await dispatcher.request(get)
  await t.throwsAsync(body.text())
  t.deepEqual(outcomes(), [[2, 1]])
})

test('a request on a connection that the server had closed is retried where it may be, on the same node if there is no other', async (t) => {
  const a = await closing(t, 1, (socket) => socket.destroy())
  const alone = over(t, [a], { pool: { connections: 1 } })
  for (let i = 0; i < 3; i++) t.is(await (await alone.dispatcher.request(get)).body.text(), 'first')
  t.is(alone.dispatcher.stats.retries, 2)
  t.deepEqual(alone.outcomes(), [[3, 0]])
  const b = await closing(t, 1, (socket) => socket.destroy())
  const { dispatcher, outcomes } = over(t, [b, await named(t, 'other')], { pool: { connections: 1 } })
  await (await dispatcher.request(get)).body.text()
  await (await dispatcher.request(get)).body.text()
  t.is(await (await undiciFetch(url, { dispatcher })).text(), 'other')
  t.deepEqual(
    outcomes().map(([, failed]) => failed),
    [0, 0],
  )
  // Nobody knows whether the server did what a POST asks for.
  const last = over(t, [b], { pool: { connections: 1 } })
  await (await last.dispatcher.request(get)).body.text()
  await t.throwsAsync(last.dispatcher.request({ path: '/', method: 'POST', body: 'once' }))
  t.deepEqual(last.outcomes(), [[1, 0]])
})

test('fetch through run() blames no node for a connection that the server had closed', async (t) => {
  const a = await closing(t, 1, (socket) => socket.end())
  const { balancer } = over(t, [a])
  const client = new Client(`http://${a.id}`)
  t.teardown(() => client.destroy())
  const ask = async () => (await undiciFetch(`http://${a.id}/`, { dispatcher: client })).text()
  t.is(await balancer.run(ask), 'first')
  await t.throwsAsync(balancer.run(ask), { message: 'fetch failed' })
  t.like(balancer.stats().leases, { failed: 0, neutral: 1 })
  t.is(await balancer.run(ask), 'first')
  t.is(await balancer.run(ask, { attempts: 2 }), 'first')
})

test('a refused stream is sent elsewhere whatever its method, and is no failure of the node', async (t) => {
  const refusing = await http2Node(t, (stream) => {
    stream.on('error', () => {})
    stream.close(constants.NGHTTP2_REFUSED_STREAM)
  })
  const good = await http2Node(t, (stream) => {
    stream.respond({ ':status': 200 })
    stream.pipe(stream)
  })
  const { dispatcher, outcomes, inFlight } = over(t, [refusing, good], overHttp2)
  const { body } = await dispatcher.request({ path: '/', method: 'POST', body: 'once' })
  t.is(await body.text(), 'once')
  t.deepEqual(outcomes(), [
    [0, 0],
    [1, 0],
  ])
  t.is(dispatcher.stats.unblamed, 1)
  t.deepEqual(inFlight(), [0, 0])
})

/** A node that closes its first connection in good order (GOAWAY), with a request on it that it has not answered; then it echoes. */
function goingAway(t: ExecutionContext) {
  let isFirst = true
  return http2Node(t, (stream) => {
    stream.on('error', () => {})
    if (isFirst) {
      isFirst = false
      const { session } = stream
      session?.goaway(constants.NGHTTP2_NO_ERROR, 0)
      // The frame is to be sent before the connection ends.
      setImmediate(() => session?.destroy())
      return
    }
    stream.respond({ ':status': 200 })
    stream.pipe(stream)
  })
}

test('a request on a connection that goes away is retried where it may be sent twice, and is no failure', async (t) => {
  const idempotent = over(t, [await goingAway(t)], overHttp2)
  const { body } = await idempotent.dispatcher.request({ path: '/', method: 'PUT', body: 'twice' })
  t.is(await body.text(), 'twice')
  t.deepEqual(idempotent.outcomes(), [[1, 0]])
  t.is(idempotent.dispatcher.stats.unblamed, 1)
  // undici 7 does not say whether the server has looked at it.
  const { dispatcher, outcomes, inFlight } = over(t, [await goingAway(t)], overHttp2)
  await t.throwsAsync(dispatcher.request({ path: '/', method: 'POST', body: 'once' }))
  t.deepEqual(outcomes(), [[0, 0]])
  t.is(dispatcher.stats.unblamed, 1)
  t.deepEqual(inFlight(), [0])
})

test('a stream that ends with another error is a failure, and a POST is not sent again', async (t) => {
  const failing = await http2Node(t, (stream) => {
    stream.on('error', () => {})
    stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  })
  const { dispatcher, outcomes } = over(t, [failing], overHttp2)
  await t.throwsAsync(dispatcher.request({ path: '/', method: 'POST', body: 'once' }))
  t.deepEqual(outcomes(), [[1, 1]])
})
