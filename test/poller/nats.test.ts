import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { connect } from '@nats-io/transport-node'
import anyTest, { type ExecutionContext } from 'ava'
import { natsTransport } from '../../dist/index.js'
import { subjectOf } from '../../dist/nats/subject.js'
import type { PlacedTold } from '../../dist/poller/told.js'
import { httpTransport } from '../../dist/poller/transports/http.js'
import { processClock } from '../../dist/process-clock.js'
import type { RemoteErrorEvent } from '../../dist/telemetry.js'
import { until } from '../agent/support.js'
import { freePort, NatsServer, test } from '../nats/server.js'
import { child, without } from '../support/child.js'
import { httpPoller, idOf, readingOf, reporting, serve, serveTcp } from './agents.js'

function failures(t: ExecutionContext, name: string): RemoteErrorEvent[] {
  const events: RemoteErrorEvent[] = []
  const listener = (event: unknown) => {
    if ((event as RemoteErrorEvent).balancer === name) events.push(event as RemoteErrorEvent)
  }
  subscribe('idlest:poll:remote-error', listener)
  t.teardown(() => unsubscribe('idlest:poll:remote-error', listener))
  return events
}

for (const [where, clock] of [
  ['in the polling thread', processClock],
  ['on this thread', { ...processClock }],
] as const) {
  test(`${where}: what is published is in the table soon, whenever the next cycle is`, async (t) => {
    const server = await NatsServer.start(t)
    const told: PlacedTold[] = []
    const { table, poller } = httpPoller(t, {
      clock,
      transport: natsTransport({ servers: server.address }),
      interval: 600_000,
      timeout: 60_000,
      onTold: (news) => told.push(...news),
    })
    const ids = ['10.0.0.1:80', 'a b']
    poller.setMembers(ids.map((id) => table.claim(id)))
    poller.start()
    const nats = await connect({ servers: server.address })
    t.teardown(() => nats.close())
    const publish = (id: string, report: object) =>
      nats.publish(subjectOf('idlest.report', id), JSON.stringify(report))
    // The first cycle waits until they are heard.
    const timer = setInterval(() => {
      for (const id of ids)
        publish(id, { cpu_utilization: 0.5, age_ms: 20, named_metrics: { idlest_state: 0 } })
    }, 20)
    await poller.ready
    clearInterval(timer)
    await nats.flush()
    await until(() => ids.every((id) => readingOf(table, id)?.cpu === 50))
    t.true((readingOf(table, 'a b')?.age ?? 0) >= 20)
    publish('a b', { cpu_utilization: 0.125, named_metrics: { idlest_state: 1, idlest_weight: 30 } })
    await until(() => readingOf(table, 'a b')?.cpu === 12.5)
    await until(() => told.some(({ weight }) => weight === 30))
    t.like(told.at(-1), { state: 'drain', weight: 30, slot: table.find('a b')?.slot })
    t.like(poller.counters, { cycles: 1, heard: 2, exit: 0, error: 0 })
  })
}

anyTest('a NATS server that never answers is the failure of its nodes alone', async (t) => {
  const hanging = await serveTcp(t, () => {})
  const events = failures(t, 'mixed')
  const http = await serve(t, reporting(33))
  const transports = {
    nats: natsTransport({ servers: idOf(hanging) }),
    refused: natsTransport({ servers: `127.0.0.1:${await freePort()}` }),
  }
  const { table, poller } = httpPoller(t, {
    name: 'mixed',
    timeout: 300,
    transport: (id) =>
      id === idOf(http) ? httpTransport() : id === 'hangs' ? transports.nats : transports.refused,
  })
  poller.setMembers(['hangs', 'refused', idOf(http)].map((id) => table.claim(id)))
  poller.start()
  const reasons = (id: string) =>
    new Set(events.filter(({ node }) => node === id).map(({ kind, reason }) => `${kind}: ${reason}`))
  await until(() => reasons('refused').has('exit: not connected to NATS: connection refused'))
  await until(() => reasons('hangs').has('exit: no answer within 300 ms'))
  // On a busy machine an answer takes longer than this once in a while, but not for ever.
  const { stored } = poller.counters
  await until(() => poller.counters.stored > stored + 2)
  t.is(readingOf(table, idOf(http))?.cpu, 33)
})

test('a wrong password is told, node by node, and tried at the pace of the wait', async (t) => {
  const server = await NatsServer.start(t, 'authorization { user: "me", password: "right" }')
  const events = failures(t, 'intruder')
  const { table, poller } = httpPoller(t, {
    name: 'intruder',
    transport: natsTransport({ servers: server.address, user: 'me', password: 'wrong' }),
  })
  poller.setMembers(['a', 'b'].map((id) => table.claim(id)))
  poller.start()
  await until(() => events.length >= 4)
  for (const { kind, reason } of events) {
    t.is(kind, 'exit')
    t.is(reason, 'not connected to NATS: Authorization Violation')
    t.false(reason.includes('wrong'))
  }
})

test('credentials that are none are told', async (t) => {
  const server = await NatsServer.start(t, 'authorization { user: "me", password: "right" }')
  const events = failures(t, 'mumbling')
  const { table, poller } = httpPoller(t, {
    name: 'mumbling',
    transport: natsTransport({ servers: server.address, credentials: 'no credentials' }),
  })
  poller.setMembers([table.claim('a')])
  poller.start()
  await until(() => events.length > 0)
  t.regex(events[0]?.reason ?? '', /not connected to NATS: unable to parse credentials/)
})

test('members that leave and join are heard no more, and heard', async (t) => {
  const server = await NatsServer.start(t)
  const { table, poller } = httpPoller(t, { transport: natsTransport({ servers: server.address }) })
  const [a, b] = [table.claim('a'), table.claim('b')]
  poller.setMembers([a])
  poller.start()
  const nats = await connect({ servers: server.address })
  let cpu = 0
  const timer = setInterval(() => {
    cpu = cpu === 0.5 ? 0.25 : 0.5
    for (const id of ['a', 'b']) nats.publish(`idlest.report.${id}`, JSON.stringify({ cpu_utilization: cpu }))
  }, 5)
  t.teardown(() => {
    clearInterval(timer)
    return nats.close()
  })
  await until(() => readingOf(table, 'a') !== undefined && poller.counters.pushed.strangers > 0)
  t.is(readingOf(table, 'b'), undefined)
  poller.setMembers([b])
  await until(() => readingOf(table, 'b') !== undefined)
  const age = (id: string) => readingOf(table, id)?.age ?? Number.NaN
  await until(() => age('a') > 100 && age('b') < 50)
  t.true(poller.counters.pushed.stored > 0)
})

const dist = new URL('../../dist/', import.meta.url)

for (const runs of [true, false]) {
  const kind = runs ? test : anyTest
  kind(
    `a process with a balancer that hears on NATS ends by itself, the server ${runs ? 'there' : 'gone'}`,
    async (t) => {
      const address = runs ? (await NatsServer.start(t)).address : `127.0.0.1:${await freePort()}`
      const { exit } = child(
        t,
        `
      import { createBalancer, natsTransport } from '${new URL('index.js', dist)}'
      const balancer = createBalancer({
        nodes: ['a', 'b'],
        poll: { transport: natsTransport({ servers: '${address}' }), startupJitter: 0, interval: 100, timeout: 100 },
      })
      process.removeAllListeners('warning')
      process.on('warning', () => {})
      await balancer.ready()
      `,
      )
      t.deepEqual(await exit, [0, null])
    },
  )
}

anyTest('without the client, options that need it are wrong, and say what to install', async (t) => {
  const { exit, said } = child(
    t,
    `
    import { createAgent, createBalancer, natsTransport } from '${new URL('index.js', dist)}'
    const balancer = createBalancer({ nodes: ['a'], poll: false })
    console.log(balancer.select())
    try { natsTransport({ servers: 's' }) } catch (error) { console.log(error.code, error.message) }
    await createAgent({ nats: { servers: 's', id: 'a' } }).catch((error) => console.log(error.code, error.message))
    `,
    without('@nats-io/'),
  )
  t.deepEqual(await exit, [0, null])
  const wants =
    'expected the package @nats-io/transport-node, which is not installed: npm install @nats-io/transport-node'
  t.is(
    said(),
    `a\nIDLEST_BAD_OPTION option natsTransport is undefined: ${wants}\nIDLEST_BAD_OPTION option nats is undefined: ${wants}\n`,
  )
})

anyTest('the client is not loaded by who does not use NATS', async (t) => {
  const { exit, said } = child(
    t,
    `
    import { createRequire } from 'node:module'
    import { createAgent, createBalancer, natsTransport } from '${new URL('index.js', dist)}'
    const loaded = () => Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes('@nats-io'))
    natsTransport({ servers: 's' })
    const agent = await createAgent()
    console.log(loaded())
    const publisher = await createAgent({ http: false, nats: { servers: '127.0.0.1:1', id: 'a' } })
    console.log(loaded())
    await agent.close()
    await publisher.close()
    `,
  )
  t.deepEqual(await exit, [0, null])
  t.is(said(), 'false\ntrue\n')
})
