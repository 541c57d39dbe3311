import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import type { Answer } from '../../dist/poller/answer.js'
import { httpNode, idOf, reporting, serve, serveTcp, withResolvers } from './agents.js'

async function ask(t: ExecutionContext, listener: RequestListener): Promise<Answer> {
  return httpNode(t, idOf(await serve(t, listener))).ask()
}

// Sends this as it is, then ends the connection, or leaves it open.
function raw(text: string, then: 'end' | 'reset' | 'open'): (socket: Socket) => void {
  return (socket) => {
    socket.once('data', () => {
      socket.write(text, () => {
        if (then === 'end') socket.end()
        if (then === 'reset') socket.resetAndDestroy()
      })
    })
  }
}

async function askRaw(t: ExecutionContext, text: string, then: 'end' | 'reset' | 'open'): Promise<Answer> {
  return httpNode(t, idOf(await serveTcp(t, raw(text, then)))).ask()
}

function failed(t: ExecutionContext, answer: Answer, kind: 'exit' | 'error', reason: RegExp): void {
  t.is(answer.kind, kind)
  if ('reason' in answer) t.regex(answer.reason, reason)
}

test('a right answer is read as a report, with the time at which it came', async (t) => {
  t.deepEqual(await ask(t, reporting(37.5, 120)), {
    kind: 'report',
    report: { cpu: 37.5, age: 120 },
    at: 1_234,
  })
})

test('asks go over one kept connection', async (t) => {
  const server = await serve(t, reporting(1))
  let connections = 0
  server.on('connection', () => connections++)
  const node = httpNode(t, idOf(server))
  for (let turn = 0; turn < 5; turn++) t.is((await node.ask()).kind, 'report')
  t.is(connections, 1)
})

test('the path, and without a token no Authorization header, are asked for', async (t) => {
  const seen: unknown[] = []
  const server = await serve(t, (request, response) => {
    seen.push(request.method, request.url, request.headers.authorization)
    response.end('{}')
  })
  await httpNode(t, idOf(server), { path: '/load?format=orca' }).ask()
  t.deepEqual(seen, ['GET', '/load?format=orca', undefined])
})

test('the token is sent as a bearer token', async (t) => {
  const server = await serve(t, (request, response) => {
    response.statusCode = request.headers.authorization === 'Bearer secret' ? 200 : 401
    response.end('{}')
  })
  t.is((await httpNode(t, idOf(server), { token: 'secret' }).ask()).kind, 'report')
  failed(t, await httpNode(t, idOf(server), { token: 'other' }).ask(), 'error', /status 401/)
  failed(t, await httpNode(t, idOf(server)).ask(), 'error', /status 401/)
})

test('nobody listening is an exit', async (t) => {
  const server = await serveTcp(t, () => {})
  const id = idOf(server)
  server.close()
  await once(server, 'close')
  failed(t, await httpNode(t, id).ask(), 'exit', /ECONNREFUSED/)
})

test('a reset connection is an exit', async (t) => {
  failed(t, await askRaw(t, '', 'reset'), 'exit', /ECONNRESET|closed/)
})

test('a connection that is reset in the middle of the body is an exit', async (t) => {
  failed(t, await askRaw(t, 'HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"cpu', 'reset'), 'exit', /./)
})

test('a half-closed connection without an answer is an exit', async (t) => {
  failed(t, await askRaw(t, '', 'end'), 'exit', /closed/)
})

test('a body cut off by the end of the connection is an exit', async (t) => {
  failed(t, await askRaw(t, 'HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"cpu', 'end'), 'exit', /closed/)
})

test('what is not HTTP is an error', async (t) => {
  failed(t, await askRaw(t, 'SSH-2.0-OpenSSH_9.2\r\n', 'open'), 'error', /./)
})

test('a chunked body that is cut off is an exit', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n'
  failed(t, await askRaw(t, `${head}5\r\n{"cpu`, 'end'), 'exit', /./)
})

test('an endless header is an error', async (t) => {
  const header = `x: ${'y'.repeat(20_000)}\r\n`
  failed(t, await askRaw(t, `HTTP/1.1 200 OK\r\n${header}${header}`, 'open'), 'error', /./)
})

for (const [what, body] of [
  ['an empty body', ''],
  ['a body that is not JSON', '<html>It works!</html>'],
  ['a body of truncated JSON', '{"cpu_utilization":0.3'],
  ['JSON that is no object', '[0.3]'],
  ['a CPU that is a string', '{"cpu_utilization":"0.3"}'],
  ['a negative CPU', '{"cpu_utilization":-0.3}'],
  ['a CPU of 1e308', '{"cpu_utilization":1e308}'],
  ['an age that is null', '{"cpu_utilization":0.3,"age_ms":null}'],
] as const) {
  test(`${what} is an error`, async (t) => {
    failed(t, await ask(t, (_, response) => response.end(body)), 'error', /./)
  })
}

for (const status of [204, 206, 400, 401, 403, 404, 429, 500, 503]) {
  test(`status ${status} is an error`, async (t) => {
    const answer = await ask(t, (_, response) => {
      response.statusCode = status
      response.end(status === 204 ? undefined : '{"cpu_utilization":0.3}')
    })
    failed(t, answer, 'error', new RegExp(`status ${status}`))
  })
}

for (const status of [301, 302, 303, 307, 308]) {
  test(`a redirect of status ${status} is an error and not followed`, async (t) => {
    let followed = 0
    const other = await serve(t, (_, response) => {
      followed++
      response.end('{"cpu_utilization":0.3}')
    })
    const answer = await ask(t, (_, response) => {
      response.writeHead(status, { location: `http://${idOf(other)}/report` })
      response.end()
    })
    failed(t, answer, 'error', /redirect/)
    t.is(followed, 0)
  })
}

test('a node that answered wrongly is read again once it answers rightly', async (t) => {
  let status = 503
  const server = await serve(t, (_, response) => {
    response.statusCode = status
    response.end('{"cpu_utilization":0.5}')
  })
  const node = httpNode(t, idOf(server))
  t.is((await node.ask()).kind, 'error')
  status = 200
  t.is((await node.ask()).kind, 'report')
})

test('a body of exactly 64 KiB is read, one byte more is an error', async (t) => {
  const sizes = [65_536, 65_537]
  const server = await serve(t, (_, response) => {
    const head = '{"cpu_utilization":0.5}'
    // Chunked, so that no length is told beforehand.
    response.write(head)
    response.end(' '.repeat((sizes.shift() ?? 0) - head.length))
  })
  const node = httpNode(t, idOf(server))
  t.is((await node.ask()).kind, 'report')
  failed(t, await node.ask(), 'error', /more than 65536/)
})

test('a body that tells of 10 MB is refused before it comes', async (t) => {
  const server = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-length': 10_000_000 })
    response.flushHeaders()
  })
  failed(t, await httpNode(t, idOf(server)).ask(), 'error', /10000000 bytes/)
})

test('a body of 10 MB in chunks is given up on after 64 KiB', async (t) => {
  const connected = withResolvers<Socket>()
  const server = await serve(t, (request, response) => {
    connected.resolve(request.socket)
    const more = (sent: number): void => {
      if (sent < 10_000_000) response.write(' '.repeat(65_536), (error) => error ?? more(sent + 65_536))
    }
    more(0)
  })
  failed(t, await httpNode(t, idOf(server)).ask(), 'error', /more than 65536/)
  const connection = await connected.promise
  if (!connection.closed) await new Promise((resolve) => connection.once('close', resolve))
  t.true(connection.bytesWritten < 10_000_000)
})

test('an answer that never comes is given up on by cancelling, which closes the connection', async (t) => {
  const asked = withResolvers<Socket>()
  const server = await serve(t, (request) => asked.resolve(request.socket))
  const node = httpNode(t, idOf(server))
  const answer = node.ask()
  const socket = await asked.promise
  // In Deno it fails of it first, and `once` would take that for an answer.
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  node.cancel('no answer within 2000 ms')
  failed(t, await answer, 'exit', /no answer within 2000 ms/)
  await closed
  t.true(socket.destroyed)
})

test('a body that comes by the byte is given up on by cancelling', async (t) => {
  const begun = withResolvers<void>()
  const server = await serve(t, async (_, response) => {
    response.writeHead(200)
    for (let sent = 0; !response.destroyed; sent++) {
      response.write(' ')
      if (sent === 5) begun.resolve()
      await sleep(2)
    }
  })
  const node = httpNode(t, idOf(server))
  const answer = node.ask()
  await begun.promise
  node.cancel('no answer within 2000 ms')
  failed(t, await answer, 'exit', /no answer/)
})

test('after a cancelled ask the next one is answered, over a new connection', async (t) => {
  const asked = withResolvers<void>()
  let requests = 0
  let connections = 0
  const server = await serve(t, (_, response) => {
    if (++requests === 1) asked.resolve()
    else response.end('{"cpu_utilization":0.5}')
  })
  server.on('connection', () => connections++)
  const node = httpNode(t, idOf(server))
  const first = node.ask()
  await asked.promise
  node.cancel('too slow')
  t.is((await first).kind, 'exit')
  t.is((await node.ask()).kind, 'report')
  t.is(connections, 2)
})

test('cancelling while the connection is being set up closes it', async (t) => {
  const connected = withResolvers<Socket>()
  const server = await serveTcp(t, (socket) => connected.resolve(socket))
  // The server never answers the TLS greeting.
  const node = httpNode(t, idOf(server), { protocol: 'https' })
  const answer = node.ask()
  const socket = await connected.promise
  const ended = once(socket.resume(), 'end')
  node.cancel('too slow')
  failed(t, await answer, 'exit', /too slow/)
  await ended
})

test('cancelling in the same turn as the ask ends it', async (t) => {
  const server = await serve(t, reporting(1))
  const node = httpNode(t, idOf(server))
  const answer = node.ask()
  node.cancel('closed')
  failed(t, await answer, 'exit', /closed/)
  t.is((await node.ask()).kind, 'report')
})

test('a kept connection that the agent closes at the moment of the next ask is no failure', async (t) => {
  const server = await serveTcp(t, (socket) => {
    let requests = 0
    socket.on('data', () => {
      // The second request on a connection meets its end.
      if (++requests === 2) socket.resetAndDestroy()
      else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
    })
  })
  const node = httpNode(t, idOf(server))
  for (let turn = 0; turn < 3; turn++) t.is((await node.ask()).kind, 'report')
})

test('an agent that closes every connection is asked once an ask, not again and again', async (t) => {
  let connections = 0
  const server = await serveTcp(t, (socket) => {
    connections++
    socket.once('data', () => socket.end())
  })
  const node = httpNode(t, idOf(server))
  t.is((await node.ask()).kind, 'exit')
  t.is((await node.ask()).kind, 'exit')
  t.is(connections, 2)
})

test('interim answers are skipped', async (t) => {
  const answer = await askRaw(
    t,
    'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}',
    'open',
  )
  t.is(answer.kind, 'report')
})

for (const [what, text] of [
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nxxxxxx'],
  ['an upgrade that nobody asked for', 'HTTP/1.1 101 S\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
  ['a "continue" that nobody asked for', 'HTTP/1.1 100 Continue\r\n\r\n'],
] as const) {
  test(`an answer with ${what} is the node's mistake`, async (t) => {
    failed(t, await askRaw(t, text, 'open'), 'error', /./)
  })
}

test('a body in chunks of one byte is read, and characters may be split', async (t) => {
  const body = JSON.stringify({ cpu_utilization: 0.5, named_metrics: { größe: 1, ['x'.repeat(600)]: 2 } })
  const chunks = [...Buffer.from(body)].map((byte) => Buffer.from([...Buffer.from('1\r\n'), byte, 13, 10]))
  const server = await serveTcp(t, (socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      socket.write(Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]))
    })
  })
  const answer = await httpNode(t, idOf(server)).ask()
  t.is(answer.kind, 'report')
  if (answer.kind === 'report') t.deepEqual(answer.report.named, { größe: 1, ['x'.repeat(600)]: 2 })
})
