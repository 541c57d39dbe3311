import { createServer } from 'node:http'
import test from 'ava'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import { expressMiddleware, fastifyMiddleware, koaMiddleware } from '../../../dist/agent/index.js'
import { ask, until } from '../support.js'
import { fakeAgent, listen } from './support.js'

const ALWAYS = { when: 'always' } as const
const HEADER = 'endpoint-load-metrics'

test('Express: an error handler of its own has the last word on the status', async (t) => {
  const { agent, traffic } = fakeAgent()
  const app = express()
  app.use(expressMiddleware(agent, ALWAYS))
  app.get('/', () => {
    throw new Error('gone')
  })
  app.use(((_error, _request, response, _next) => {
    response.status(418).json({ error: 'teapot' })
  }) satisfies express.ErrorRequestHandler)
  const port = await listen(t, createServer(app))
  const { status, headers } = await ask(`http://127.0.0.1:${port}/`)
  t.is(status, 418)
  t.true(HEADER in headers)
  await until(() => traffic.inFlight === 0)
  t.is(traffic.counters.failed, 0)
})

test('Express: on one path, requests to others do not count', async (t) => {
  const { agent, traffic } = fakeAgent()
  const app = express()
  app.use('/api', expressMiddleware(agent))
  app.use((_request, response) => void response.send('fine'))
  const port = await listen(t, createServer(app))
  await ask(`http://127.0.0.1:${port}/api/a`)
  await ask(`http://127.0.0.1:${port}/other`)
  t.is(traffic.counters.begun, 1)
})

test('Koa: what a handler throws with a status of its own', async (t) => {
  const { agent, traffic } = fakeAgent()
  const app = new Koa()
  app.silent = true
  app.use(koaMiddleware(agent, ALWAYS))
  app.use((context) => context.throw(400, 'bad'))
  const port = await listen(t, createServer(app.callback()))
  const { status, headers } = await ask(`http://127.0.0.1:${port}/`)
  t.is(status, 400)
  t.true(HEADER in headers, 'Koa takes back all headers that were set before')
  await until(() => traffic.inFlight === 0)
  t.is(traffic.counters.failed, 0)
})

test('Fastify: registered within a plugin, it is for the routes of that one', async (t) => {
  const { agent, traffic } = fakeAgent()
  const app = fastify()
  app.register(async (inner) => {
    await inner.register(fastifyMiddleware(agent, ALWAYS))
    inner.get('/inner', async () => 'fine')
  })
  app.get('/other', async () => 'fine')
  t.teardown(() => app.close())
  t.true(HEADER in (await app.inject('/inner')).headers)
  t.false(HEADER in (await app.inject('/other')).headers)
  t.is(traffic.counters.begun, 1)
  t.is(traffic.inFlight, 0)
})

test('Fastify: its routes, those of its plugins, and what it finds no route for', async (t) => {
  const { agent, traffic } = fakeAgent()
  const app = fastify()
  await app.register(fastifyMiddleware(agent, ALWAYS))
  app.get('/', async () => ({ fine: true }))
  app.register(async (inner) => {
    inner.get('/inner', async () => {
      throw new Error('broken')
    })
  })
  t.teardown(() => app.close())
  for (const [path, status] of [
    ['/', 200],
    ['/inner', 500],
    ['/nowhere', 404],
  ] as const) {
    const response = await app.inject(path)
    t.is(response.statusCode, status)
    t.true(HEADER in response.headers, path)
  }
  t.is(traffic.inFlight, 0)
  t.deepEqual([traffic.counters.ended, traffic.counters.failed], [3, 1])
})

test('Fastify over HTTP/2: reports go along, and responses count', async (t) => {
  const { connect } = await import('node:http2')
  const { agent, traffic } = fakeAgent()
  const app = fastify({ http2: true })
  await app.register(fastifyMiddleware(agent))
  app.get('/', async () => ({ fine: true }))
  app.get('/never', () => {})
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const client = connect(address)
  t.teardown(async () => {
    client.destroy()
    await app.close()
  })
  const asked = client.request({ ':path': '/', 'endpoint-load-metrics-format': 'JSON' })
  const headers = await new Promise<Record<string, unknown>>((resolve) => asked.once('response', resolve))
  asked.resume()
  t.regex(String(headers[HEADER]), /^JSON \{/)
  await until(() => traffic.inFlight === 0)
  const never = client.request({ ':path': '/never' })
  never.on('error', () => {})
  await until(() => traffic.inFlight === 1)
  never.close(8)
  await until(() => traffic.inFlight === 0)
  t.deepEqual([traffic.counters.ended, traffic.counters.failed], [2, 1])
})
