import test from 'ava'
import { errors, interceptors } from 'undici/index.js'
import { get, named, node, over } from './servers.js'

test('dump: a body that nobody wants is read, and is in flight no more then', async (t) => {
  const { dispatcher, inFlight, outcomes } = over(t, [await named(t, 'a')])
  const { body } = await dispatcher.compose(interceptors.dump()).request(get)
  t.is(await body.text(), '')
  t.deepEqual(inFlight(), [0])
  t.deepEqual(outcomes(), [[1, 0]])
})

test('dump: a body that is too long is given up', async (t) => {
  const { dispatcher, inFlight, outcomes } = over(t, [await named(t, 'a long answer')])
  const dumping = dispatcher.compose(interceptors.dump({ maxSize: 4 }))
  await t.throwsAsync(dumping.request(get), { instanceOf: errors.RequestAbortedError })
  t.deepEqual(inFlight(), [0])
  t.deepEqual(outcomes(), [[0, 0]])
})

test('redirect: each hop is balanced anew, a path as the origin that stands for the nodes', async (t) => {
  const sending = await node(t, (_request, response) => {
    response.writeHead(302, { location: '/elsewhere' })
    response.end()
  })
  const asked: (string | undefined)[] = []
  const answering = await node(t, ({ url }, response) => {
    asked.push(url)
    response.end('here')
  })
  const { dispatcher, outcomes } = over(t, [sending, answering], { for: 'http://service.local' })
  const following = dispatcher.compose(interceptors.redirect({ maxRedirections: 2 }))
  const { body } = await following.request({ ...get, origin: 'http://service.local' })
  t.is(await body.text(), 'here')
  t.deepEqual(asked, ['/elsewhere'])
  t.deepEqual(outcomes(), [
    [1, 0],
    [1, 0],
  ])
})

test('retry: undici asks again, and the balancer says where', async (t) => {
  const failing = await node(t, (_request, response) => {
    response.statusCode = 500
    response.end()
  })
  const { dispatcher, inFlight, outcomes } = over(t, [failing, await named(t, 'good')], { retry: false })
  const retrying = dispatcher.compose(interceptors.retry({ minTimeout: 1, maxRetries: 2 }))
  const { body } = await retrying.request(get)
  t.is(await body.text(), 'good')
  t.deepEqual(inFlight(), [0, 0])
  t.deepEqual(outcomes(), [
    [1, 1],
    [1, 0],
  ])
})

test('cache: what is cached is asked of no node, whichever had answered', async (t) => {
  const cacheable = () =>
    node(t, (_request, response) => {
      response.writeHead(200, { 'cache-control': 'max-age=60' })
      response.end('cached')
    })
  const nodes = [await cacheable(), await cacheable()]
  const { dispatcher } = over(t, nodes)
  const caching = dispatcher.compose(interceptors.cache())
  for (let i = 0; i < 3; i++) {
    const { body } = await caching.request({ ...get, origin: 'http://service.local' })
    t.is(await body.text(), 'cached')
  }
  t.is(dispatcher.stats.requests, 1)
})

test('responseError: a status that is passed on as an error has still been counted as what it was', async (t) => {
  const failing = await node(t, (_request, response) => {
    response.writeHead(500, { 'content-type': 'text/plain' })
    response.end('sorry')
  })
  const { dispatcher, inFlight, outcomes } = over(t, [failing])
  const throwing = dispatcher.compose(interceptors.responseError())
  await t.throwsAsync(throwing.request(get), { code: 'UND_ERR_RESPONSE' })
  t.deepEqual(inFlight(), [0])
  t.deepEqual(outcomes(), [[1, 1]])
})

test('what is composed can be closed and destroyed, and tells what the dispatcher does', async (t) => {
  const { dispatcher } = over(t, [await named(t, 'a')])
  const composed = dispatcher.compose((dispatch) => (options, handler) => dispatch(options, handler))
  await (await composed.request(get)).body.dump()
  await composed.close()
  t.true(dispatcher.closed)
  await composed.destroy()
  t.true(dispatcher.destroyed)
})
