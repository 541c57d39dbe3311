import { once } from 'node:events'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { request, fetch as undiciFetch } from 'undici/index.js'
import { get, named, over } from './servers.js'

test("request, stream and pipeline go to the balancer's nodes", async (t) => {
  const { dispatcher, outcomes } = over(t, [await named(t, 'a'), await named(t, 'b'), await named(t, 'c')])
  const { body } = await dispatcher.request(get)
  t.is(await body.text(), 'a')

  const chunks: Buffer[] = []
  await dispatcher.stream(
    get,
    () =>
      new Writable({
        write: (chunk, _encoding, done) => {
          chunks.push(chunk)
          done()
        },
      }),
  )
  t.is(`${Buffer.concat(chunks)}`, 'b')

  const pipeline = dispatcher.pipeline(get, ({ body }) => body)
  pipeline.end()
  t.is(await text(pipeline), 'c')
  t.deepEqual(outcomes(), [
    [1, 0],
    [1, 0],
    [1, 0],
  ])
})

test('callbacks are called as undici calls them', async (t) => {
  const { dispatcher } = over(t, [await named(t, 'a')])
  const body = await new Promise((resolve, reject) => {
    dispatcher.request(get, (error, data) => (error === null ? resolve(data.body.text()) : reject(error)))
  })
  t.is(body, 'a')
})

test("fetch of undici and Node's own take it as their dispatcher, and so does request", async (t) => {
  const { dispatcher, outcomes } = over(t, [await named(t, 'a'), await named(t, 'b'), await named(t, 'c')])
  const url = 'http://service.local/'
  t.is(await (await undiciFetch(url, { dispatcher })).text(), 'a')
  t.is(await (await fetch(url, { dispatcher } as RequestInit)).text(), 'b')
  t.is(await (await request(url, { dispatcher })).body.text(), 'c')
  t.deepEqual(outcomes(), [
    [1, 0],
    [1, 0],
    [1, 0],
  ])
})

test('bodies are sent and received whole', async (t) => {
  const echo = await named(t, '')
  echo.server.removeAllListeners('request')
  echo.server.on('request', (incoming, response) => incoming.pipe(response))
  const { dispatcher } = over(t, [echo])
  const large = 'x'.repeat(2_000_000)
  const response = await undiciFetch('http://service.local/', { method: 'POST', body: large, dispatcher })
  t.is((await response.text()).length, large.length)
  const { body } = await dispatcher.request({ path: '/', method: 'POST', body: Buffer.from(large) })
  t.is((await body.text()).length, large.length)
})

test('it tells of connections as pools do, with itself the first of the targets', async (t) => {
  const a = await named(t, 'a')
  const { dispatcher } = over(t, [a])
  const connected = once(dispatcher, 'connect')
  await (await dispatcher.request(get)).body.text()
  const [origin, targets] = await connected
  t.is(String(origin), `http://${a.id}/`)
  t.is(targets[0], dispatcher)
  const gone = once(dispatcher, 'disconnect')
  await a.kill()
  t.is(String((await gone)[0]), `http://${a.id}/`)
})
