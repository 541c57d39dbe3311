import { once } from 'node:events'
import { constants, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createServer, type TLSSocket } from 'node:tls'
import test, { type ExecutionContext } from 'ava'
import type { Dispatcher } from 'undici/index.js'
import type { BalancedDispatcher } from '../../../dist/integrations/undici/index.js'
import { pem } from '../../agent/support.js'
import { get, http2Node, named, nobody, node, over, overHttp2 } from './servers.js'
import { ControllersOnly, testWithUndici8 } from './undici8.js'

type Factory = (origin: string) => Dispatcher

const LARGE = 1_000_000

/** All that undici 7's API does, over what this makes. */
async function usesAll(t: ExecutionContext, factory: Factory) {
  const echo = await node(t, (request, response) => {
    response.writeHead(200, { 'x-twice': ['one', 'two'], trailer: 'x-end' })
    response.addTrailers({ 'x-end': 'over' })
    request.pipe(response)
  })
  const { dispatcher, outcomes, inFlight } = over(t, [{ id: await nobody(t) }, echo], { factory })
  const requested = await dispatcher.request({ path: '/', method: 'PUT', body: 'put' })
  t.deepEqual(requested.headers['x-twice'], ['one', 'two'])
  t.is(await requested.body.text(), 'put')
  t.deepEqual(requested.trailers, { 'x-end': 'over' })
  // Larger than what streams hold: it is paused, and goes on.
  const large = await dispatcher.request({ path: '/', method: 'PUT', body: 'x'.repeat(LARGE) })
  await new Promise(setImmediate)
  t.is((await large.body.text()).length, LARGE)
  const through = new PassThrough()
  const streamed = text(through)
  await dispatcher.stream({ path: '/', method: 'PUT', body: 'streamed' }, () => through)
  t.is(await streamed, 'streamed')
  const pipeline = dispatcher.pipeline({ path: '/', method: 'PUT' }, ({ body }) => body)
  pipeline.end('piped')
  t.is(await text(pipeline), 'piped')
  const controller = new AbortController()
  const { signal } = controller
  const { body } = await dispatcher.request({ path: '/', method: 'PUT', body: 'x'.repeat(LARGE), signal })
  controller.abort()
  await t.throwsAsync(body.text(), { name: 'AbortError', any: true })
  t.deepEqual(inFlight(), [0, 0])
  t.is(outcomes()[1]?.[1], 0)
  t.is(dispatcher.stats.abandoned, 1)
  t.true((outcomes()[0]?.[1] ?? 0) > 0)
}

async function upgrades(t: ExecutionContext, factory: Factory) {
  const a = await node(t, () => {})
  a.server.on('upgrade', (_request, socket) => {
    socket.end('HTTP/1.1 101 Switching\r\nupgrade: words\r\nconnection: upgrade\r\nx-said: hello\r\n\r\nbye')
  })
  const { dispatcher } = over(t, [a], { factory })
  const { headers, socket } = await dispatcher.upgrade({ path: '/', protocol: 'words' })
  t.is(headers['x-said'], 'hello')
  t.is(await text(socket), 'bye')
}

/** Requests to other origins, by `otherwise`. */
async function goesElsewhere(t: ExecutionContext, factory: Factory) {
  const other = await named(t, 'other')
  const origin = `http://${other.id}`
  const { dispatcher } = over(t, [await named(t, 'a')], {
    for: 'http://service.local',
    otherwise: factory(origin),
  })
  t.is(await (await dispatcher.request({ ...get, origin })).body.text(), 'other')
  const none = {} as Dispatcher.DispatchHandler
  t.throws(() => dispatcher.dispatch({ ...get, origin }, none), { message: 'invalid onConnect method' })
}

const standIn: Factory = (origin) => new ControllersOnly(origin) as unknown as Dispatcher
const poolOf8 = async (): Promise<Factory> => {
  const { Pool } = await import('undici8')
  return (origin) => new Pool(origin) as unknown as Dispatcher
}

for (const [what, check] of [
  ['request, stream and pipeline of a dispatcher go over', usesAll],
  ['upgrades go over', upgrades],
  ["requests to other origins go over, as 'otherwise',", goesElsewhere],
] as const) {
  test(`${what} a pool that knows only handlers with controllers`, (t) => check(t, standIn))
  testWithUndici8(`${what} a pool of undici 8`, async (t) => check(t, await poolOf8()))
}

const h2 = { allowH2: true, connect: { ca: pem('ca') } }

const echo = (stream: ServerHttp2Stream) => {
  stream.respond({ ':status': 200, 'x-twice': ['one', 'two'] })
  stream.pipe(stream)
}

async function overHttp2Of8(t: ExecutionContext, nodes: readonly { readonly id: string }[]) {
  const { Pool } = await import('undici8')
  const factory = (origin: string) => new Pool(origin, { ...h2, connections: 1, pipelining: 10 })
  return over(t, nodes, { ...overHttp2, factory })
}

testWithUndici8('requests of a dispatcher go over HTTP/2 by a pool of undici 8', async (t) => {
  const { dispatcher } = await overHttp2Of8(t, [await http2Node(t, echo)])
  const { headers, body } = await dispatcher.request({ path: '/', method: 'POST', body: 'posted' })
  t.is(headers['x-twice'], 'one, two')
  t.is(await body.text(), 'posted')
})

/** What is answered to this request by `request` of the dispatcher, and by undici 8's `fetch`. */
async function byBoth(dispatcher: BalancedDispatcher<string>, method: string, body?: string) {
  const { fetch } = await import('undici8')
  const requested = await dispatcher.request({ path: '/', method: method as 'POST', ...(body && { body }) })
  // Without a body: fetch sends one as a stream, which can't be sent again.
  const fetched = await fetch('http://service.local/', { dispatcher, method })
  return [await requested.body.text(), await fetched.text()]
}

const methods = [['GET'], ['POST', 'posted'], ['PATCH', 'patched']] as const

testWithUndici8(
  'a stream that a server refuses is sent elsewhere, whatever its method, and is no failure',
  async (t) => {
    for (const [method, body] of methods) {
      const refusing = await http2Node(t, (stream) => {
        stream.on('error', () => {})
        stream.close(constants.NGHTTP2_REFUSED_STREAM)
      })
      const { dispatcher, outcomes, inFlight } = await overHttp2Of8(t, [refusing, await http2Node(t, echo)])
      t.deepEqual(await byBoth(dispatcher, method, body), [body ?? '', ''], method)
      t.deepEqual(
        outcomes().map(([, failed]) => failed),
        [0, 0],
      )
      t.true(dispatcher.stats.unblamed > 0)
      t.deepEqual(inFlight(), [0, 0])
    }
  },
)

const FRAME = 9
const PREFACE = 24
const [HEADERS, SETTINGS, GOAWAY] = [1, 4, 7]

function frame(type: number, flags: number, stream: number, payload: readonly number[] = []): Buffer {
  return Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, stream, ...payload])
}

/** In good order: it takes streams up to this one. */
const goAway = (last: number) => frame(GOAWAY, 0, 0, [0, 0, 0, last, 0, 0, 0, 0])

/**
 * A node that goes away when the second stream of its first connection comes, of which it takes the first stream alone. It
 * takes none of later connections, as undici itself tries once more; or there are none. Node's own server can't say that it
 * takes none.
 */
async function goingAway(t: ExecutionContext, hasLater: boolean) {
  let connections = 0
  const server = createServer({ key: pem('server-key'), cert: pem('server'), ALPNProtocols: ['h2'] })
  server.on('secureConnection', (socket) => {
    const isFirst = ++connections === 1
    let left = Buffer.alloc(0)
    let isOpen = false
    socket.on('error', () => {})
    socket.write(frame(SETTINGS, 0, 0))
    socket.on('data', (chunk: Buffer) => {
      left = Buffer.concat([left, chunk])
      if (!isOpen && left.length >= PREFACE) {
        isOpen = true
        left = left.subarray(PREFACE)
      }
      while (isOpen && left.length >= FRAME && left.length >= FRAME + left.readUIntBE(0, 3)) {
        const [type, stream] = [left.readUInt8(3), left.readUInt32BE(5)]
        left = left.subarray(FRAME + left.readUIntBE(0, 3))
        if (type === HEADERS) answer(socket, isFirst, stream)
      }
    })
  })
  const answer = (socket: TLSSocket, isFirst: boolean, stream: number) => {
    if (!isFirst) socket.end(goAway(0))
    else if (stream > 1) {
      if (!hasLater) server.close()
      // ":status: 200" and no body, for the first stream.
      socket.write(Buffer.concat([goAway(1), frame(HEADERS, 5, 1, [0x88])]))
    }
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { id: `127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections }
}

/** Three requests at once. The first and the third are for the first node, on one connection. */
async function threeAt(t: ExecutionContext, hasLater: boolean, method: string, body?: string) {
  const going = await goingAway(t, hasLater)
  const world = await overHttp2Of8(t, [going, await http2Node(t, echo)])
  const ask = async () => {
    const request = { path: '/', method: method as 'POST', ...(body && { body }) }
    return (await world.dispatcher.request(request)).body.text()
  }
  const answers = await Promise.all([ask(), ask(), ask()])
  t.deepEqual(answers, ['', body ?? '', body ?? ''], method)
  t.deepEqual(world.inFlight(), [0, 0])
  t.is(world.dispatcher.stats.retries, 1)
  t.is(going.connections(), hasLater ? 2 : 1)
  return world
}

testWithUndici8(
  'streams beyond the last that a server took, as it goes away, are sent elsewhere whatever their method',
  async (t) => {
    for (const [method, body] of methods) {
      const { dispatcher, outcomes } = await threeAt(t, true, method, body)
      t.deepEqual(outcomes(), [
        [1, 0],
        [2, 0],
      ])
      t.is(dispatcher.stats.unblamed, 1)
    }
  },
)

testWithUndici8(
  'so are they where the server then refuses connections, which is a failure to connect',
  async (t) => {
    for (const [method, body] of methods) {
      const { dispatcher, outcomes } = await threeAt(t, false, method, body)
      t.deepEqual(outcomes(), [
        [2, 1],
        [2, 0],
      ])
      t.like(dispatcher.stats, { unblamed: 0, failures: { connect: 1, reset: 0 } })
    }
  },
)
