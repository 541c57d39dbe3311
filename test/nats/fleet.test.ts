import { setTimeout } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import { natsPublisherSettings } from '../../dist/agent/nats-options.js'
import { NatsPublisher, type NatsPublisherCounters } from '../../dist/agent/nats-publisher.js'
import { type Balancer, createBalancer, createTable, leastCpu, natsTransport } from '../../dist/index.js'
import type { Report } from '../../dist/report.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { NatsServer, test } from './server.js'

process.removeAllListeners('warning')

const NODES = 200
const TTL = 1_000
const nodes = Array.from({ length: NODES }, (_, index) => `10.0.${index >> 8}.${index & 255}:8080`)

/** Agents that publish whenever the test says so; the time between two publications is virtual. */
function fleet(t: ExecutionContext, servers: string) {
  const clock = new VirtualClock()
  const loads = nodes.map((_, index) => 10 + (index % 80))
  const publishers = nodes.map((id, index) => {
    const report = (): Report => ({ cpu: loads[index] ?? 0, age: 0 })
    const settings = { servers, subject: 'idlest.report', id, interval: 1_000, jitter: 0 }
    return new NatsPublisher(natsPublisherSettings(settings), { report, onChange: () => () => {} }, clock)
  })
  t.teardown(() => Promise.all(publishers.map((publisher) => publisher.close())))
  let ticks = 0
  return {
    loads,
    sum: (counter: keyof NatsPublisherCounters) =>
      publishers.reduce((total, { counters }) => total + counters[counter], 0),
    async tick() {
      ticks++
      await clock.advance(1_000)
    },
    get ticks() {
      return ticks
    },
  }
}

/** All that the balancer heard, whatever became of it; as of its last cycle. */
function heard(balancer: Balancer): number {
  const { stored = 0, older = 0, bad = 0, strangers = 0 } = balancer.stats().poll?.pushed ?? {}
  return stored + older + bad + strangers
}

function fresh(balancer: Balancer): number {
  return balancer.snapshot().filter((node) => node.fresh).length
}

test('200 agents are heard; their server is killed and restarted, and nothing is lost but time', async (t) => {
  const server = await NatsServer.start(t)
  const balancer = createBalancer({
    nodes,
    algorithm: leastCpu({ ttl: TTL, threshold: 0 }),
    table: createTable(),
    poll: {
      transport: natsTransport({ servers: server.address, silence: 500 }),
      interval: 20,
      timeout: 200,
      startupJitter: 0,
    },
  })
  t.teardown(() => balancer.close())
  const agents = fleet(t, server.address)

  async function tickUntil(done: () => boolean): Promise<void> {
    while (!done()) {
      await agents.tick()
      await setTimeout(50)
    }
  }

  /** From here on each report that is published is heard. */
  async function allIsHeard(ticks: number): Promise<void> {
    await tickUntil(() => fresh(balancer) === NODES && agents.sum('dropped') === dropped)
    // What is on the way.
    let before = -1
    while (before !== heard(balancer)) {
      before = heard(balancer)
      await setTimeout(200)
    }
    const published = agents.sum('published')
    for (let tick = 0; tick < ticks; tick++) await agents.tick()
    t.is(agents.sum('published') - published, ticks * NODES)
    while (heard(balancer) - before < ticks * NODES) await setTimeout(20)
    t.is(heard(balancer) - before, ticks * NODES)
  }

  let dropped = 0
  await tickUntil(() => agents.sum('published') >= NODES && fresh(balancer) === NODES)
  dropped = agents.sum('dropped')
  await allIsHeard(5)
  agents.loads[123] = 1
  await agents.tick()
  while (nodes.indexOf(balancer.select()) !== 123) await setTimeout(10)

  await server.kill()
  await tickUntil(() => fresh(balancer) === 0)
  const { exit = 0 } = balancer.stats().poll ?? {}
  t.true(exit >= NODES)
  t.true(agents.sum('dropped') > dropped)
  // Nothing is known of any: picks are even.
  const picked = new Set(Array.from({ length: 5_000 }, () => balancer.select()))
  t.true(picked.size > 0.9 * NODES)

  await server.start()
  agents.loads[123] = 50
  agents.loads[7] = 1
  await tickUntil(() => agents.sum('reconnects') >= NODES && fresh(balancer) === NODES)
  dropped = agents.sum('dropped')
  await allIsHeard(5)
  t.is(nodes.indexOf(balancer.select()), 7)

  // Each agent had its turn in each tick, and once more for each connection.
  t.is(agents.sum('reconnects'), NODES)
  t.is(agents.sum('published') + dropped, agents.ticks * NODES + 2 * NODES)
  const { pushed, error } = balancer.stats().poll ?? {}
  t.like(pushed, { bad: 0, strangers: 0, left: 0, empty: 0 })
  t.is(error, 0)
})
