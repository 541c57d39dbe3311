import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { connect } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { ClosedError, ListenError, type LiveView, OptionError, type ServeOptions } from '../../dist/index.js'
import { FrameReader } from '../../dist/live/frames.js'
import { child } from '../support/child.js'
import { served, snapshotAt } from './support.js'

/** What a request comes to; its headers are sent as they are. */
async function ask(url: string, options: http.RequestOptions = {}) {
  const request = http.request(url, { agent: false, ...options })
  request.end()
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  let body = ''
  for await (const part of response.setEncoding('utf8')) body += part
  return { status: response.statusCode, headers: response.headers, body }
}

/** A stream that is open, and its frames so far. */
async function stream(t: ExecutionContext, url: string, headers: Record<string, string> = {}) {
  const request = http.get(`${url}stream`, { agent: false, headers })
  t.teardown(() => request.destroy())
  request.on('error', () => {})
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  const frames: { isWhole: boolean; head: { picks: number }; columns: object }[] = []
  let text = ''
  // It ends when the server lets go of it.
  response.on('error', () => {})
  response.setEncoding('utf8').on('data', (part: string) => {
    text += part
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const data = /^data:\s?(.*)$/m.exec(event)?.[1]
      if (data !== undefined) {
        frames.push(JSON.parse(data))
        response.emit('frame')
      }
    }
  })
  return { request, response, frames, next: () => once(response, 'frame') }
}

test('a balancer is served on loopback, at a port of its own', async (t) => {
  const { server } = await served(t)
  t.is(server.host, '127.0.0.1')
  t.true(server.port > 0)
  t.is(server.url, `http://127.0.0.1:${server.port}/`)
})

test('the document has the balancer, its nodes, and why each is not picked', async (t) => {
  const { balancer, clock, server } = await served(t)
  balancer.report('a', { cpu: 20, qps: 100 })
  balancer.report('b', { cpu: 60 })
  balancer.report('c', { state: 'drain' })
  for (let i = 0; i < 10; i++) balancer.select()
  await clock.advance(2_000)
  const view = await snapshotAt(server.url)
  t.is(view.balancer, 'mine')
  t.is(view.algorithm, 'leastCpu')
  t.is(view.time, 2_000)
  t.is(view.picks, 10)
  t.is(view.picksPerSecond, 5)
  t.is(view.stats.members, 3)
  t.is(view.poll, undefined)
  const [a, b, c] = view.nodes
  t.like(a, {
    id: 'a',
    state: 'up',
    cpu: 20,
    age: 2_000,
    fresh: true,
    share: 1,
    sentShare: 1,
    picksPerSecond: 5,
  })
  t.deepEqual(a?.report, { cpu: 20, qps: 100 })
  t.is(a?.why, undefined)
  t.like(b, { share: 0, sentShare: 0, reason: 'band', why: 'outside the band: 60 % against 20 % + 5' })
  t.like(c, { state: 'drain', told: { state: 'drain' }, reason: 'drain', why: 'drains: told by the node' })
})

test('a node that is an object shows by its id alone', async (t) => {
  const { balancer, server } = await served(t, {}, [])
  balancer.add({ id: 'a', secret: 'x' } as never)
  t.false((await ask(`${server.url}snapshot`)).body.includes('secret'))
})

test('nobody costs nothing, and one look an interval serves all', async (t) => {
  const { clock, server } = await served(t, { interval: 500 })
  await clock.advance(10_000)
  t.is(server.counters.looks, 0)
  t.is(clock.pending, 0)
  await Promise.all(Array.from({ length: 20 }, () => snapshotAt(server.url)))
  t.is(server.counters.looks, 1)
  await clock.advance(500)
  await snapshotAt(server.url)
  t.is(server.counters.looks, 2)
  t.is(server.counters.snapshots, 21)
  const streams = await Promise.all([stream(t, server.url), stream(t, server.url)])
  await Promise.all(streams.map(({ frames, next }) => (frames.length > 0 ? undefined : next())))
  const before = server.counters.looks
  for (let i = 1; i <= 4; i++) {
    const seen = Promise.all(streams.map(({ next }) => next()))
    await clock.advance(500)
    await seen
    await snapshotAt(server.url)
    t.is(server.counters.looks, before + i)
  }
  for (const { request } of streams) request.destroy()
  while (clock.pending > 0) await new Promise(setImmediate)
  const { looks } = server.counters
  await clock.advance(10_000)
  t.is(server.counters.looks, looks)
})

test('a stream begins with all, and goes on with what changed', async (t) => {
  const { balancer, clock, server } = await served(
    t,
    {},
    Array.from({ length: 100 }, (_, i) => `node-${i}`),
  )
  const { frames, next } = await stream(t, server.url)
  if (frames.length === 0) await next()
  t.true(frames[0]?.isWhole)
  balancer.select()
  const second = next()
  await clock.advance(1_000)
  await second
  t.false(frames[1]?.isWhole)
  t.is(frames[1]?.head.picks, 1)
  t.false(Object.keys(frames[1]?.columns ?? {}).includes('id'))
  balancer.add('another')
  const third = next()
  await clock.advance(1_000)
  await third
  t.true(frames[2]?.isWhole)
})

test('a viewer that does not read makes nothing pile up, and is let go of after 30 s', async (t) => {
  const nodes = Array.from({ length: 1_000 }, (_, i) => `${i}-`.padEnd(1_000, 'x'))
  const { balancer, clock, server } = await served(t, { interval: 10_000 }, nodes)
  const socket = connect(server.port, server.host)
  t.teardown(() => socket.destroy())
  socket.on('error', () => {})
  socket.pause()
  socket.write('GET /stream HTTP/1.1\r\nhost: localhost\r\n\r\n')
  while (server.counters.streams === 0) await new Promise(setImmediate)
  // New names each time, so that frames are long: what the system takes for the reader is used up after some.
  for (let i = 0; server.counters.stuck === 0 && i < 60; i++) {
    balancer.setNodes(nodes.map((node) => `${node}-${i}`))
    await clock.advance(10_000)
    // A look at 1,000 nodes takes some dozens of turns.
    for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate)
  }
  t.is(server.counters.stuck, 1)
  t.true(server.counters.skipped >= 4)
})

for (const path of ['snapshot', 'stream']) {
  test(`with a token /${path} is for those who have it`, async (t) => {
    const { server } = await served(t, { token: 'open-sesame' })
    for (const authorization of [undefined, 'Bearer wrong', 'open-sesame']) {
      const headers = authorization === undefined ? {} : { authorization }
      const { status, headers: answered, body } = await ask(server.url + path, { headers })
      t.is(status, 401)
      t.is(answered['www-authenticate'], 'Bearer')
      t.false(body.includes('mine'))
    }
    t.is(server.counters.unauthorized, 3)
    t.is(server.counters.looks, 0)
    const headers = { authorization: 'Bearer open-sesame' }
    if (path === 'snapshot') t.is((await snapshotAt(server.url, headers)).balancer, 'mine')
    else t.is((await stream(t, server.url, headers)).response.statusCode, 200)
  })

  test(`/${path} is not for names of other sites, nor for their pages`, async (t) => {
    const { server } = await served(t)
    const url = server.url + path
    for (const host of ['evil.example', `evil.example:${server.port}`, 'localhost.evil.example']) {
      t.is((await ask(url, { headers: { host } })).status, 421, host)
    }
    for (const site of ['cross-site', 'same-site']) {
      const { status, headers } = await ask(url, { headers: { 'sec-fetch-site': site } })
      t.is(status, 403, site)
      t.is(headers['access-control-allow-origin'], undefined)
    }
    t.is(server.counters.looks, 0)
  })
}

test('with a token any name will do, since pages of other sites have none', async (t) => {
  const { server } = await served(t, { token: 'open-sesame' })
  const headers = { host: 'balancer.example', authorization: 'Bearer open-sesame' }
  t.is((await ask(`${server.url}snapshot`, { headers })).status, 200)
})

test('the page needs no token, and takes nothing from elsewhere', async (t) => {
  const { server } = await served(t, { token: 'open-sesame' })
  const { status, headers, body } = await ask(server.url)
  t.is(status, 200)
  t.regex(body, /live\.js/)
  t.regex(String(headers['content-security-policy']), /default-src 'self'/)
  t.is(headers['x-content-type-options'], 'nosniff')
})

test('anything else is refused', async (t) => {
  const { server } = await served(t)
  t.is((await ask(`${server.url}other`)).status, 404)
  t.is((await ask(`${server.url}snapshot`, { method: 'POST' })).status, 405)
  t.is((await ask(`${server.url}stream`, { method: 'HEAD' })).status, 405)
  t.is((await ask(`${server.url}snapshot`, { method: 'PUT', headers: { 'content-length': 5 } })).status, 413)
  t.is((await ask(`${server.url}snapshot`, { headers: { host: 'a b' } })).status, 421)
  t.is(server.counters.refused, 5)
})

test('connections beyond the limit are closed at once', async (t) => {
  const { server } = await served(t, { maxConnections: 4 })
  const open = await Promise.all([1, 2, 3].map(() => stream(t, server.url)))
  t.is(open.length, 3)
  await t.throwsAsync(ask(`${server.url}snapshot`))
  t.is(server.counters.dropped, 1)
})

test('it is served by TLS, where a certificate is given', async (t) => {
  const pem = (name: string) => readFileSync(new URL(`../agent/tls/${name}.pem`, import.meta.url))
  const { server } = await served(t, { tls: { key: pem('server-key'), cert: pem('server') } })
  t.regex(server.url, /^https:/)
  const request = https.get(`${server.url}snapshot`, { ca: pem('ca'), agent: false, servername: 'localhost' })
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  t.is(response.statusCode, 200)
  response.destroy()
})

test('serving ends with the balancer, and with its own close', async (t) => {
  const { balancer, server } = await served(t)
  const other = await balancer.serve()
  const { response } = await stream(t, server.url)
  const ended = new Promise((resolve) => response.once('close', resolve))
  await other.close()
  t.false(response.destroyed)
  await balancer.close()
  await ended
  await t.throwsAsync(ask(server.url))
  await t.throwsAsync(balancer.serve(), { instanceOf: ClosedError })
  await server.close()
})

test('a port that is taken is a ListenError, and wrong options are OptionErrors', async (t) => {
  const { balancer, server } = await served(t)
  await t.throwsAsync(balancer.serve({ port: server.port }), { instanceOf: ListenError })
  const wrong: unknown[] = [
    { port: -1 },
    { token: 'a b' },
    { token: '' },
    { host: '0.0.0.0' },
    { host: '::', token: undefined },
    { interval: 1 },
    { intervall: 1_000 },
    { tls: { key: 'x', cert: 'y' } },
    7,
  ]
  for (const options of wrong) {
    await t.throwsAsync(balancer.serve(options as ServeOptions), { instanceOf: OptionError })
  }
})

test('a balancer that is served, and watched, does not keep its process alive', async (t) => {
  const index = new URL('../../dist/index.js', import.meta.url).href
  const { exit, said } = child(
    t,
    `import { createBalancer } from ${JSON.stringify(index)}
    import { connect } from 'node:net'
    const balancer = createBalancer({ nodes: ['a'], poll: false })
    const { port } = await balancer.serve()
    const socket = connect(port, '127.0.0.1')
    socket.unref()
    socket.write('GET /stream HTTP/1.1\\r\\nhost: localhost\\r\\n\\r\\n')
    const [part] = await new Promise((resolve) => socket.ref().once('data', (...all) => resolve(all)))
    socket.unref()
    console.log(String(part).split('\\r\\n')[0])`,
  )
  t.deepEqual(await exit, [0, null])
  t.is(said().trim(), 'HTTP/1.1 200 OK')
})

test('who asks for a stream behind a stream is let go, and views do not pile up', async (t) => {
  const { server } = await served(t)
  const socket = connect(server.port, '127.0.0.1')
  socket.resume()
  socket.write('GET /stream HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(100))
  await new Promise((resolve) => socket.on('error', () => {}).once('close', resolve))
  t.true(server.counters.streams <= 1)
})

test('of snapshots that are asked for in one packet the first is answered, and the connection is closed', async (t) => {
  const { server } = await served(t)
  const socket = connect(server.port, '127.0.0.1')
  socket.write('GET /snapshot HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(500))
  let answers = ''
  for await (const part of socket.setEncoding('latin1')) answers += part
  t.is(answers.split('HTTP/1.1 200').length - 1, 1)
  t.true(answers.endsWith('}'))
  t.is(server.counters.snapshots, 1)
  t.is(server.counters.requests, 500)
  t.is(server.counters.refused, 499)
})

const MANY = Array.from({ length: 2_000 }, (_, i) => `node-${i}`)

test('a snapshot of thousands of nodes is made once for all who ask for it, while the event loop turns', async (t) => {
  const { balancer, server } = await served(t, {}, MANY)
  balancer.report('node-1999', { cpu: 20 })
  let turns = 0
  let isMade = false
  const count = () => {
    turns++
    if (!isMade) setImmediate(count)
  }
  count()
  const views = await Promise.all([1, 2, 3].map(() => snapshotAt(server.url)))
  isMade = true
  t.true(turns > 60, `${turns}`)
  t.is(server.counters.looks, 1)
  for (const view of views) {
    t.deepEqual(
      view.nodes.map(({ id }) => id),
      MANY,
    )
    t.like(view.nodes.at(-1), { cpu: 20, share: 1 })
    t.deepEqual(view, views[0])
  }
})

test('who goes away while a snapshot is made takes nothing from the others', async (t) => {
  const { server } = await served(t, {}, MANY)
  const gone = connect(server.port, '127.0.0.1')
  gone.write('GET /snapshot HTTP/1.1\r\nhost: localhost\r\n\r\n')
  while (server.counters.looks === 0) await new Promise(setImmediate)
  gone.destroy()
  t.is((await snapshotAt(server.url)).nodes.length, MANY.length)
  t.is(server.counters.looks, 1)
})

test('members may come and go while a snapshot is made: it has those of its beginning', async (t) => {
  const { balancer, server } = await served(t, {}, MANY)
  const asked = snapshotAt(server.url)
  while (server.counters.looks === 0) await new Promise(setImmediate)
  balancer.setNodes(['other'])
  balancer.select()
  t.deepEqual(
    (await asked).nodes.map(({ id }) => id),
    MANY,
  )
})

test('a balancer may be closed while a snapshot is made', async (t) => {
  const { balancer, server } = await served(t, {}, MANY)
  const asked = ask(`${server.url}snapshot`).catch(() => ({ status: 0 }))
  while (server.counters.looks === 0) await new Promise(setImmediate)
  await balancer.close()
  t.not((await asked).status, 200)
})

test('streams of thousands of nodes stay whole, whoever comes and goes, and whenever they came', async (t) => {
  const { balancer, clock, server } = await served(t, { interval: 500 }, MANY)
  const readers = []
  for (let round = 0; round < 6; round++) {
    const { request, frames, next } = await stream(t, server.url)
    while (frames.length === 0) await next()
    const reader = new FrameReader()
    readers.push({ request, frames, next, reader, read: 0, seen: undefined as LiveView | undefined })
    balancer.report(`node-${round}`, { cpu: round + 1 })
    await snapshotAt(server.url)
    const all = Promise.all(readers.map(({ next }) => next()))
    await clock.advance(500)
    await all
    for (const one of readers) {
      for (; one.read < one.frames.length; one.read++) {
        one.seen = one.reader.read(JSON.stringify(one.frames[one.read]))
      }
      t.is(one.seen?.nodes[round]?.cpu, round + 1)
      t.deepEqual(one.seen?.nodes, readers[0]?.seen?.nodes)
    }
  }
})
