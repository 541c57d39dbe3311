import { createServer, type OutgoingHttpHeader, type RequestListener, type ServerResponse } from 'node:http'
import { connect, createServer as createServer2, type IncomingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { expressMiddleware, httpMiddleware, type MiddlewareOptions } from '../../../dist/agent/index.js'
import { ask, keepAlive, rawConnection, rawExchange, until } from '../support.js'
import { fakeAgent, listen } from './support.js'

const ALWAYS: MiddlewareOptions = { when: 'always' }
const TEXT = 'TEXT cpu_utilization=0.375,named_metrics.in_flight=1'

async function serve(t: ExecutionContext, handler: RequestListener, options = ALWAYS) {
  const fake = fakeAgent()
  const port = await listen(t, createServer(httpMiddleware(fake.agent, handler, options)))
  return { ...fake, port, url: `http://127.0.0.1:${port}/` }
}

/** The head of a raw answer, without what changes from one to the other. */
function headOf(text: string): string[] {
  const [head = ''] = text.split('\r\n\r\n')
  return head.split('\r\n').filter((line) => !/^(date|connection|transfer-encoding):/i.test(line))
}

const WAYS: [name: string, write: (response: ServerResponse) => void, head: string[]][] = [
  ['no writeHead', (response) => response, ['HTTP/1.1 200 OK']],
  ['writeHead with a status', (response) => response.writeHead(201), ['HTTP/1.1 201 Created']],
  [
    'writeHead with a status and a text',
    (response) => response.writeHead(201, 'Made'),
    ['HTTP/1.1 201 Made'],
  ],
  [
    'writeHead with headers',
    (response) => response.writeHead(202, { 'X-A': '1' }),
    ['HTTP/1.1 202 Accepted', 'X-A: 1'],
  ],
  [
    'writeHead with a text and headers',
    (response) => response.writeHead(202, 'Well', { 'X-A': ['1', '2'] }),
    ['HTTP/1.1 202 Well', 'X-A: 1', 'X-A: 2'],
  ],
  [
    'writeHead with a list of headers, one of them twice',
    (response) => response.writeHead(200, ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']),
    ['HTTP/1.1 200 OK', 'Set-Cookie: a=1', 'Set-Cookie: b=2'],
  ],
  ['writeHead with an empty list', (response) => response.writeHead(200, []), ['HTTP/1.1 200 OK']],
  [
    'writeHead with pairs',
    (response) =>
      response.writeHead(200, [
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
      ] as unknown[] as OutgoingHttpHeader[]),
    ['HTTP/1.1 200 OK', 'Set-Cookie: a=1', 'Set-Cookie: b=2'],
  ],
  [
    'setHeader before and headers in writeHead',
    (response) => {
      response.setHeader('X-Before', 'b')
      response.writeHead(200, { 'X-A': '1' })
    },
    ['HTTP/1.1 200 OK', 'X-Before: b', 'X-A: 1'],
  ],
]

for (const [name, write, head] of WAYS) {
  test(`${name}: the head is the same but for the report`, async (t) => {
    const { port } = await serve(t, (_request, response) => {
      write(response)
      response.end('x')
    })
    const lines = headOf(await rawExchange(port, 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'))
    const rest = lines.filter((line) => !/^(endpoint-load-metrics|content-length):/i.test(line))
    t.deepEqual(rest.toSorted(), head.toSorted())
    t.deepEqual(
      lines.filter((line) => /^endpoint-load-metrics:/i.test(line)),
      [`endpoint-load-metrics: ${TEXT}`],
    )
  })
}

test('a report that the handler passes on from elsewhere gives way to its own', async (t) => {
  const { url } = await serve(t, (_request, response) => {
    response.setHeader('endpoint-load-metrics', 'TEXT cpu_utilization=0.99')
    response.end()
  })
  t.is((await ask(url)).headers['endpoint-load-metrics'], TEXT)
})

test('a head that is written twice is refused as ever', async (t) => {
  let error: unknown
  const { url, traffic } = await serve(t, (_request, response) => {
    response.writeHead(200)
    try {
      response.writeHead(200)
    } catch (thrown) {
      error = thrown
    }
    response.end()
  })
  t.is((await ask(url)).status, 200)
  t.is((error as NodeJS.ErrnoException).code, 'ERR_HTTP_HEADERS_SENT')
  t.is(traffic.counters.reports, 1)
})

test('early hints and a 100 go out without a report', async (t) => {
  const { port } = await serve(t, (_request, response) => {
    response.writeEarlyHints({ link: '</a.css>; rel=preload' })
    response.end('x')
  })
  const text = await rawExchange(port, 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  t.regex(text, /^HTTP\/1.1 103 [\s\S]*\r\n\r\nHTTP\/1.1 200 /)
  t.is(text.match(/endpoint-load-metrics/gi)?.length, 1)
})

test('the handler is called as it would be, and what it gives is given back', async (t) => {
  const { agent } = fakeAgent()
  const seen: unknown[] = []
  const server = createServer()
  server.on(
    'request',
    httpMiddleware(agent, async function (this: unknown, request, response: ServerResponse) {
      seen.push(this, request.url)
      response.end()
      return 'done'
    }),
  )
  const port = await listen(t, server)
  await ask(`http://127.0.0.1:${port}/path`)
  t.deepEqual(seen, [server, '/path'])
})

test('a report too long for a header is left out: clients would refuse the whole response', async (t) => {
  const named = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`metric_of_mine_${i}`, i]))
  const { agent, traffic } = fakeAgent({ cpu: 1, named })
  const handler: RequestListener = (_request, response) => response.end('fine')
  const port = await listen(t, createServer(httpMiddleware(agent, handler, ALWAYS)))
  const { status, headers } = await ask(`http://127.0.0.1:${port}/`)
  t.is(status, 200)
  t.false('endpoint-load-metrics' in headers)
  t.is(traffic.counters.badReports, 1)
})

test('a metric whose name no header can carry costs the report, and no response', async (t) => {
  const { agent, traffic } = fakeAgent({ cpu: 1, named: { 'a,b': 1 } })
  const handler: RequestListener = (_request, response) => response.end('fine')
  const port = await listen(t, createServer(httpMiddleware(agent, handler, ALWAYS)))
  const warned = new Promise<Error & { code?: string }>((resolve) => {
    process.on('warning', (warning) => {
      if (warning.message.includes('a,b')) resolve(warning)
    })
  })
  const { status, headers } = await ask(`http://127.0.0.1:${port}/`)
  t.is(status, 200)
  t.false('endpoint-load-metrics' in headers)
  t.is(traffic.counters.badReports, 1)
  const { code, message } = await warned
  t.is(code, 'IDLEST_REPORT_HEADER')
  t.regex(message, /a,b/)
})

async function serve2(t: ExecutionContext, options: MiddlewareOptions = ALWAYS) {
  const fake = fakeAgent()
  const server = createServer2(
    httpMiddleware(
      fake.agent,
      (request, response) => {
        if (request.url === '/never') return
        if (request.url === '/busy') response.statusCode = 503
        if (request.url === '/list') response.writeHead(200, { 'x-a': '1' })
        response.write('half')
        if (request.url !== '/half') response.end()
      },
      options,
    ),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  client.on('error', () => {})
  t.teardown(() => {
    client.destroy()
    server.close()
  })
  const open = (path: string, headers = {}) => {
    const stream = client.request({ ':path': path, ...headers })
    stream.on('error', () => {})
    stream.resume()
    return stream
  }
  const get = (path: string, headers = {}) =>
    new Promise<IncomingHttpHeaders & { ':status'?: number }>((resolve) => {
      open(path, headers).once('response', resolve)
    })
  return { ...fake, client, open, get }
}

test('HTTP/2: reports go along, in the form that is asked for', async (t) => {
  const { get, traffic } = await serve2(t, {})
  t.false('endpoint-load-metrics' in (await get('/')))
  const asked = await get('/list', { 'endpoint-load-metrics-format': 'TEXT' })
  t.is(asked['endpoint-load-metrics'], TEXT)
  t.is(asked['x-a'], '1')
  const busy = await get('/busy', { 'endpoint-load-metrics-format': 'TEXT' })
  t.is(busy[':status'], 503)
  t.is(busy['endpoint-load-metrics'], TEXT)
  await until(() => traffic.inFlight === 0)
  t.deepEqual([traffic.counters.ended, traffic.counters.failed], [3, 1])
})

test('HTTP/2: a stream that is reset, before or after the head, has failed', async (t) => {
  const { open, get, traffic } = await serve2(t)
  const never = open('/never')
  await until(() => traffic.inFlight === 1)
  never.close(8)
  await until(() => traffic.inFlight === 0)
  t.deepEqual([traffic.counters.ended, traffic.counters.failed], [1, 1])
  const half = open('/half')
  await new Promise((resolve) => half.once('response', resolve))
  half.close(8)
  await until(() => traffic.inFlight === 0)
  t.deepEqual([traffic.counters.ended, traffic.counters.failed], [2, 2])
  await get('/')
  await until(() => traffic.inFlight === 0)
  t.deepEqual([traffic.counters.ended, traffic.counters.failed], [3, 2])
})

test('HTTP/2: a connection that breaks leaves none of its streams in flight', async (t) => {
  const { open, client, traffic } = await serve2(t)
  for (let i = 0; i < 20; i++) open(i % 2 === 0 ? '/never' : '/half')
  await until(() => traffic.counters.begun === 20)
  t.is(traffic.inFlight, 20)
  client.destroy()
  await until(() => traffic.inFlight === 0)
  t.deepEqual([traffic.counters.ended, traffic.counters.failed], [20, 20])
})

test('a request whose client has gone before the middleware sees it is over at once', async (t) => {
  const { agent, traffic } = fakeAgent()
  const middleware = expressMiddleware(agent)
  const late: (() => void)[] = []
  const server = createServer((request, response) => {
    late.push(() => middleware(request, response, () => {}))
  })
  const closed = new Promise((resolve) => server.once('connection', (peer) => peer.once('close', resolve)))
  const port = await listen(t, server)
  // The second and the third wait for the first: they have no socket yet.
  const socket = await rawConnection(t, port, 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(3))
  await until(() => late.length === 3)
  socket.destroy()
  await closed
  for (const see of late) see()
  t.is(traffic.inFlight, 0)
  t.deepEqual([traffic.counters.begun, traffic.counters.failed], [3, 3])
})

test('a request that was answered before the middleware sees it is over at once, and has not failed', async (t) => {
  const { agent, traffic } = fakeAgent()
  const middleware = expressMiddleware(agent)
  const server = createServer((request, response) => {
    response.once('close', () => setImmediate(() => middleware(request, response, () => {})))
    response.end()
  })
  const url = `http://127.0.0.1:${await listen(t, server)}/`
  await ask(url, { agent: keepAlive(t) })
  await until(() => traffic.counters.begun === 1)
  t.deepEqual([traffic.inFlight, traffic.counters.failed], [0, 0])
})

test('HTTP/2: a stream that was reset before the middleware sees it is over at once', async (t) => {
  const { agent, traffic } = fakeAgent()
  const middleware = expressMiddleware(agent)
  const server = createServer2((request, response) => {
    response.once('close', () => setImmediate(() => middleware(request, response, () => {})))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  t.teardown(() => {
    client.destroy()
    server.close()
  })
  const stream = client.request({ ':path': '/' })
  stream.on('error', () => {})
  await new Promise((resolve) => stream.once('ready', resolve))
  await new Promise((resolve) => server.once('request', resolve))
  stream.close(8)
  await until(() => traffic.counters.begun === 1)
  t.deepEqual([traffic.inFlight, traffic.counters.failed], [0, 1])
})
