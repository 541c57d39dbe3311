import test from 'ava'
import { createBalancer, httpTransport, leastCpu } from '../../dist/index.js'
import { ask, startNodes, until } from './mortal-nodes.js'

test('where all nodes are down and up again, each is tried all along, and heard and picked as before in the end', async (t) => {
  const servers = await startNodes(t, 3)
  const ids = servers.map(({ id }) => id)
  const balancer = createBalancer({
    name: 'all-down',
    nodes: ids,
    algorithm: leastCpu({ ttl: 1_000 }),
    poll: { transport: httpTransport(), interval: 50, timeout: 30_000, startupJitter: 0 },
    health: { ejection: 100, maxEjection: 200, interval: 50 },
  })
  t.teardown(() => balancer.close())
  const outcomes: ('served' | 'failed')[] = []
  let ended = false
  const client = async () => {
    while (!ended) {
      try {
        await balancer.run(ask)
        outcomes.push('served')
      } catch (error) {
        // Nothing but what a node did: that there is none is never said.
        t.is((error as Error).message, 'fetch failed')
        outcomes.push('failed')
      }
    }
  }
  const clients = Promise.all(Array.from({ length: 4 }, client))
  const isHeard = (cpu: number) => balancer.snapshot().every((node) => node.fresh && node.cpu === cpu)
  await until(() => isHeard(20) && outcomes.length > 50)
  t.false(outcomes.includes('failed'))

  await Promise.all(servers.map((server) => server.kill()))
  await until(() => balancer.snapshot().every(({ fresh, poll }) => !fresh && poll !== undefined))
  const before = balancer.snapshot().map(({ picks }) => picks)
  const failures = outcomes.length
  await until(() => outcomes.length > failures + 200)
  t.true(outcomes.slice(failures).every((outcome) => outcome === 'failed'))
  for (const [i, { picks, id }] of balancer.snapshot().entries()) {
    t.true(picks > (before[i] ?? 0), `${id} is tried no more`)
  }

  await Promise.all(servers.map((server) => server.start(0.4)))
  await until(() => isHeard(40))
  await until(() => balancer.snapshot().every(({ ejected }) => ejected === undefined))
  const [again, then] = [outcomes.length, balancer.snapshot().map(({ picks }) => picks)]
  await until(() => outcomes.length > again + 50)
  await until(() => balancer.snapshot().every(({ picks }, i) => picks > (then[i] ?? 0)))
  ended = true
  await clients
  // What was under way when the last one was back may have failed.
  t.true(outcomes.slice(again + 4).every((outcome) => outcome === 'served'))
  t.true(balancer.snapshot().every(({ inFlight, poll }) => inFlight === 0 && poll === undefined))
  t.is(balancer.stats().picks.empty, 0)
})
