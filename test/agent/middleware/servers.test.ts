import { request as sendRequest } from 'node:http'
import test from 'ava'
import { readOrcaHeader } from '../../../dist/reports/orca-headers.js'
import { ask, keepAlive, rawConnection, rawExchange, until } from '../support.js'
import { type Answering, fakeAgent, type Routes, SERVERS } from './support.js'

const HEADER = 'endpoint-load-metrics'
const FORMAT = 'endpoint-load-metrics-format'

const routes: Routes = {
  '/': (response) => response.send(200, 'fine'),
  '/missing': (response) => response.send(404, 'missing'),
  '/busy': (response) => response.send(503, 'busy'),
  '/unchanged': (response) => response.send(304, ''),
  '/throws': (response) => response.throw(),
  '/never': () => {},
  '/half': (response) => response.begin('half'),
}

for (const [name, start] of SERVERS) {
  test(`${name}: without being asked for, a report is not sent`, async (t) => {
    const { agent, traffic } = fakeAgent()
    const port = await start(t, agent, routes)
    const { status, headers, body } = await ask(`http://127.0.0.1:${port}/`)
    t.is(status, 200)
    t.is(body, 'fine')
    t.false(HEADER in headers)
    t.is(agent.reports, 0)
    t.is(traffic.counters.reports, 0)
  })

  for (const form of ['TEXT', 'JSON', 'BIN', 'text']) {
    test(`${name}: asked for as ${form}, the report comes in that form`, async (t) => {
      const { agent, traffic } = fakeAgent({ cpu: 37.5, qps: 12, named: { disk: 0.25 } })
      const port = await start(t, agent, routes)
      const { headers } = await ask(`http://127.0.0.1:${port}/`, { headers: { [FORMAT]: form } })
      const value = String(headers[HEADER])
      t.true(value.startsWith(`${form.toUpperCase()} `), value)
      // The request itself is in flight when its response is sent.
      t.deepEqual(readOrcaHeader(value), { cpu: 37.5, qps: 12, inFlight: 1, named: { disk: 0.25 } })
      t.is(traffic.counters.reports, 1)
    })
  }

  test(`${name}: asked for in a form that nobody knows, none is sent`, async (t) => {
    const { agent } = fakeAgent()
    const port = await start(t, agent, routes)
    const { headers } = await ask(`http://127.0.0.1:${port}/`, { headers: { [FORMAT]: 'XML' } })
    t.false(HEADER in headers)
  })

  test(`${name}: always, in the form that was chosen unless another is asked for`, async (t) => {
    const { agent } = fakeAgent()
    const port = await start(t, agent, routes, { when: 'always', form: 'JSON' })
    const url = `http://127.0.0.1:${port}/`
    t.regex(String((await ask(url)).headers[HEADER]), /^JSON \{/)
    t.regex(String((await ask(url, { headers: { [FORMAT]: 'BIN' } })).headers[HEADER]), /^BIN /)
    t.regex(String((await ask(url, { headers: { [FORMAT]: 'XML' } })).headers[HEADER]), /^JSON \{/)
  })

  for (const [path, status] of [
    ['/missing', 404],
    ['/busy', 503],
    ['/unchanged', 304],
    ['/throws', 500],
  ] as const) {
    test(`${name}: a response of ${status} has a report too (${path})`, async (t) => {
      const { agent, traffic } = fakeAgent()
      const port = await start(t, agent, routes, { when: 'always' })
      const answer = await ask(`http://127.0.0.1:${port}${path}`)
      t.is(answer.status, status)
      t.is(readOrcaHeader(String(answer.headers[HEADER])).cpu, 37.5)
      await until(() => traffic.inFlight === 0)
      t.is(traffic.counters.failed, status >= 500 ? 1 : 0)
    })
  }

  test(`${name}: HEAD has the report, and counts`, async (t) => {
    const { agent, traffic } = fakeAgent()
    const port = await start(t, agent, routes, { when: 'always' })
    const { headers, body } = await ask(`http://127.0.0.1:${port}/`, { method: 'HEAD' })
    t.is(body, '')
    t.is(readOrcaHeader(String(headers[HEADER])).cpu, 37.5)
    await until(() => traffic.inFlight === 0)
    t.deepEqual([traffic.counters.ended, traffic.counters.failed], [1, 0])
  })

  test(`${name}: a response that is written in parts has the report as of its start`, async (t) => {
    const { agent, traffic } = fakeAgent()
    const port = await start(t, agent, routes, { when: 'always' })
    const socket = await rawConnection(t, port, 'GET /half HTTP/1.1\r\nhost: a\r\n\r\n')
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes
    })
    await until(() => text.includes('half'))
    t.regex(text, /^endpoint-load-metrics: TEXT cpu_utilization=0\.375/im)
    t.is(traffic.inFlight, 1)
    socket.destroy()
    await until(() => traffic.inFlight === 0)
    t.is(traffic.counters.failed, 1)
  })

  test(`${name}: before there is a report responses go without, which is counted`, async (t) => {
    const { agent, traffic, clock } = fakeAgent()
    agent.said = undefined
    const port = await start(t, agent, routes, { when: 'always' })
    t.false(HEADER in (await ask(`http://127.0.0.1:${port}/`)).headers)
    t.is(traffic.counters.withoutReport, 1)
    agent.said = { cpu: 5 }
    clock.jump(10)
    t.true(HEADER in (await ask(`http://127.0.0.1:${port}/`)).headers)
  })

  test(`${name}: a client that goes away before there is an answer leaves nothing in flight`, async (t) => {
    const { agent, traffic, clock } = fakeAgent()
    const port = await start(t, agent, routes)
    const sockets = []
    for (let i = 0; i < 5; i++) {
      sockets.push(await rawConnection(t, port, 'GET /never HTTP/1.1\r\nhost: a\r\n\r\n'))
    }
    await until(() => traffic.inFlight === 5)
    clock.jump(300)
    for (const socket of sockets) socket.destroy()
    await until(() => traffic.inFlight === 0)
    t.deepEqual([traffic.counters.ended, traffic.counters.failed], [5, 5])
    // They waited so long at least.
    t.is(traffic.report().latency, 300)
  })

  test(`${name}: requests one after the other on a connection count each`, async (t) => {
    const { agent, traffic } = fakeAgent()
    const port = await start(t, agent, routes)
    const connection = keepAlive(t)
    for (let i = 0; i < 20; i++) await ask(`http://127.0.0.1:${port}/`, { agent: connection })
    await until(() => traffic.inFlight === 0)
    t.deepEqual([traffic.counters.begun, traffic.counters.ended, traffic.counters.failed], [20, 20, 0])
  })

  test(`${name}: pipelined requests count each, and each response has its report`, async (t) => {
    const { agent, traffic } = fakeAgent()
    const port = await start(t, agent, routes, { when: 'always' })
    const one = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'
    const last = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
    const text = await rawExchange(port, one.repeat(19) + last)
    t.is(text.match(/^endpoint-load-metrics: /gim)?.length, 20)
    await until(() => traffic.inFlight === 0)
    t.deepEqual([traffic.counters.ended, traffic.counters.failed], [20, 0])
  })

  test(`${name}: pipelined requests whose connection closes before their turn are over, once`, async (t) => {
    const { agent, traffic } = fakeAgent()
    const port = await start(t, agent, routes)
    const ask = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`
    const socket = await rawConnection(t, port, ask('/never') + ask('/').repeat(15) + ask('/never'))
    await until(() => traffic.counters.begun === 17)
    t.is(traffic.inFlight, 17)
    socket.destroy()
    await until(() => traffic.inFlight === 0)
    // Fifteen had been answered, as far as their handlers know.
    t.deepEqual([traffic.counters.ended, traffic.counters.failed], [17, 2])
  })

  test(`${name}: a body that is cut off leaves nothing in flight`, async (t) => {
    const { agent, traffic } = fakeAgent()
    const port = await start(t, agent, routes)
    const socket = await rawConnection(
      t,
      port,
      'POST /never HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nhal',
    )
    await until(() => traffic.inFlight === 1)
    socket.destroy()
    await until(() => traffic.inFlight === 0)
    t.is(traffic.counters.failed, 1)
  })

  test(`${name}: skipped requests neither count nor get a report`, async (t) => {
    const { agent, traffic } = fakeAgent()
    const skip = ({ url }: { url?: string }) => url === '/missing'
    const port = await start(t, agent, routes, { when: 'always', skip })
    t.false(HEADER in (await ask(`http://127.0.0.1:${port}/missing`)).headers)
    t.is(traffic.counters.begun, 0)
    t.true(HEADER in (await ask(`http://127.0.0.1:${port}/`)).headers)
    t.is(traffic.counters.begun, 1)
  })

  test(`${name}: to those requests that a function picks, whether they ask or not`, async (t) => {
    const { agent } = fakeAgent()
    const when = ({ headers }: { headers: Readonly<Record<string, unknown>> }) => headers.from === 'inside'
    const port = await start(t, agent, routes, { when })
    const url = `http://127.0.0.1:${port}/`
    const get = async (headers: Record<string, string>) => (await ask(url, { headers })).headers[HEADER]
    t.is(await get({ [FORMAT]: 'TEXT' }), undefined)
    t.regex(String(await get({ from: 'inside' })), /^TEXT /)
    t.regex(String(await get({ from: 'inside', [FORMAT]: 'JSON' })), /^JSON /)
  })

  test(`${name}: a report is written once for all responses within 10 ms`, async (t) => {
    const { agent, clock } = fakeAgent()
    const port = await start(t, agent, routes, { when: 'always' })
    const url = `http://127.0.0.1:${port}/`
    for (let i = 0; i < 3; i++) await ask(url)
    t.is(agent.reports, 1)
    clock.jump(9)
    await ask(url)
    t.is(agent.reports, 1)
    clock.jump(1)
    agent.said = { cpu: 80 }
    t.is(readOrcaHeader(String((await ask(url)).headers[HEADER])).cpu, 80)
    t.is(agent.reports, 2)
  })

  test(`${name}: with \`reuse: 0\` each response has a report of its own`, async (t) => {
    const { agent } = fakeAgent()
    const port = await start(t, agent, routes, { when: 'always', reuse: 0 })
    for (const cpu of [10, 20, 30]) {
      agent.said = { cpu }
      t.is(readOrcaHeader(String((await ask(`http://127.0.0.1:${port}/`)).headers[HEADER])).cpu, cpu)
    }
  })

  test(`${name}: the report is of when the response is sent, not of when the request came`, async (t) => {
    const { agent, clock } = fakeAgent()
    const waiting: Answering[] = []
    const port = await start(t, agent, { '/later': (response) => waiting.push(response) }, { when: 'always' })
    const answer = ask(`http://127.0.0.1:${port}/later`)
    await until(() => waiting.length === 1)
    clock.jump(5_000)
    agent.said = { cpu: 99 }
    waiting[0]?.send(200, 'done')
    t.is(readOrcaHeader(String((await answer).headers[HEADER])).cpu, 99)
  })

  test(`${name}: what is in flight, how long requests take and how many there are a second`, async (t) => {
    const { agent, traffic, clock } = fakeAgent()
    const waiting: Answering[] = []
    const port = await start(t, agent, { ...routes, '/later': (response) => waiting.push(response) })
    const answers = Array.from({ length: 8 }, () => ask(`http://127.0.0.1:${port}/later`))
    await until(() => waiting.length === 8)
    t.is(traffic.report().inFlight, 8)
    clock.jump(2_000)
    for (const [i, response] of waiting.entries()) response.send(i < 2 ? 500 : 200, 'done')
    await Promise.all(answers)
    await until(() => traffic.inFlight === 0)
    const { inFlight, qps, eps, latency } = traffic.report()
    t.deepEqual({ inFlight, qps, eps, latency }, { inFlight: 0, qps: 4, eps: 1, latency: 2_000 })
  })

  test(`${name}: a response that is flushed slowly is in flight until its end`, async (t) => {
    const { agent, traffic } = fakeAgent()
    const port = await start(t, agent, { '/big': (response) => response.send(200, 'x'.repeat(20_000_000)) })
    const socket = await rawConnection(t, port)
    socket.pause()
    socket.write('GET /big HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    await until(() => traffic.inFlight === 1)
    await new Promise((resolve) => setTimeout(resolve, 50))
    t.is(traffic.inFlight, 1)
    socket.resume()
    await until(() => traffic.inFlight === 0)
    t.is(traffic.counters.failed, 0)
  })

  test(`${name}: in flight is right at any time under answers and aborts in any order`, async (t) => {
    const { agent, traffic } = fakeAgent()
    const waiting: Answering[] = []
    const port = await start(t, agent, { '/later': (response) => waiting.push(response) })
    let seed = 7
    const chance = () => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed / 2_147_483_647
    }
    const answer = (place: number) => waiting.splice(place, 1)[0]?.send(200, 'done')
    const open = new Set<ReturnType<typeof sendRequest>>()
    for (let i = 0; i < 60; i++) {
      const request = sendRequest({ port, host: '127.0.0.1', path: '/later', agent: false })
      request.on('error', () => open.delete(request))
      request.on('response', (response) => response.resume().on('end', () => open.delete(request)))
      request.end()
      open.add(request)
      await until(() => traffic.counters.begun === i + 1)
      if (chance() < 0.4) [...open][Math.floor(chance() * open.size)]?.destroy()
      if (chance() < 0.4) answer(Math.floor(chance() * waiting.length))
      await until(() => traffic.inFlight === open.size)
      t.true(traffic.inFlight >= 0)
    }
    for (const request of open) request.destroy()
    await until(() => traffic.inFlight === 0)
    t.is(traffic.counters.begun, 60)
  })
}
