import { Readable } from 'node:stream'
import test from 'ava'
import { fetch as undiciFetch } from 'undici/index.js'
import { get, named, nobody, node, over } from './servers.js'

type Context = Parameters<typeof named>[0]

const failing = (t: Context, status: number) =>
  node(t, (_request, response) => {
    response.statusCode = status
    response.end(`failed with ${status}`)
  })

/** A node that ends each connection once it has the request. */
const resetting = (t: Context) => node(t, ({ socket }) => socket.destroy())

const refusing = async (t: Context) => ({ id: await nobody(t) })

test('after 502, 503 and 504 another node is asked, and that one answers', async (t) => {
  for (const status of [502, 503, 504]) {
    const bad = await failing(t, status)
    const { dispatcher, inFlight, outcomes } = over(t, [bad, await named(t, 'good')])
    const { statusCode, body } = await dispatcher.request(get)
    t.deepEqual([statusCode, await body.text()], [200, 'good'])
    t.is(bad.requests(), 1)
    t.deepEqual(inFlight(), [0, 0])
    t.deepEqual(outcomes(), [
      [1, 1],
      [1, 0],
    ])
    t.is(dispatcher.stats.retries, 1)
  }
})

test('500 is passed on; and any status where the statuses say so', async (t) => {
  const nodes = [await failing(t, 500), await failing(t, 404), await named(t, 'good')]
  const { dispatcher } = over(t, nodes)
  t.is((await dispatcher.request(get)).statusCode, 500)
  t.is((await dispatcher.request(get)).statusCode, 404)
  const other = over(t, nodes, { retry: { statuses: [500, 404], attempts: 3 } })
  t.is((await other.dispatcher.request(get)).statusCode, 200)
  // A status that is no failure is none for having been retried.
  t.deepEqual(other.outcomes(), [
    [1, 1],
    [1, 0],
    [1, 0],
  ])
})

test('a connection that is refused or lost is tried at another node', async (t) => {
  for (const bad of [await refusing(t), await resetting(t)]) {
    const { dispatcher, inFlight, outcomes } = over(t, [bad, await named(t, 'good')])
    const { body } = await dispatcher.request(get)
    t.is(await body.text(), 'good')
    t.deepEqual(inFlight(), [0, 0])
    t.deepEqual(outcomes(), [
      [1, 1],
      [1, 0],
    ])
  }
})

test('fetch gets the answer of another node too', async (t) => {
  const { dispatcher } = over(t, [await resetting(t), await failing(t, 503), await named(t, 'good')], {
    retry: { attempts: 3 },
  })
  const url = 'http://service.local/'
  t.is(await (await undiciFetch(url, { dispatcher })).text(), 'good')
  t.is(await (await fetch(url, { dispatcher } as RequestInit)).text(), 'good')
})

test('what fetch could not send is sent elsewhere, with its body', async (t) => {
  const echo = await node(t, (request, response) => request.pipe(response))
  const { dispatcher } = over(t, [await refusing(t), echo])
  const init = { method: 'POST', body: 'once', dispatcher }
  t.is(await (await undiciFetch('http://service.local/', init)).text(), 'once')
  const again = over(t, [await refusing(t), echo])
  const own = await fetch('http://service.local/', { ...init, dispatcher: again.dispatcher } as RequestInit)
  t.is(await own.text(), 'once')
})

test('what is not idempotent is sent once; unless it was not sent', async (t) => {
  const post = { path: '/', method: 'POST', body: 'once' } as const
  const bad = await failing(t, 503)
  const lost = await resetting(t)
  const good = await named(t, 'good')
  t.is((await over(t, [bad, good]).dispatcher.request(post)).statusCode, 503)
  await t.throwsAsync(over(t, [lost, good]).dispatcher.request(post), { code: 'UND_ERR_SOCKET' })
  t.is(good.requests(), 0)
  const { dispatcher } = over(t, [await refusing(t), good])
  t.is((await dispatcher.request(post)).statusCode, 200)
  t.is(good.requests(), 1)
  const all = over(t, [bad, good], { retry: { methods: ['POST'] } })
  t.is((await all.dispatcher.request(post)).statusCode, 200)
})

test('a body that is there is sent again whole; one that is read as it is sent is not', async (t) => {
  const echo = await node(t, (request, response) => request.pipe(response))
  const put = { path: '/', method: 'PUT' } as const
  for (const body of ['text', Buffer.from('text'), new Uint8Array(Buffer.from('text'))]) {
    const { dispatcher } = over(t, [await failing(t, 503), echo])
    const answer = await dispatcher.request({ ...put, body })
    t.is(await answer.body.text(), 'text')
  }
  const { dispatcher } = over(t, [await failing(t, 503), echo])
  t.is((await dispatcher.request({ ...put, body: Readable.from(['text']) })).statusCode, 503)
  const unsent = over(t, [await refusing(t), echo])
  const answer = await unsent.dispatcher.request({ ...put, body: Readable.from(['text']) })
  t.is(await answer.body.text(), 'text')
})

test('no node is asked twice: the last answer is passed on, or the last error', async (t) => {
  const nodes = [await failing(t, 503), await failing(t, 502)]
  const { dispatcher } = over(t, nodes, { retry: { attempts: 5 } })
  const { statusCode, body } = await dispatcher.request(get)
  t.deepEqual([statusCode, await body.text()], [502, 'failed with 502'])
  t.deepEqual(
    nodes.map(({ requests }) => requests()),
    [1, 1],
  )
  const lost = over(t, [await refusing(t), await resetting(t)], { retry: { attempts: 5 } })
  await t.throwsAsync(lost.dispatcher.request(get), { code: 'UND_ERR_SOCKET' })
  t.is((await over(t, [nodes[0] as never]).dispatcher.request(get)).statusCode, 503)
})

test('a request is sent as often as `attempts` says, and once without retry', async (t) => {
  const nodes = [await failing(t, 503), await failing(t, 503), await failing(t, 503), await failing(t, 503)]
  const sent = () => nodes.reduce((sum, { requests }) => sum + requests(), 0)
  for (const [retry, expected] of [
    [{ attempts: 3 }, 3],
    [undefined, 2],
    [{ attempts: 1 }, 1],
    [false, 1],
  ] as const) {
    const before = sent()
    const { dispatcher } = over(t, nodes, { retry })
    await (await dispatcher.request(get)).body.dump()
    t.is(sent() - before, expected)
  }
})

test('only failures of the kinds that `on` names are tried elsewhere', async (t) => {
  const good = await named(t, 'good')
  const retry = { on: ['connect'] } as const
  t.is((await over(t, [await failing(t, 503), good], { retry }).dispatcher.request(get)).statusCode, 503)
  await t.throwsAsync(over(t, [await resetting(t), good], { retry }).dispatcher.request(get))
  t.is((await over(t, [await refusing(t), good], { retry }).dispatcher.request(get)).statusCode, 200)
})

test('once a response is passed on there is no other: a body that breaks off is an error', async (t) => {
  const cut = await node(t, (_request, response) => {
    response.write('first')
    response.on('drain', () => {})
    setImmediate(() => response.destroy())
  })
  const good = await named(t, 'good')
  const { dispatcher } = over(t, [cut, good])
  const { body } = await dispatcher.request(get)
  await t.throwsAsync(body.text())
  t.is(good.requests(), 0)
})

test('the time that headers may take is one for all attempts', async (t) => {
  const good = await named(t, 'good')
  const silent = await node(t, () => {})
  const { dispatcher } = over(t, [silent, good])
  await t.throwsAsync(dispatcher.request({ ...get, headersTimeout: 10 }), { code: 'UND_ERR_HEADERS_TIMEOUT' })
  t.is(good.requests(), 0)
  t.is(dispatcher.stats.retries, 0)
})

test('with a time-out of its own an attempt ends before that, and another node is asked', async (t) => {
  const silent = await node(t, () => {})
  const { dispatcher, outcomes } = over(t, [silent, await named(t, 'good')], { retry: { timeout: 10 } })
  t.is(await (await dispatcher.request(get)).body.text(), 'good')
  t.deepEqual(outcomes(), [
    [1, 1],
    [1, 0],
  ])
  t.is(dispatcher.stats.failures.timeout, 1)
})

test('who gives up while another node is asked is told at once, and that one is in flight no more', async (t) => {
  const controller = new AbortController()
  const { dispatcher, balancer, inFlight } = over(
    t,
    [await failing(t, 503), await node(t, () => controller.abort())],
    {},
  )
  await t.throwsAsync(dispatcher.request({ ...get, signal: controller.signal }), {
    any: true,
    name: 'AbortError',
  })
  t.deepEqual(inFlight(), [0, 0])
  t.is(balancer.stats().leases.neutral, 1)
})

test('who gives up while the other node is not even connected to is told at once', async (t) => {
  const controller = new AbortController()
  const { dispatcher, balancer, inFlight } = over(t, [await failing(t, 503), { id: 'never' }], {
    origins: (id) => (id === 'never' ? 'http://192.0.2.1' : `http://${id}`),
    pool: {
      // Nobody ever answers.
      connect: ({ hostname, port }, done) => {
        if (hostname === '192.0.2.1') controller.abort()
        else
          import('node:net').then(({ connect }) => {
            const socket = connect(Number(port), hostname, () => done(null, socket))
          })
      },
    },
  })
  await t.throwsAsync(dispatcher.request({ ...get, signal: controller.signal }), {
    any: true,
    name: 'AbortError',
  })
  t.deepEqual(inFlight(), [0, 0])
  t.is(balancer.stats().leases.neutral, 1)
})

test('a response that is not passed on is read to its end, so that its connection stays; a long one is not', async (t) => {
  let connections = 0
  const short = await failing(t, 503)
  short.server.on('connection', () => connections++)
  const { dispatcher } = over(t, [short, await named(t, 'good')])
  for (const expected of ['good', 'good', 'good']) {
    t.is(await (await dispatcher.request(get)).body.text(), expected)
  }
  t.is(connections, 1)
  const over64 = Buffer.alloc(65_536)
  let ended: (written: boolean) => void
  const closed = new Promise<boolean>((resolve) => {
    ended = resolve
  })
  const endless = await node(t, (_request, response) => {
    response.statusCode = 503
    response.on('close', () => ended(response.writableFinished))
    const more = () => {
      while (!response.destroyed && response.write(over64));
    }
    response.on('drain', more)
    more()
  })
  const long = over(t, [endless, await named(t, 'good')])
  t.is(await (await long.dispatcher.request(get)).body.text(), 'good')
  t.false(await closed)
})
