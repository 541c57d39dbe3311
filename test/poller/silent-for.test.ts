import test from 'ava'
import { createBalancer } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { httpPoller, idOf, reporting, serve, virtualPoller } from './agents.js'

test('who was heard of in another way is not asked; who falls silent is', async (t) => {
  const { clock, table, poller, asks } = virtualPoller({ silentFor: 4_000, interval: 1_000 })
  const [a, b] = [table.claim('a'), table.claim('b')]
  table.write(a, table.now(), { cpu: 1 })
  poller.setMembers([a, b])
  poller.start()
  await clock.advance(0)
  t.deepEqual(
    asks.map(({ node }) => node),
    ['b'],
  )
  asks[0]?.answer({ cpu: 2 })
  // Both are silent for 4 s from here on: the cycles at 1, 2 and 3 s ask nobody.
  await clock.advance(3_999)
  t.like(poller.counters, { asked: 1, stored: 1, fresh: 1 + 2 * 3, cycles: 4 })
  await clock.advance(1)
  t.deepEqual(
    asks.map(({ node }) => node),
    ['b', 'a', 'b'],
  )
})

test('a report is as old as its sample: an old one leaves nobody alone', async (t) => {
  const { clock, table, poller, asks } = virtualPoller({ silentFor: 4_000 })
  const a = table.claim('a')
  table.write(a, table.now() - 4_000, { cpu: 1 })
  poller.setMembers([a])
  poller.start()
  await clock.advance(0)
  t.is(asks.length, 1)
})

test('a node that can’t be asked but tells by itself is no failure', async (t) => {
  const { clock, table, poller } = virtualPoller({
    silentFor: 1_000,
    transport: () => {
      throw new Error('not that one')
    },
  })
  const a = table.claim('a')
  table.write(a, table.now(), { cpu: 1 })
  poller.setMembers([a])
  poller.start()
  await clock.advance(0)
  t.like(poller.counters, { asked: 0, error: 0, fresh: 1 })
  await clock.advance(5_000)
  t.like(poller.counters, { asked: 1, error: 1, fresh: 1 })
})

test('the polling thread leaves them alone too', async (t) => {
  let requests = 0
  const server = await serve(t, (request, response) => {
    requests++
    reporting(10)(request, response as never)
  })
  const { table, poller } = httpPoller(t, { silentFor: 3_600_000 })
  poller.setMembers([table.claim(idOf(server))])
  poller.start()
  while (poller.counters.cycles < 3) await new Promise((resolve) => setTimeout(resolve, 5))
  await poller.close()
  t.is(requests, 1)
  const { asked, stored, fresh, cycles } = poller.counters
  t.deepEqual({ asked, stored, fresh }, { asked: 1, stored: 1, fresh: cycles - 1 })
})

test('a balancer whose members report by themselves polls the silent alone', async (t) => {
  const clock = new VirtualClock()
  const asked: string[] = []
  const balancer = createBalancer({
    nodes: ['a', 'b'],
    clock,
    poll: {
      startupJitter: 0,
      interval: 1_000,
      silentFor: 1_500,
      transport: {
        poll: async (node) => {
          asked.push(node)
          return { cpu: 1 }
        },
      },
    },
  })
  for (let second = 0; second < 4; second++) {
    balancer.report('a', { cpu: 2 })
    await clock.advance(1_000)
  }
  t.false(asked.includes('a'))
  t.true(asked.length >= 2)
  await balancer.close()
})
