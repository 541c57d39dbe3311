import { once } from 'node:events'
import test from 'ava'
import { attachBalancer, createBalancer, hashRing, roundRobin } from '../../../dist/index.js'
import { BalancedDispatcher } from '../../../dist/integrations/undici/index.js'
import { get, named, node, over } from './servers.js'

test('a node is connected to when it is first picked, and no sooner', async (t) => {
  const { dispatcher } = over(t, [await named(t, 'a'), await named(t, 'b')])
  t.is(dispatcher.stats.upstreams, 0)
  await (await dispatcher.request(get)).body.dump()
  t.is(dispatcher.stats.upstreams, 1)
})

test('a node that has left ends what it has begun, and its connections are closed then', async (t) => {
  let answer = () => {}
  const slow = await node(t, (_request, response) => {
    answer = () => response.end('done')
    response.flushHeaders()
  })
  const { balancer, dispatcher } = over(t, [slow, await named(t, 'b')])
  const { body } = await dispatcher.request(get)
  balancer.remove(slow.id)
  t.is(await (await dispatcher.request(get)).body.text(), 'b')
  t.is(dispatcher.stats.upstreams, 1)
  const gone = once(dispatcher, 'disconnect')
  answer()
  t.is(await body.text(), 'done')
  t.is(String((await gone)[0]), `http://${slow.id}/`)
})

test('a node that joins without an origin loses no request, and is ejected', async (t) => {
  const balancer = createBalancer({
    nodes: [(await named(t, 'a')).id],
    poll: false,
    algorithm: roundRobin(),
  })
  const dispatcher = new BalancedDispatcher(balancer)
  t.teardown(() => dispatcher.destroy())
  balancer.add('no port')
  for (let i = 0; i < 20; i++) {
    const { statusCode, body } = await dispatcher.request(get)
    await body.dump()
    t.is(statusCode, 200)
  }
  t.is(dispatcher.stats.failures.connect, 5)
  t.regex(balancer.explain('no port').words, /ejected/)
  await balancer.close()
})

test('a node that comes back is connected to anew', async (t) => {
  const a = await named(t, 'a')
  const b = await named(t, 'b')
  const { balancer, dispatcher } = over(t, [a, b])
  for (let i = 0; i < 2; i++) await (await dispatcher.request(get)).body.dump()
  balancer.setNodes([b.id])
  t.is(await (await dispatcher.request(get)).body.text(), 'b')
  balancer.setNodes([a.id])
  t.is(await (await dispatcher.request(get)).body.text(), 'a')
  t.is(a.requests(), 2)
})

test('the same node by another object keeps its connections, unless it has moved', async (t) => {
  let connections = 0
  const a = await named(t, 'a')
  a.server.on('connection', () => connections++)
  const b = await named(t, 'b')
  const at = (url: string) => ({ id: 'one', url })
  const balancer = createBalancer({ nodes: [at(`http://${a.id}`)], poll: false, algorithm: roundRobin() })
  const dispatcher = new BalancedDispatcher(balancer, {
    origins: ({ url }) => url,
    pool: { connections: 1 },
  })
  t.teardown(() => dispatcher.destroy())
  const ask = async () => (await dispatcher.request(get)).body.text()
  t.is(await ask(), 'a')
  balancer.setNodes([at(`http://${a.id}`)])
  t.is(await ask(), 'a')
  t.is(connections, 1)
  balancer.setNodes([at(`http://${b.id}`)])
  t.is(await ask(), 'b')
  t.is(dispatcher.stats.upstreams, 1)
})

test('a node that drains gets no more requests', async (t) => {
  const { balancer, dispatcher } = over(t, [await named(t, 'a'), await named(t, 'b')])
  const [a = ''] = balancer.nodes
  const { body } = await dispatcher.request(get)
  let isDrained = false
  const drained = balancer.drain(a).then(() => {
    isDrained = true
  })
  for (let i = 0; i < 3; i++) t.is(await (await dispatcher.request(get)).body.text(), 'b')
  t.is(await body.text(), 'a')
  await drained
  t.true(isDrained)
})

test('by key, requests of one key go to one node, and on to the next where that one fails', async (t) => {
  const nodes = await Promise.all(['a', 'b', 'c'].map((name) => named(t, name)))
  const balancer = createBalancer({ nodes: nodes.map(({ id }) => id), poll: false, algorithm: hashRing() })
  const dispatcher = new BalancedDispatcher(balancer, { key: ({ path }) => path })
  t.teardown(() => dispatcher.destroy())
  const ask = async (path: string) => (await dispatcher.request({ path, method: 'GET' })).body.text()
  const home = await ask('/user/1')
  for (let i = 0; i < 5; i++) t.is(await ask('/user/1'), home)
  const [first, second] = balancer.replicas('/user/1', 2)
  const at = (id: string | undefined) => nodes.find((node) => node.id === id)
  await at(first)?.kill()
  const next = await ask('/user/1')
  t.not(next, home)
  t.is(at(second)?.requests(), 1)
})

test('an attached balancer does as well', async (t) => {
  const balancer = createBalancer({ nodes: [(await named(t, 'a')).id], poll: false, algorithm: roundRobin() })
  const attached = attachBalancer(balancer.handle())
  const dispatcher = new BalancedDispatcher(attached)
  t.teardown(async () => {
    await dispatcher.destroy()
    attached.close()
    await balancer.close()
  })
  while (attached.nodes.length === 0) await new Promise(setImmediate)
  const answer = dispatcher.request(get)
  t.is(balancer.snapshot()[0]?.inFlight, 1)
  t.is(await (await answer).body.text(), 'a')
  t.is(balancer.snapshot()[0]?.inFlight, 0)
})
