import type { NatsConnection } from '@nats-io/transport-node'
import { connect } from '@nats-io/transport-node'
import anyTest, { type ExecutionContext } from 'ava'
import { settingsName } from '../../dist/nats/settings.js'
import { subjectOf } from '../../dist/nats/subject.js'
import type { Answer } from '../../dist/poller/answer.js'
import { NatsMembers } from '../../dist/poller/nats-member.js'
import type { Sink } from '../../dist/poller/sink.js'
import type { Place } from '../../dist/poller/store.js'
import { natsTransport, resolveNats } from '../../dist/poller/transports/nats.js'
import type { Report } from '../../dist/report.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { until } from '../agent/support.js'
import { freePort, NatsServer, test } from '../nats/server.js'

interface Push {
  readonly slot: number
  readonly report: Report
  readonly at: number
}

class RecordingSink implements Sink {
  readonly pushed: Push[] = []
  readonly bads: (readonly [id: string, reason: string])[] = []
  readonly unknowns: (readonly [id: string, names: readonly string[]])[] = []
  strangers = 0
  push({ slot }: Place, report: Report, at: number): void {
    this.pushed.push({ slot, report, at })
  }
  bad({ id }: { readonly id: string }, reason: string): void {
    this.bads.push([id, reason])
  }
  unknown({ id }: { readonly id: string }, names: readonly string[]): void {
    if (names.length > 0) this.unknowns.push([id, names])
  }
  stranger(): void {
    this.strangers++
  }
}

/** Members in virtual time that are heard over a real server, and a connection to publish by. */
async function members(t: ExecutionContext, address: string, options: object = {}) {
  const clock = new VirtualClock(1_000)
  const sink = new RecordingSink()
  const made = new NatsMembers({ clock, sink, onFault: () => {} })
  t.teardown(() => made.close())
  const { settings } = natsTransport({ servers: address, ...options })
  let slot = 0
  const make = (id: string) => made.make(resolveNats(id, settings), { slot: slot++, generation: 1 })
  return { clock, sink, make, members: made }
}

async function client(t: ExecutionContext, { address }: NatsServer): Promise<NatsConnection> {
  const connection = await connect({ servers: address })
  t.teardown(() => connection.close())
  return connection
}

/** Waits until what is published is heard, and starts the count of strangers anew. */
async function listening(
  sink: RecordingSink,
  nats: NatsConnection,
  subject = 'idlest.report',
): Promise<void> {
  await until(() => {
    nats.publish(`${subject}.nobody`)
    return sink.strangers > 0
  })
  await nats.flush()
  // What was published meanwhile comes in order: with the mark, all of it has come.
  nats.publish(`${subject}.%mark`)
  const before = sink.strangers
  await until(() => sink.strangers > before)
  sink.strangers = 0
}

const REPORT = '{"cpu_utilization":0.25,"age_ms":40}'
const at = (id: string) => subjectOf('idlest.report', id)

test('what a node publishes is pushed, by its id, and asking it finds that it was heard', async (t) => {
  const server = await NatsServer.start(t)
  const { make, sink, clock } = await members(t, server.address)
  const [a, b] = [make('10.0.0.1:80'), make('* > .')]
  const nats = await client(t, server)
  await listening(sink, nats)
  // Nothing is known yet: they wait for the first report.
  const asked = [a.ask(), b.ask()]
  nats.publish(at('10.0.0.1:80'), REPORT)
  nats.publish('idlest.report.10%2e0%2e0%2e1%3a80', '{"cpu_utilization":0.5}')
  nats.publish(at('* > .'), REPORT)
  t.deepEqual(await Promise.all(asked), [{ kind: 'heard' }, { kind: 'heard' }])
  await until(() => sink.pushed.length === 3)
  t.deepEqual(sink.pushed, [
    { slot: a.slot, report: { cpu: 25, age: 40 }, at: 1_000 },
    { slot: a.slot, report: { cpu: 50 }, at: 1_000 },
    { slot: b.slot, report: { cpu: 25, age: 40 }, at: 1_000 },
  ])
  await clock.advance(15_000)
  t.deepEqual(await a.ask(), { kind: 'heard' })
  await clock.advance(1)
  t.deepEqual(await a.ask(), { kind: 'exit', reason: 'nothing heard for 15001 ms' })
})

test('a node that was never heard fails after the silence, and until then is waited for', async (t) => {
  const server = await NatsServer.start(t)
  const { make, clock, sink } = await members(t, server.address, { silence: 2_000 })
  make('first')
  await listening(sink, await client(t, server))
  const silent = make('silent')
  const answers: Answer[] = []
  silent.ask().then((answer) => answers.push(answer))
  await clock.advance(2_000)
  t.deepEqual(answers, [])
  silent.cancel('no answer within 2000 ms')
  await clock.advance(1)
  t.deepEqual(answers, [{ kind: 'exit', reason: 'no answer within 2000 ms' }])
  t.deepEqual(await silent.ask(), { kind: 'exit', reason: 'nothing heard for 2001 ms' })
})

test('without a connection nodes fail with the reason, and once it comes silence counts anew', async (t) => {
  const server = await NatsServer.stopped(t)
  const { make, clock, sink } = await members(t, server.address)
  const a = make('a')
  t.deepEqual(await a.ask(), { kind: 'exit', reason: 'not connected to NATS: connection refused' })
  await clock.advance(60_000)
  await server.start()
  const nats = await client(t, server)
  await listening(sink, nats)
  await clock.advance(15_000)
  const asked = a.ask()
  nats.publish(at('a'), REPORT)
  t.deepEqual(await asked, { kind: 'heard' })
})

test('waits end when the connection is lost', async (t) => {
  const server = await NatsServer.start(t)
  const { make, sink } = await members(t, server.address)
  const a = make('a')
  await listening(sink, await client(t, server))
  const asked = a.ask()
  await server.kill()
  t.regex(JSON.stringify(await asked), /"exit","reason":"not connected to NATS: /)
})

test('messages for who is no member are counted and not read', async (t) => {
  const server = await NatsServer.start(t)
  const { make, sink } = await members(t, server.address)
  const [a, b] = [make('a'), make('b')]
  const nats = await client(t, server)
  await listening(sink, nats)
  b.close()
  for (const subject of [at('c'), 'idlest.report.50%', at('b')]) nats.publish(subject, 'no report')
  nats.publish('idlest.report', REPORT)
  nats.publish('idlest.report.a.b', REPORT)
  nats.publish('other.a', REPORT)
  nats.publish(at('a'), '{"cpu_utilization":0.75}')
  await until(() => sink.pushed.length === 1)
  t.is(sink.strangers, 3)
  t.is(sink.pushed[0]?.slot, a.slot)
  t.deepEqual(sink.bads, [])
})

const BAD: readonly (readonly [message: string | Uint8Array, reason: RegExp])[] = [
  ['', /the report is ""/],
  ['garbage', /the report is "garbage": expected JSON/],
  [Uint8Array.of(0, 255, 128, 7), /expected JSON/],
  ['{"cpu_utilization":', /expected JSON/],
  ['[0.5]', /expected a JSON object/],
  ['null', /expected a JSON object/],
  ['{"cpu_utilization":NaN}', /expected JSON/],
  ['{"cpu_utilization":null}', /cpu_utilization is null/],
  ['{"cpu_utilization":-0.1}', /cpu_utilization is -0\.1/],
  ['{"cpu_utilization":1e300}', /cpu_utilization is 1e\+300/],
  ['{"cpu_utilization":"0.5"}', /cpu_utilization is "0\.5"/],
  ['{"cpu_utilization":0.5,"age_ms":-1}', /age_ms is -1/],
  [`{"a":"${'x'.repeat(70_000)}"}`, /a message of 700\d\d bytes: at most 65536 are read/],
  [new Uint8Array(1_000_000), /a message of 1000000 bytes/],
]

test('what is no report is counted for its node alone', async (t) => {
  const server = await NatsServer.start(t)
  const { make, sink, clock } = await members(t, server.address)
  const [good, evil] = [make('good'), make('evil')]
  const nats = await client(t, server)
  await listening(sink, nats)
  const asked = [good.ask(), evil.ask()]
  for (const [message] of BAD) {
    nats.publish(at('evil'), message)
    nats.publish(at('good'), REPORT)
  }
  const [first, second] = await Promise.all(asked)
  t.deepEqual(first, { kind: 'heard' })
  t.like(second, { kind: 'error' })
  await until(() => sink.pushed.length === BAD.length)
  t.is(sink.bads.length, BAD.length)
  for (const [index, [, reason]] of BAD.entries()) {
    const [id, said] = sink.bads[index] ?? []
    t.is(id, 'evil')
    t.regex(said ?? '', reason)
    t.true((said ?? '').length < 250)
  }
  t.like(await evil.ask(), { kind: 'error', reason: 'a message of 1000000 bytes: at most 65536 are read' })
  await clock.advance(15_001)
  t.regex(JSON.stringify(await evil.ask()), /"exit","reason":"nothing heard for \d+ ms"/)
  nats.publish(at('evil'), '{}')
  await until(() => sink.pushed.length === BAD.length + 1)
  t.deepEqual(await evil.ask(), { kind: 'heard' })
})

test('a message larger than the server takes ends its sender’s connection, and no one else’s', async (t) => {
  const server = await NatsServer.start(t)
  const { make, sink } = await members(t, server.address)
  const a = make('a')
  const [evil, nats] = [await client(t, server), await client(t, server)]
  await listening(sink, nats)
  const asked = a.ask()
  t.throws(() => evil.publish(at('a'), new Uint8Array(10_000_000)), { message: /max_payload/ })
  nats.publish(at('a'), REPORT)
  t.deepEqual(await asked, { kind: 'heard' })
  t.deepEqual(sink.bads, [])
})

test('pollers with equal options share a connection, until the last is closed', async (t) => {
  const monitor = await freePort()
  const server = await NatsServer.start(t, `http: "127.0.0.1:${monitor}"`)
  const connections = async () => {
    const response = await fetch(`http://127.0.0.1:${monitor}/connz`)
    const { connections } = (await response.json()) as { connections: { name?: string }[] }
    return connections.filter(({ name }) => name === 'idlest-balancer').length
  }
  const tls = () => ({ tls: { ca: Buffer.from('x') } })
  const pollers = await Promise.all(
    [{}, {}, { silence: 7 }, { subject: 'apart' }].map((options) => members(t, server.address, options)),
  )
  const nats = await client(t, server)
  for (const [index, { make, sink }] of pollers.entries()) {
    make('a')
    make('b')
    await listening(sink, nats, index === 3 ? 'apart' : 'idlest.report')
  }
  t.is(await connections(), 2)
  pollers[0]?.members.close()
  pollers[3]?.members.close()
  while ((await connections()) !== 1) await new Promise((resolve) => setTimeout(resolve, 10))
  pollers[1]?.members.close()
  pollers[2]?.members.close()
  while ((await connections()) !== 0) await new Promise((resolve) => setTimeout(resolve, 10))
  t.not(
    settingsName(natsTransport({ servers: 's', ...tls() }).settings),
    settingsName(natsTransport({ servers: 's' }).settings),
  )
  t.is(
    settingsName(natsTransport({ servers: 's', ...tls() }).settings),
    settingsName(natsTransport({ servers: ['nats://s'], ...tls() }).settings),
  )
})

anyTest('a node that no subject has room for can’t be heard', (t) => {
  const { settings } = natsTransport({ servers: '127.0.0.1:4222' })
  t.throws(() => resolveNats('€'.repeat(1_000), settings), {
    message: /its id takes \d+ bytes in a NATS subject/,
  })
  t.throws(() => resolveNats('\ud800', settings), { message: /half a surrogate pair/ })
})

anyTest('closing ends waits', async (t) => {
  const { make, members: made } = await members(t, `127.0.0.1:${await freePort()}`)
  const a = make('a')
  const asked = a.ask()
  a.close()
  made.close()
  t.like(await asked, { kind: 'exit', reason: 'closed' })
})

for (const [option, what] of [
  ['token', 'token'],
  ['password', 'password'],
  ['credentials', 'credentials file'],
] as const) {
  test(`an empty ${option} of natsTransport is most likely a variable that is not set`, (t) => {
    const error = t.throws(() => natsTransport({ servers: 's', user: 'u', [option]: '' }))
    t.true(error?.message.endsWith(`the ${what} is empty: is the environment variable set?`), error?.message)
  })
}

test('unknown fields of what a node publishes are passed on, and the others are pushed', async (t) => {
  const server = await NatsServer.start(t)
  const { make, sink } = await members(t, server.address)
  make('a')
  const nats = await client(t, server)
  await listening(sink, nats)
  nats.publish(at('a'), '{"cpu_utilization":0.25,"mem_utilisation":0.5}')
  await until(() => sink.pushed.length === 1)
  t.deepEqual(sink.pushed[0]?.report, { cpu: 25 })
  t.deepEqual(sink.unknowns, [['a', ['mem_utilisation']]])
})
