import test from 'ava'
import { createBalancer } from '../../../dist/index.js'
import {
  BalancedDispatcher,
  type BalancedDispatcherOptions,
} from '../../../dist/integrations/undici/index.js'
import { get, named, node, type TestNode } from './servers.js'

type Context = Parameters<typeof named>[0]

/** A balancer with all its defaults, but for polling. */
function under(t: Context, nodes: readonly TestNode[], options: BalancedDispatcherOptions<string> = {}) {
  const balancer = createBalancer({ nodes: nodes.map(({ id }) => id), poll: false })
  const dispatcher = new BalancedDispatcher(balancer, options)
  t.teardown(async () => {
    await dispatcher.destroy()
    await balancer.close()
  })
  return { balancer, dispatcher }
}

/** So many callers ask one after the other, until so many requests are done in all. Gives what failed. */
async function load(dispatcher: BalancedDispatcher, callers: number, requests: number, each?: () => void) {
  const failed: unknown[] = []
  let left = requests
  const caller = async () => {
    while (left-- > 0) {
      try {
        const { statusCode, body } = await dispatcher.request(get)
        await body.dump()
        if (statusCode >= 500) failed.push(statusCode)
      } catch (error) {
        failed.push(error)
      }
      each?.()
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return failed
}

const inFlight = (balancer: { snapshot(): { inFlight: number }[] }) =>
  balancer.snapshot().map((member) => member.inFlight)

test('a node that is killed under load costs no request, and a handful of picks', async (t) => {
  const nodes = await Promise.all(['a', 'b', 'c', 'd'].map((name) => named(t, name)))
  const [victim] = nodes as [TestNode]
  const { balancer, dispatcher } = under(t, nodes)
  const callers = 16
  let done = 0
  const failed = await load(dispatcher, callers, 1_000, () => {
    if (++done === 400) void victim.kill()
  })
  t.deepEqual(failed, [])
  t.deepEqual(inFlight(balancer), [0, 0, 0, 0])
  const { failures, retries, unblamed } = dispatcher.stats
  // Those that were under way there, and as many as it takes to be ejected; each was sent once more.
  const all = failures.connect + failures.reset + unblamed
  t.true(all <= callers + 5, JSON.stringify(failures))
  t.is(retries, all)
})

test('without retries those that were under way fail, and no more than it takes to be ejected', async (t) => {
  const nodes = await Promise.all(['a', 'b', 'c', 'd'].map((name) => named(t, name)))
  const [victim] = nodes as [TestNode]
  const { balancer, dispatcher } = under(t, nodes, { retry: false })
  const callers = 16
  let done = 0
  const failed = await load(dispatcher, callers, 1_000, () => {
    if (++done === 400) void victim.kill()
  })
  t.true(failed.length <= callers + 5, `${failed.length} failed`)
  t.is(failed.length, balancer.stats().leases.failed + dispatcher.stats.unblamed)
  t.deepEqual(inFlight(balancer), [0, 0, 0, 0])
})

test('with all nodes down each request fails at once, few are sent twice, and all is well when they are up', async (t) => {
  const answer = (t: Context, id?: string) =>
    node(t, (_request, response) => response.end('up'), id === undefined ? 0 : Number(id.split(':')[1]))
  const nodes = await Promise.all([answer(t), answer(t), answer(t)])
  const { balancer, dispatcher } = under(t, nodes)
  t.deepEqual(await load(dispatcher, 4, 100), [])
  await Promise.all(nodes.map(({ kill }) => kill()))
  const failed = await load(dispatcher, 4, 300)
  t.is(failed.length, 300)
  t.true(dispatcher.stats.retries <= 0.2 * 400 + 100)
  t.deepEqual(inFlight(balancer), [0, 0, 0])
  const again = await Promise.all(nodes.map(({ id }) => answer(t, id)))
  t.deepEqual(await load(dispatcher, 4, 300), [])
  for (const { requests } of again) t.true(requests() > 0)
})

test('a node that answers 503 to all gets next to nothing, and no caller sees it', async (t) => {
  const failing = await node(t, (_request, response) => {
    response.statusCode = 503
    response.end()
  })
  const nodes = [failing, await named(t, 'b'), await named(t, 'c')]
  const { dispatcher } = under(t, nodes)
  t.deepEqual(await load(dispatcher, 8, 1_000), [])
  t.true(failing.requests() <= 8 + 5, `${failing.requests()} requests`)
})
