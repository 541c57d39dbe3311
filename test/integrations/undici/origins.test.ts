import test from 'ava'
import { Agent, Pool } from 'undici/index.js'
import { get, named, over } from './servers.js'

test('without `for` every origin is balanced, and none need be given', async (t) => {
  const { dispatcher, outcomes } = over(t, [await named(t, 'a')])
  for (const origin of [undefined, 'http://any.local', new URL('https://other.local:444')]) {
    const request = origin === undefined ? get : { ...get, origin }
    t.is(await (await dispatcher.request(request)).body.text(), 'a')
  }
  t.deepEqual(outcomes(), [[3, 0]])
})

test('a node may be called by its origin, as in BalancedPool, and one with more than that is refused at once', async (t) => {
  const a = await named(t, 'a')
  for (const id of [`http://${a.id}`, `HTTP://${a.id}/`]) {
    const { dispatcher } = over(t, [{ id }])
    t.is(await (await dispatcher.request(get)).body.text(), 'a')
  }
  for (const id of [`http://${a.id}/path`, 'http://user@host:80', 'no host']) {
    const error = t.throws(() => over(t, [{ id }]), { code: 'IDLEST_BAD_OPTION' })
    t.regex(error.message, /^option origins is .*: expected an origin: http or https, host and port alone/)
  }
})

test('with `for` other origins go where they say', async (t) => {
  const other = await named(t, 'other')
  const { dispatcher, outcomes } = over(t, [await named(t, 'a')], {
    for: ['http://service.local', new URL('http://second.local:8080')],
  })
  const ask = async (origin: string | URL) => (await dispatcher.request({ ...get, origin })).body.text()
  t.is(await ask('http://service.local'), 'a')
  t.is(await ask('http://service.local/'), 'a')
  t.is(await ask('HTTP://SERVICE.LOCAL:80'), 'a')
  t.is(await ask(new URL('http://second.local:8080')), 'a')
  t.is(await ask(`http://${other.id}`), 'other')
  t.deepEqual(outcomes(), [[4, 0]])
  await t.throwsAsync(ask('http://nowhere.invalid'))
  t.is(dispatcher.stats.requests, 4)
})

test('they go by `otherwise` where that is given, which is not closed with the dispatcher', async (t) => {
  const other = await named(t, 'other')
  const otherwise = new Agent()
  t.teardown(() => otherwise.close())
  const { dispatcher } = over(t, [await named(t, 'a')], { for: 'http://service.local', otherwise })
  const request = { ...get, origin: `http://${other.id}` }
  t.is(await (await dispatcher.request(request)).body.text(), 'other')
  await dispatcher.close()
  t.is(await (await otherwise.request(request)).body.text(), 'other')
})

test('`origins` says where a node is', async (t) => {
  const a = await named(t, 'a')
  const { dispatcher } = over(t, [{ id: 'first' }], { origins: () => new URL(`http://${a.id}`) })
  t.is(await (await dispatcher.request(get)).body.text(), 'a')
})

test('`pool` and `factory` say how a node is connected to', async (t) => {
  const a = await named(t, 'a')
  const made: [string, Pool.Options, string][] = []
  const pool = { connections: 3 }
  const { dispatcher } = over(t, [a], {
    pool,
    factory: (origin, options, id) => {
      made.push([origin, options, id])
      return new Pool(origin, options)
    },
  })
  for (let i = 0; i < 2; i++) await (await dispatcher.request(get)).body.dump()
  t.deepEqual(made, [[`http://${a.id}`, pool, a.id]])
})

test('the Host of a request is its node, unless the request names one', async (t) => {
  const hosts: (string | undefined)[] = []
  const a = await named(t, 'a')
  a.server.prependListener('request', ({ headers }) => hosts.push(headers.host))
  const { dispatcher } = over(t, [a])
  await (await dispatcher.request({ ...get, origin: 'http://service.local' })).body.dump()
  await (await dispatcher.request({ ...get, headers: { host: 'service.local' } })).body.dump()
  t.deepEqual(hosts, [a.id, 'service.local'])
})
