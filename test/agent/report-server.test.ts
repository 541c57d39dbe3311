import test from 'ava'
import { ask, keepAlive, rawConnection, rawExchange, startAgent } from './support.js'

test('an answer is JSON of a known length that no cache may keep', async (t) => {
  const { agent } = await startAgent(t)
  const { status, headers, body } = await ask(agent.url)
  t.is(status, 200)
  t.is(headers['content-type'], 'application/json')
  t.is(headers['content-length'], String(body.length))
  t.is(headers['cache-control'], 'no-store')
})

test('HEAD has the headers of GET and no body', async (t) => {
  const { agent } = await startAgent(t)
  const { status, headers, body } = await ask(agent.url, { method: 'HEAD' })
  t.is(status, 200)
  t.is(headers['content-length'], '71')
  t.is(body, '')
})

test('a query does not matter', async (t) => {
  const { agent } = await startAgent(t)
  t.is((await ask(`${agent.url}?from=b1`)).status, 200)
})

for (const path of [
  '/',
  '/reports',
  '/report/',
  '/Report',
  '/report%20',
  '//report',
  '/report/../report/x',
]) {
  test(`${path} is 404`, async (t) => {
    const { agent } = await startAgent(t)
    const { status, body } = await ask(`http://127.0.0.1:${agent.port}`, { path })
    t.is(status, 404)
    t.is(body, '{"error":"the report is at /report"}')
    t.is(agent.counters.server.refused, 1)
  })
}

for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
  test(`${method} is 405, with the methods that are allowed`, async (t) => {
    const { agent } = await startAgent(t)
    const { status, headers } = await ask(agent.url, { method })
    t.is(status, 405)
    t.is(headers.allow, 'GET, HEAD')
  })
}

test('CONNECT is 405 and an unknown expectation 417; both are counted, as all requests are', async (t) => {
  const { agent } = await startAgent(t)
  const connected = await rawExchange(agent.port, 'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n')
  t.regex(connected, /^HTTP\/1\.1 405 .*allow: GET, HEAD\r\n/s)
  t.is((await ask(agent.url, { headers: { expect: 'tea' } })).status, 417)
  const { requests, refused } = agent.counters.server
  t.deepEqual([requests, refused], [2, 2])
})

test('a client that asks for CONNECT and is gone before the answer disturbs nothing', async (t) => {
  const { agent } = await startAgent(t)
  for (let i = 0; i < 20; i++) {
    const socket = await rawConnection(t, agent.port, 'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n')
    socket.resetAndDestroy()
  }
  t.is((await ask(agent.url)).status, 200)
})

test('a GET with a body is 413, its body is not waited for, and the connection ends', async (t) => {
  const { agent } = await startAgent(t)
  for (const head of ['content-length: 1000000', 'transfer-encoding: chunked']) {
    const text = await rawExchange(agent.port, `GET /report HTTP/1.1\r\nhost: a\r\n${head}\r\n\r\n`)
    t.regex(text, /^HTTP\/1\.1 413 /)
    t.regex(text, /connection: close/i)
  }
  t.is(agent.counters.server.refused, 2)
  t.is((await ask(agent.url, { headers: { 'content-length': '0' } })).status, 200)
})

test('requests on one connection are each answered', async (t) => {
  const { agent } = await startAgent(t)
  const client = keepAlive(t)
  for (let i = 0; i < 5; i++) {
    const { status, headers } = await ask(agent.url, { agent: client })
    t.is(status, 200)
    t.is(headers['keep-alive'], 'timeout=75')
    t.is(headers.connection, 'keep-alive')
  }
  t.is(Object.values(client.freeSockets).flat().length, 1)
  t.is(agent.counters.server.answered, 5)
})

test('with a token, others than its bearers get 401, whatever they ask for', async (t) => {
  const { agent } = await startAgent(t, { token: 'S3cret!' })
  const wrong = [
    undefined,
    '',
    'S3cret!',
    'Bearer',
    'Bearer ',
    'Bearer S3cret',
    'Bearer S3cret!!',
    'Bearer s3cret!',
    'Basic S3cret!',
  ]
  for (const authorization of wrong) {
    for (const url of [agent.url, `http://127.0.0.1:${agent.port}/other`]) {
      const { status, headers, body } = await ask(url, {
        headers: authorization === undefined ? {} : { authorization },
      })
      t.is(status, 401, authorization)
      t.is(headers['www-authenticate'], 'Bearer')
      t.notRegex(body, /cpu|S3cret/)
    }
  }
  t.is(agent.counters.server.unauthorized, wrong.length * 2)
  for (const authorization of ['Bearer S3cret!', 'bearer S3cret!']) {
    t.is((await ask(agent.url, { headers: { authorization } })).status, 200)
  }
})

test('a head of more than 8 KiB is refused, and the connection closed', async (t) => {
  const { agent } = await startAgent(t)
  const text = await rawExchange(
    agent.port,
    `GET /report HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(8_300)}\r\n\r\n`,
  )
  t.regex(text, /^HTTP\/1\.1 431 /)
  t.is(agent.counters.server.badConnections, 1)
  t.is(agent.counters.server.requests, 0)
})

for (const bytes of ['\0\0\0\0', 'hello\r\n\r\n', 'GET /report HTTP/9.9\r\n\r\n', '\x16\x03\x01\x02\x00']) {
  test(`what is no HTTP, such as ${JSON.stringify(bytes)}, is refused, and the connection closed`, async (t) => {
    const { agent } = await startAgent(t)
    t.regex(await rawExchange(agent.port, bytes), /^HTTP\/1\.1 400 /)
    t.is(agent.counters.server.badConnections, 1)
    t.is((await ask(agent.url)).status, 200)
  })
}

// By itself: among others on a busy machine it may take so long that its half of a head is too slow, which counts.
test.serial('a client that resets its connection harms nobody', async (t) => {
  const { agent } = await startAgent(t)
  const socket = await rawConnection(t, agent.port, 'GET /report HT')
  await ask(agent.url)
  socket.resetAndDestroy()
  t.is((await ask(agent.url)).status, 200)
  t.is(agent.counters.server.badConnections, 0)
})

test('clients that send by the byte or nothing at all do not delay others', async (t) => {
  const { agent } = await startAgent(t)
  for (let i = 0; i < 40; i++) await rawConnection(t, agent.port, i % 2 === 0 ? 'GET /rep' : '')
  t.is((await ask(agent.url)).status, 200)
  t.is(agent.counters.server.requests, 1)
})

test('a client that asks without end and reads nothing does not delay others', async (t) => {
  const { agent } = await startAgent(t)
  const greedy = await rawConnection(t, agent.port)
  greedy.pause()
  const batch = 'GET /report HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(1_000)
  // Until its buffers and the server's are full.
  for (let i = 0; i < 100 && greedy.writableLength === 0; i++) {
    greedy.write(batch)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  t.is((await ask(agent.url)).status, 200)
})

test('a head that takes more than 5 s ends with 408', async (t) => {
  const { agent } = await startAgent(t)
  t.regex(await rawExchange(agent.port, 'GET /report HTTP/1.1\r\nhos'), /^HTTP\/1\.1 408 /)
  t.is(agent.counters.server.badConnections, 1)
})

test('one connection too many is closed and counted; when another ends there is room again', async (t) => {
  const { agent } = await startAgent(t, { maxConnections: 2 })
  const first = await rawConnection(t, agent.port, 'GET /rep')
  await rawConnection(t, agent.port, 'GET /rep')
  const third = await rawConnection(t, agent.port)
  await new Promise((resolve) => third.once('close', resolve))
  t.is(agent.counters.server.dropped, 1)
  first.destroy()
  let answer = await ask(agent.url).catch(() => undefined)
  while (answer === undefined) answer = await ask(agent.url).catch(() => undefined)
  t.is(answer.status, 200)
})

test('a request without a host header is refused, and counted', async (t) => {
  const { agent } = await startAgent(t)
  t.regex(await rawExchange(agent.port, 'GET /report HTTP/1.1\r\n\r\n'), /^HTTP\/1\.1 400 /)
  const { requests, refused, answered } = agent.counters.server
  t.deepEqual([requests, refused, answered], [1, 1, 0])
  t.notRegex(await rawExchange(agent.port, 'GET /report HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 400 /)
})

test('of requests that come in one packet the first is answered, and the connection is closed', async (t) => {
  const { agent } = await startAgent(t)
  const said = await rawExchange(agent.port, 'GET /report HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(100))
  t.is(said.split('HTTP/1.1 200').length - 1, 1)
  t.like(agent.counters.server, { requests: 100, answered: 1, refused: 99 })
})
