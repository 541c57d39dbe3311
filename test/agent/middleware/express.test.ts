import { createServer, type ServerResponse } from 'node:http'
import test from 'ava'
import express from 'express'
import { expressMiddleware } from '../../../dist/agent/index.js'
import { ask, keepAlive, rawConnection, rawExchange, until } from '../support.js'
import { fakeAgent, listen } from './support.js'

const ALWAYS = { when: 'always' } as const
const HEADER = 'endpoint-load-metrics'

test('two agents on one app both count, and the report of the first goes along, once', async (t) => {
  const [one, other] = [fakeAgent({ cpu: 10 }), fakeAgent({ cpu: 20 })]
  const app = express()
  app.use(expressMiddleware(one.agent, ALWAYS))
  app.use(expressMiddleware(other.agent, ALWAYS))
  app.get('/', (_request, response) => void response.send('fine'))
  const port = await listen(t, createServer(app))
  const text = await rawExchange(port, 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  t.deepEqual(text.match(/^endpoint-load-metrics: TEXT cpu_utilization=[\d.]+/gm), [
    'endpoint-load-metrics: TEXT cpu_utilization=0.1',
  ])
  await until(() => one.traffic.inFlight === 0 && other.traffic.inFlight === 0)
  t.is(one.traffic.counters.begun, 1)
  t.is(other.traffic.counters.begun, 1)
})

test('behind something that waits, requests of several connections count each, and have a report each', async (t) => {
  const { agent, traffic } = fakeAgent()
  const waiting: (() => void)[] = []
  const app = express()
  app.use((_request, _response, next) => void waiting.push(next))
  app.use(expressMiddleware(agent, ALWAYS))
  app.get('/', (_request, response) => void response.send('fine'))
  const port = await listen(t, createServer(app))
  const answers = Array.from({ length: 3 }, () => ask(`http://127.0.0.1:${port}/`))
  await until(() => waiting.length === 3)
  t.is(traffic.counters.begun, 0)
  for (const next of waiting) next()
  for (const { headers } of await Promise.all(answers)) t.true(HEADER in headers)
  await until(() => traffic.inFlight === 0)
  t.deepEqual([traffic.counters.begun, traffic.counters.failed], [3, 0])
})

test('pipelined requests behind something that waits are over with their connection', async (t) => {
  const { agent, traffic } = fakeAgent()
  const waiting: (() => void)[] = []
  const app = express()
  app.use((_request, _response, next) => void waiting.push(next))
  app.use(expressMiddleware(agent))
  app.get('/', (request, response) => {
    if (request.query.last === undefined) response.send('fine')
  })
  const port = await listen(t, createServer(app))
  const socket = await rawConnection(
    t,
    port,
    `${'GET / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(2)}${'GET /?last HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(3)}`,
  )
  await until(() => waiting.length === 5)
  // The last of them first.
  for (const next of waiting.toReversed()) next()
  await until(() => traffic.counters.ended === 2)
  t.is(traffic.inFlight, 3)
  socket.destroy()
  await until(() => traffic.inFlight === 0)
  t.deepEqual([traffic.counters.begun, traffic.counters.failed], [5, 3])
})

test('what an app sets on its responses for all requests is called as ever', async (t) => {
  const { agent } = fakeAgent()
  const app = express()
  const statuses: unknown[] = []
  app.response.writeHead = function (this: ServerResponse, ...args: unknown[]) {
    statuses.push(args[0])
    const { writeHead } = Object.getPrototypeOf(app.response)
    return writeHead.apply(this, args)
  }
  app.use(expressMiddleware(agent, ALWAYS))
  app.get('/', (_request, response) => void response.status(201).send('fine'))
  const port = await listen(t, createServer(app))
  const { status, headers } = await ask(`http://127.0.0.1:${port}/`)
  t.is(status, 201)
  t.true(HEADER in headers)
  t.deepEqual(statuses, [201])
})

test('a text of the status and locals of the response are as they would be', async (t) => {
  const { agent } = fakeAgent()
  const app = express()
  app.use(expressMiddleware(agent))
  app.get('/own', (_request, response) => {
    response.statusMessage = 'Made'
    response.status(201).json(response.locals)
  })
  app.get('/', (_request, response) => {
    response.locals.a = 1
    response.json(response.locals)
  })
  const port = await listen(t, createServer(app))
  const get = (path: string) =>
    rawExchange(port, `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`)
  t.regex(await get('/'), /^HTTP\/1.1 200 OK\r\n[\s\S]*\r\n\r\n\{"a":1\}$/)
  t.regex(await get('/own'), /^HTTP\/1.1 201 Made\r\n[\s\S]*\r\n\r\n\{\}$/)
})

test('a middleware that is made while a request waits counts that one too', async (t) => {
  const { agent, traffic } = fakeAgent()
  const waiting: (() => void)[] = []
  let late: ReturnType<typeof expressMiddleware> | undefined
  const app = express()
  app.use((_request, _response, next) => void waiting.push(next))
  app.use((request, response, next) => (late === undefined ? next() : late(request, response, next)))
  app.get('/', (_request, response) => void response.send('fine'))
  const port = await listen(t, createServer(app))
  const answer = ask(`http://127.0.0.1:${port}/`)
  await until(() => waiting.length === 1)
  late = expressMiddleware(agent, ALWAYS)
  waiting[0]?.()
  t.true(HEADER in (await answer).headers)
  await until(() => traffic.inFlight === 0)
  t.is(traffic.counters.begun, 1)
})

test('requests one after the other on a connection, with and without the middleware, count where they are to', async (t) => {
  const { agent, traffic } = fakeAgent()
  const app = express()
  app.use('/api', expressMiddleware(agent, ALWAYS))
  app.use((request, response) => {
    response.status(request.url === '/api/bad' ? 500 : 200).send('fine')
  })
  const port = await listen(t, createServer(app))
  const connection = { agent: keepAlive(t) }
  for (const path of ['/api/a', '/other', '/api/bad', '/other', '/api/b']) {
    const { headers } = await ask(`http://127.0.0.1:${port}${path}`, connection)
    t.is(HEADER in headers, path.startsWith('/api'))
  }
  await until(() => traffic.inFlight === 0)
  t.deepEqual([traffic.counters.begun, traffic.counters.failed], [3, 1])
})
