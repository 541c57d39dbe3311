import anyTest, { type ExecutionContext } from 'ava'
import { createAgent } from '../../dist/agent/index.js'
import { natsPublisherSettings } from '../../dist/agent/nats-options.js'
import { NatsPublisher, type PublisherSource } from '../../dist/agent/nats-publisher.js'
import { NatsLink } from '../../dist/nats/link.js'
import type { Report } from '../../dist/report.js'
import { readOrcaJson } from '../../dist/reports/orca-json.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { freePort, NatsServer, test } from '../nats/server.js'
import { startAgent, until } from './support.js'

process.removeAllListeners('warning')

interface Heard {
  readonly subject: string
  readonly report: Report
}

/** Hears all that is published below `idlest.report`. */
async function hear(t: ExecutionContext, server: NatsServer): Promise<Heard[]> {
  const heard: Heard[] = []
  const link = new NatsLink({
    settings: { servers: [server.address], subject: 'idlest.report' },
    name: 'test',
    retry: 10,
    onConnect: (connection) => {
      connection.subscribe('idlest.report.*', {
        callback: (_, message) => {
          heard.push({ subject: message.subject, report: readOrcaJson(message.string()) })
        },
      })
    },
  })
  t.teardown(() => link.close())
  await until(() => link.connection !== undefined)
  await link.connection?.flush()
  return heard
}

/** A source whose report the test gives. */
class ManualSource implements PublisherSource {
  current: Report | undefined = { cpu: 10, age: 0 }
  readonly #listeners = new Set<() => void>()
  report(): Report | undefined {
    return this.current
  }
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
  change(report: Report): void {
    this.current = report
    for (const listener of this.#listeners) listener()
  }
}

/** A publisher in virtual time. */
function publisher(t: ExecutionContext, { address }: { readonly address: string }, options: object = {}) {
  const clock = new VirtualClock(1_000)
  const source = new ManualSource()
  const settings = natsPublisherSettings({
    servers: address,
    subject: 'idlest.report',
    id: '10.0.0.1:80',
    interval: 1_000,
    jitter: 0,
    ...options,
  })
  const made = new NatsPublisher(settings, source, clock)
  t.teardown(() => made.close())
  return { publisher: made, source, clock, counters: made.counters }
}

test('a report is published when the connection begins, and then each interval', async (t) => {
  const server = await NatsServer.start(t)
  const heard = await hear(t, server)
  const { clock, source, counters } = publisher(t, server)
  await until(() => heard.length === 1)
  for (const cpu of [20, 30, 40]) {
    source.current = { cpu, age: 7, named: { batches: 3 } }
    await clock.advance(999)
    await clock.advance(1)
  }
  await until(() => heard.length === 4)
  t.deepEqual(heard.at(-1), {
    subject: 'idlest.report.10%2E0%2E0%2E1%3A80',
    report: { cpu: 40, age: 7, named: { batches: 3 } },
  })
  t.deepEqual(
    heard.map(({ report }) => report.cpu),
    [10, 20, 30, 40],
  )
  t.deepEqual({ ...counters }, { published: 4, dropped: 0, notReady: 0, refused: 0, reconnects: 0 })
})

test('what it says of taking work is published at once, and other changes with the interval', async (t) => {
  const server = await NatsServer.start(t)
  const heard = await hear(t, server)
  const { source } = publisher(t, server)
  await until(() => heard.length === 1)
  source.change({ cpu: 11 })
  source.change({ cpu: 12, state: 'up' })
  source.change({ cpu: 13, state: 'up' })
  source.change({ cpu: 14, state: 'drain' })
  source.change({ cpu: 15, state: 'drain', weight: 50 })
  source.change({ cpu: 16, state: 'drain', weight: 50, maxInFlight: 3 })
  source.change({ cpu: 17, state: 'drain', weight: 50, maxInFlight: 3 })
  await until(() => heard.length === 5)
  t.deepEqual(
    heard.map(({ report }) => report.cpu),
    [10, 12, 14, 15, 16],
  )
})

test('waits are shorter by up to the jitter', async (t) => {
  const address = `127.0.0.1:${await freePort()}`
  const { clock, counters } = publisher(t, { address }, { jitter: 0.5 })
  await clock.advance(499)
  t.is(counters.dropped, 0)
  await clock.advance(1_000_000 - 499)
  // On average 750 ms, of 1,333 waits: their sum is within 5 deviations of 144 ms each.
  t.true(counters.dropped > 1_290 && counters.dropped < 1_380, `${counters.dropped}`)
})

test('what can’t be published is dropped and counted, and never comes late', async (t) => {
  const server = await NatsServer.stopped(t)
  const { publisher: made, clock, source, counters } = publisher(t, server)
  source.current = undefined
  await clock.advance(2_000)
  source.change({ cpu: 1, state: 'up' })
  await clock.advance(3_000)
  source.change({ cpu: 2, state: 'drain' })
  source.change({ cpu: 3, state: 'drain' })
  t.deepEqual({ ...counters }, { published: 0, dropped: 3, notReady: 2, refused: 0, reconnects: 0 })
  await server.start()
  const heard = await hear(t, server)
  await until(() => counters.published > 0)
  await clock.advance(1_000)
  await made.close()
  await until(() => heard.at(-1) !== undefined)
  t.true(heard.length <= 2)
  t.true(heard.every(({ report }) => report.cpu === 3 && report.state === 'drain'))
})

test('a server that comes again is published to at once', async (t) => {
  const server = await NatsServer.start(t)
  const { clock, counters } = publisher(t, server)
  await until(() => counters.published === 1)
  await server.kill()
  await until(() => {
    void clock.advance(1_000)
    return counters.dropped > 0
  })
  await server.start()
  await until(() => counters.reconnects === 1)
  const { published } = counters
  t.true(published >= 2)
})

test('what the server refuses is counted and warned of once', async (t) => {
  const warnings: (Error & { code?: string })[] = []
  const listener = (warning: Error) => {
    if (warning.message.includes('Violation')) warnings.push(warning)
  }
  process.on('warning', listener)
  t.teardown(() => process.off('warning', listener))
  const server = await NatsServer.start(
    t,
    'max_payload: 500\n' +
      'authorization { users: [{ user: "me", password: "secret", permissions: { publish: "idlest.report.10%2E0%2E0%2E1%3A80" } }] }',
  )
  const user = { user: 'me', password: 'secret' }
  const allowed = publisher(t, server, user)
  const { clock, source, counters } = publisher(t, server, { ...user, id: '10.0.0.1:81' })
  await until(() => counters.refused === 1)
  await clock.advance(2_000)
  await until(() => counters.refused === 3)
  t.like(counters, { published: 3, dropped: 0 })
  source.current = { named: { ['n'.repeat(600)]: 1 } }
  await clock.advance(1_000)
  t.like(counters, { published: 3, dropped: 1 })
  await until(() => warnings.length > 0)
  t.is(warnings.length, 1)
  t.is(warnings[0]?.code, 'IDLEST_NATS')
  await allowed.publisher.close()
  t.like(allowed.counters, { published: 1, refused: 0 })
  t.regex(warnings[0]?.message ?? '', /Permissions Violation for Publish/)
})

test('closing waits until the server has what was published last', async (t) => {
  const server = await NatsServer.start(t)
  const heard = await hear(t, server)
  const { publisher: made, source } = publisher(t, server)
  await until(() => heard.length === 1)
  source.change({ cpu: 5, state: 'drain' })
  await Promise.all([made.close(), made.close()])
  source.change({ cpu: 6, state: 'up' })
  await until(() => heard.length === 2)
  t.is(heard[1]?.report.state, 'drain')
})

test('an agent publishes its whole report, and its state at once', async (t) => {
  const server = await NatsServer.start(t)
  const heard = await hear(t, server)
  const { agent, clock } = await startAgent(t, {
    http: false,
    named: { batches: 4 },
    nats: { servers: server.address, id: 'web-1', interval: 60_000 },
  })
  await until(() => heard.length === 1)
  t.deepEqual(heard[0], {
    subject: 'idlest.report.web-1',
    report: { cpu: 37.5, age: 0, named: { batches: 4 }, state: 'up' },
  })
  await clock.advance(500)
  agent.drain()
  await until(() => heard.length === 2)
  t.like(heard[1]?.report, { cpu: 37.5, age: 500, state: 'drain' })
  t.like(agent.counters.nats, { published: 2, dropped: 0 })
})

anyTest('an agent does not wait for its NATS server, and is closed without it', async (t) => {
  const { agent } = await startAgent(t, {
    http: false,
    nats: { servers: `127.0.0.1:${await freePort()}`, id: 'web-1' },
  })
  await agent.close()
  t.like(agent.counters.nats, { published: 0 })
})

const WRONG: readonly (readonly [object, RegExp])[] = [
  [{ servers: 's' }, /nats\.id is undefined/],
  [{ id: 'a' }, /nats\.servers is undefined/],
  [
    { id: 'a', servers: [] },
    /nats\.servers is an array of 0: expected a server such as 'nats\.example:4222'/,
  ],
  [
    { id: 'a', servers: 'ws://nats.example' },
    /nats\.servers is "ws:\/\/nats.example": expected a server such as/,
  ],
  [{ id: 'a', servers: 'nats://me:secret@nats.example' }, /nats\.servers is "\(hidden\)": expected a server/],
  [{ id: 'a', servers: ['nats.example', 'b c'] }, /nats\.servers\.1 is "b c"/],
  [{ id: '€'.repeat(1_024), servers: 's' }, /nats\.id is .* expected another: its id takes/],
  [{ id: 'a', servers: 's', subject: 'a.*' }, /nats\.subject is "a\.\*": expected a NATS subject/],
  [{ id: 'a', servers: 's', subjekt: 'a' }, /nats\.subjekt is .* the nearest is "subject"/],
  [{ id: 'a', servers: 's', interval: 0 }, /nats\.interval/],
  [{ id: 'a', servers: 's', jitter: 2 }, /nats\.jitter/],
  [{ id: 'a', servers: 's', token: '' }, /nats\.token is "\(hidden\)": expected a string that is not empty/],
  [{ id: 'a', servers: 's', password: 'x' }, /nats\.user is undefined: expected the user/],
  [
    { id: 'a', servers: 's', token: 'geheim', user: 'me' },
    /nats\.user is "\(hidden\)": expected nothing, since token is given/,
  ],
  [{ id: 'a', servers: 's', tls: { caa: 'x' } }, /nats\.tls\.caa/],
]

anyTest('wrong options are errors at once, which show no secret', async (t) => {
  for (const [nats, message] of WRONG) {
    const error = await t.throwsAsync(createAgent({ http: false, nats: nats as never }), {
      code: 'IDLEST_BAD_OPTION',
      message,
    })
    t.notRegex(error?.message ?? '', /geheim|secret/, JSON.stringify(nats))
  }
  await t.throwsAsync(createAgent({ http: false, unref: true, nats: { id: 'a', servers: 's' } }), {
    code: 'IDLEST_BAD_OPTION',
    message: /unref is true: expected false with nats/,
  })
})
