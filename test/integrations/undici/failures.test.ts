import { once } from 'node:events'
import { createServer } from 'node:net'
import { Readable } from 'node:stream'
import test from 'ava'
import { fetch as undiciFetch } from 'undici/index.js'
import { type CustomOutcome, createBalancer, custom } from '../../../dist/index.js'
import {
  BalancedDispatcher,
  type BalancedDispatcherOptions,
} from '../../../dist/integrations/undici/index.js'
import { get, named, nobody, node, over } from './servers.js'

type Context = Parameters<typeof named>[0]

/** A dispatcher over one node, and what its balancer is told. */
function told(t: Context, id: string, options: BalancedDispatcherOptions<string> = {}) {
  const outcomes: CustomOutcome[] = []
  const algorithm = custom({ select: () => 0, onRelease: (_node, outcome) => outcomes.push(outcome) })
  const balancer = createBalancer({ nodes: [id], poll: false, algorithm })
  const dispatcher = new BalancedDispatcher(balancer, options)
  t.teardown(async () => {
    await dispatcher.destroy()
    await balancer.close()
  })
  const kinds = () => outcomes.map(({ ok, kind, neutral }) => (neutral ? 'neutral' : ok ? 'ok' : kind))
  return { dispatcher, outcomes, kinds }
}

/** A server that answers a connection with these bytes, and then closes it where it is told to. */
async function speaking(t: Context, bytes: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(bytes))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const address = server.address()
  return `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

const silent = (t: Context) => node(t, () => {})

test('a node that refuses connections is a failure to connect', async (t) => {
  const { dispatcher, kinds, outcomes } = told(t, await nobody(t))
  const error = await t.throwsAsync(dispatcher.request(get), { code: 'ECONNREFUSED' })
  t.deepEqual(kinds(), ['connect'])
  t.is(outcomes[0]?.error, error)
  t.is(dispatcher.stats.failures.connect, 1)
})

test('a host that does not exist is one too, and so is a node that does not speak TLS', async (t) => {
  const nowhere = told(t, 'nowhere.invalid:80')
  await t.throwsAsync(nowhere.dispatcher.request(get))
  t.deepEqual(nowhere.kinds(), ['connect'])
  const a = await named(t, 'a')
  const plain = told(t, a.id, { origins: (id) => `https://${id}` })
  await t.throwsAsync(plain.dispatcher.request(get))
  t.deepEqual(plain.kinds(), ['connect'])
})

test('headers that do not come in time are a time-out, and so is the rest of a body', async (t) => {
  const headers = told(t, (await silent(t)).id)
  await t.throwsAsync(headers.dispatcher.request({ ...get, headersTimeout: 10 }), {
    code: 'UND_ERR_HEADERS_TIMEOUT',
  })
  t.deepEqual(headers.kinds(), ['timeout'])
  const slow = await node(t, (_request, response) => response.write('first'))
  const body = told(t, slow.id)
  const answer = await body.dispatcher.request({ ...get, bodyTimeout: 10 })
  await t.throwsAsync(answer.body.text(), { code: 'UND_ERR_BODY_TIMEOUT' })
  t.deepEqual(body.kinds(), ['timeout'])
})

test("the caller's own time-out is a time-out; any other abort of its says nothing", async (t) => {
  let asked = () => {}
  const { id } = await node(t, () => asked())
  const { dispatcher, kinds } = told(t, id)
  const callers = [
    (signal: AbortSignal) => dispatcher.request({ ...get, signal }),
    (signal: AbortSignal) => fetch('http://service.local/', { signal, dispatcher } as RequestInit),
    (signal: AbortSignal) => undiciFetch('http://service.local/', { signal, dispatcher }),
  ]
  for (const name of ['TimeoutError', 'AbortError']) {
    for (const call of callers) {
      const controller = new AbortController()
      // What AbortSignal.timeout() does.
      asked = () => controller.abort(new DOMException('enough', name))
      await t.throwsAsync(call(controller.signal), { any: true, name })
    }
  }
  t.deepEqual(kinds(), ['timeout', 'timeout', 'timeout', 'neutral', 'neutral', 'neutral'])
})

test('a connection that is lost after the request was sent is a reset, also in the middle of a body', async (t) => {
  const { dispatcher, kinds } = told(t, await speaking(t, ''))
  await t.throwsAsync(dispatcher.request(get), { code: 'UND_ERR_SOCKET' })
  t.deepEqual(kinds(), ['reset'])
  const short = told(t, await speaking(t, 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nfour'))
  const { body } = await short.dispatcher.request(get)
  await t.throwsAsync(body.text())
  t.deepEqual(short.kinds(), ['reset'])
})

test('what is not HTTP is a failure of the protocol, and so are headers that are too large', async (t) => {
  const answers = ['SSH-2.0-OpenSSH\r\n', `HTTP/1.1 200 OK\r\na: ${'x'.repeat(20_000)}\r\n\r\n`]
  for (const answer of answers) {
    const { dispatcher, kinds } = told(t, await speaking(t, answer))
    await t.throwsAsync(dispatcher.request(get))
    t.deepEqual(kinds(), ['protocol'])
  }
})

test('a status of 429, or of 500 and above, is a failure, unless told otherwise', async (t) => {
  const { id } = await node(t, ({ url = '/' }, response) => {
    response.statusCode = Number(url.slice(1))
    response.end()
  })
  const usual = told(t, id)
  const own = told(t, id, { isFailure: (status) => status === 418 })
  for (const { dispatcher } of [usual, own]) {
    for (const status of [200, 404, 418, 429, 500, 503]) {
      const { body } = await dispatcher.request({ path: `/${status}`, method: 'GET' })
      await body.dump()
    }
  }
  t.deepEqual(usual.kinds(), ['ok', 'ok', 'ok', 'status', 'status', 'status'])
  t.deepEqual(own.kinds(), ['ok', 'ok', 'status', 'ok', 'ok', 'ok'])
})

test("a request that can't be sent, a body that breaks and a handler that throws say nothing of the node", async (t) => {
  const a = await named(t, 'a')
  const { dispatcher, kinds } = told(t, a.id)
  await t.throwsAsync(dispatcher.request({ path: 'no slash', method: 'GET' }), {
    code: 'UND_ERR_INVALID_ARG',
  })
  const broken = new Readable({ read: () => broken.destroy(new Error('disk on fire')) })
  await t.throwsAsync(dispatcher.request({ path: '/', method: 'POST', body: broken }), {
    message: 'disk on fire',
  })
  async function* failing() {
    yield 'first'
    throw new Error('half way')
  }
  const body = failing() as unknown as Readable
  await t.throwsAsync(dispatcher.request({ path: '/', method: 'POST', body }), { message: 'half way' })
  const wrong = new Error('no such header')
  const error = await new Promise((resolve) => {
    dispatcher.dispatch(get, {
      onRequestStart: () => {},
      onResponseStart: () => {
        throw wrong
      },
      onResponseError: (_controller, error) => resolve(error),
    })
  })
  t.is(error, wrong)
  t.deepEqual(kinds(), ['neutral', 'neutral', 'neutral', 'neutral'])
  t.is(dispatcher.stats.abandoned, 4)
})

test('what a body or a handler throws says nothing of the node, also where it has a code as of a network', async (t) => {
  const a = await named(t, 'a')
  const { dispatcher, kinds } = told(t, a.id)
  const lost = () => Object.assign(new Error('lost'), { code: 'ECONNRESET' })
  const bodies = [
    (async function* () {
      yield 'first'
      throw lost()
    })(),
    (function* () {
      yield 'first'
      throw lost()
    })(),
    new ReadableStream({ pull: (controller) => controller.error(lost()) }),
  ]
  for (const body of bodies) {
    const request = { path: '/', method: 'PUT', body: body as unknown as Readable } as const
    await t.throwsAsync(dispatcher.request(request), { message: 'lost' })
  }
  const body = [5] as unknown as Readable
  await t.throwsAsync(dispatcher.request({ path: '/', method: 'PUT', body }), {
    code: 'ERR_INVALID_ARG_TYPE',
  })
  for (const hook of [
    'onConnect',
    'onResponseStarted',
    'onHeaders',
    'onData',
    'onBodySent',
    'onRequestSent',
  ]) {
    const error = await new Promise((resolve) => {
      const handler = {
        ...{ onConnect: () => {}, onHeaders: () => true, onData: () => true },
        ...{ onComplete: () => resolve('complete'), onError: resolve },
        [hook]: () => {
          throw lost()
        },
      }
      dispatcher.dispatch({ path: '/', method: 'PUT', body: 'abc' }, handler)
    })
    t.is((error as Error).message, 'lost', hook)
  }
  t.deepEqual([...new Set(kinds())], ['neutral'])
  t.is(dispatcher.stats.abandoned, 10)
})

test('who has been told of a failure is not sent elsewhere, also where being told throws', async (t) => {
  const a = await named(t, 'a')
  const b = await named(t, 'b')
  const { dispatcher, inFlight } = over(t, [a, b])
  const told: unknown[] = []
  const tell = (error: Error): never => {
    told.push(error.message)
    throw new Error('told')
  }
  const empty = { onConnect: () => {}, onHeaders: () => true, onData: () => true, onComplete: () => {} }
  const request = { path: 'no slash', method: 'GET' } as const
  dispatcher.dispatch(request, { ...empty, onError: tell })
  const onResponseError = (_controller: unknown, error: Error) => tell(error)
  dispatcher.dispatch(request, { onRequestStart: () => {}, onResponseError })
  t.is(told.length, 2)
  t.is(dispatcher.stats.retries, 0)
  t.deepEqual(inFlight(), [0, 0])
})

test('a request for which there is no node fails with the error of the balancer', async (t) => {
  const balancer = createBalancer({ poll: false })
  const dispatcher = new BalancedDispatcher(balancer)
  await t.throwsAsync(dispatcher.request(get), { code: 'IDLEST_NO_NODES' })
  t.is(dispatcher.stats.unplaced, 1)
  await balancer.close()
  await t.throwsAsync(dispatcher.request(get), { code: 'IDLEST_CLOSED' })
  await dispatcher.close()
})
