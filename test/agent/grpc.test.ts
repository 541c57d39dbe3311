import { connect } from 'node:net'
import * as grpc from '@grpc/grpc-js'
import test, { type ExecutionContext } from 'ava'
import { type AgentOptions, createAgent } from '../../dist/agent/index.js'
import { ListenError, OptionError } from '../../dist/errors.js'
import type { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { callOrca, clientOf } from '../support/grpc.js'
import { pem, rawConnection, startAgent, until } from './support.js'

/** An agent that tells by gRPC, in virtual time. */
async function startGrpc(t: ExecutionContext, grpc: AgentOptions['grpc'] = {}, options: AgentOptions = {}) {
  const { agent, clock } = await startAgent(t, { http: false, grpc, ...options })
  const { grpc: counters, sampling } = agent.counters
  if (agent.grpc === undefined || counters === undefined) throw new Error('there is no gRPC server')
  return { agent, clock, port: agent.grpc.port, counters, sampling }
}

/** Goes on in steps, so that what was sent is in before more is. */
async function walk(clock: VirtualClock, ms: number, step: number): Promise<void> {
  for (let gone = 0; gone < ms; gone += step) {
    await clock.advance(step)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

for (const { asked, told } of [
  { asked: 5_000, told: 5_000 },
  { asked: 1_000, told: 1_000 },
  { asked: 10, told: 1_000 },
  { asked: 0, told: 1_000 },
]) {
  test(`a client that asks for ${asked} ms gets the whole report at once, and each ${told} ms though nothing changed`, async (t) => {
    const { clock, port, counters } = await startGrpc(t)
    const { reports } = callOrca(t, port, { interval: asked })
    await until(() => reports.length === 1)
    t.deepEqual(reports, [{ cpu: 37.5, state: 'up', age: 0 }])
    await clock.advance(told - 1)
    t.is(counters.sent, 1)
    await clock.advance(1)
    t.is(counters.sent, 2)
    await walk(clock, told * 5, told)
    await until(() => reports.length === 7)
    t.deepEqual(counters.skipped, 0)
    t.true(reports.every(({ cpu, state }) => cpu === 37.5 && state === 'up'))
  })
}

test('an interval longer than timers go is waited for all the same', async (t) => {
  const { clock, port, counters } = await startGrpc(t)
  const { reports } = callOrca(t, port, { interval: 1e12 })
  await until(() => reports.length === 1)
  await clock.advance(60_000)
  t.is(counters.sent, 1)
})

test('the least interval is an option, and each client has its own', async (t) => {
  const { clock, port } = await startGrpc(t, { minInterval: 100 })
  const often = callOrca(t, port, { interval: 50 })
  const seldom = callOrca(t, port, { interval: 400 })
  await until(() => often.reports.length === 1 && seldom.reports.length === 1)
  await walk(clock, 800, 100)
  await until(() => often.reports.length >= 9 && seldom.reports.length >= 3)
  t.deepEqual([often.reports.length, seldom.reports.length], [9, 3])
})

test('a change of state is told at once, and the interval starts anew; other changes wait for it', async (t) => {
  const { agent, clock, port, counters } = await startGrpc(t)
  const { reports } = callOrca(t, port, { interval: 5_000 })
  await until(() => reports.length === 1)
  await clock.advance(2_000)
  agent.setWeight(50)
  t.is(counters.sent, 1)
  agent.drain()
  await until(() => reports.length === 2)
  t.is(reports[1]?.state, 'drain')
  t.is(reports[1]?.weight, 50)
  await clock.advance(4_999)
  t.is(counters.sent, 2)
  await clock.advance(1)
  t.is(counters.sent, 3)
  agent.ready()
  await until(() => reports.length === 4)
  t.is(reports[3]?.state, 'up')
})

test('a stream that begins before the first sample waits for it', async (t) => {
  let taken = 0
  const { clock, port, counters, sampling } = await startGrpc(
    t,
    {},
    { sampler: () => (taken++ < 3 ? undefined : 50) },
  )
  const { reports } = callOrca(t, port)
  await until(() => counters.streams === 1)
  await clock.advance(2_000)
  t.is(sampling.none, 3)
  t.is(counters.sent, 0)
  await clock.advance(1_000)
  await until(() => reports.length === 1)
  t.is(reports[0]?.cpu, 50)
  t.is(counters.notReady, 0)
})

test('without any sample for 10 s a stream ends, saying so, and is counted', async (t) => {
  const { clock, port, counters } = await startGrpc(t, {}, { sampler: () => undefined })
  const { reports, ended } = callOrca(t, port)
  await until(() => counters.streams === 1)
  await clock.advance(9_999)
  t.is(counters.ended, 0)
  await clock.advance(1)
  const { code, details } = await ended
  t.is(code, grpc.status.UNAVAILABLE)
  t.is(details, 'no sample yet')
  t.deepEqual(reports, [])
  t.deepEqual([counters.notReady, counters.ended], [1, 1])
})

test('a state is told before any sample', async (t) => {
  const { agent, port } = await startGrpc(t, {}, { sampler: () => undefined })
  const { reports } = callOrca(t, port)
  agent.maint()
  await until(() => reports.length === 1)
  t.deepEqual(reports, [{ state: 'maint', age: 0 }])
})

const REFUSED: [name: string, authorization: string | undefined][] = [
  ['no token', undefined],
  ['a wrong token', 'Bearer right-'],
  ['a part of it', 'Bearer righ'],
  ['an empty one', 'Bearer '],
  ['another scheme', 'Basic right'],
  ['the token alone', 'right'],
]

for (const [name, authorization] of REFUSED) {
  test(`${name} gets no report, and is counted`, async (t) => {
    const { port, counters } = await startGrpc(t, {}, { token: 'right' })
    const { reports, ended } = callOrca(t, port, { authorization })
    t.is((await ended).code, grpc.status.UNAUTHENTICATED)
    t.deepEqual(reports, [])
    t.deepEqual([counters.unauthorized, counters.streams, counters.sent], [1, 0, 0])
  })
}

test("the agent's token opens it, unless it has one of its own", async (t) => {
  const common = await startGrpc(t, {}, { token: 'right' })
  const one = callOrca(t, common.port, { authorization: 'Bearer right' })
  await until(() => one.reports.length === 1)
  const own = await startGrpc(t, { token: 'other' }, { token: 'right' })
  t.is(
    (await callOrca(t, own.port, { authorization: 'Bearer right' }).ended).code,
    grpc.status.UNAUTHENTICATED,
  )
  const other = callOrca(t, own.port, { authorization: 'bearer other' })
  await until(() => other.reports.length === 1)
})

test('one stream too many is refused and counted, and has room when another ends', async (t) => {
  const { port, counters } = await startGrpc(t, { maxStreams: 2 })
  const first = callOrca(t, port)
  const second = callOrca(t, port)
  await until(() => first.reports.length === 1 && second.reports.length === 1)
  t.is((await callOrca(t, port).ended).code, grpc.status.RESOURCE_EXHAUSTED)
  t.is(counters.refused, 1)
  first.call.cancel()
  await until(() => counters.ended === 1)
  const third = callOrca(t, port)
  await until(() => third.reports.length === 1)
  t.is(counters.streams, 3)
})

test('requests that are no requests are refused and counted; others are answered meanwhile', async (t) => {
  const { port, counters } = await startGrpc(t)
  const good = callOrca(t, port)
  const bad = callOrca(t, port, { request: Buffer.from('0a05', 'hex') })
  const long = callOrca(t, port, { request: Buffer.alloc(70_000) })
  t.is((await bad.ended).code, grpc.status.INVALID_ARGUMENT)
  t.is((await long.ended).code, grpc.status.RESOURCE_EXHAUSTED)
  await until(() => good.reports.length === 1)
  t.deepEqual([counters.badRequests, counters.streams], [1, 1])
})

test('a client that does not read is sent no more than the connection takes; it hears of now when it reads again', async (t) => {
  // Some 14 KB a report.
  const named = Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`${i}`.padEnd(128, 'x'), i]))
  const { agent, clock, port, counters } = await startGrpc(t, {}, { named })
  const slow = callOrca(t, port)
  await until(() => slow.reports.length === 1)
  slow.call.pause()
  await walk(clock, 100_000, 1_000)
  t.is(counters.sent + counters.skipped, 101)
  t.true(counters.sent < 30, `${counters.sent} reports went out`)
  // Another does not notice.
  const other = callOrca(t, port)
  await until(() => other.reports.length === 1)

  agent.set('marker', 1)
  const before = counters.sent
  slow.call.resume()
  await until(() => slow.reports.length === before - 1)
  await walk(clock, 2_000, 1_000)
  await until(() => slow.reports.at(-1)?.named?.marker === 1)
  t.true((slow.reports.at(-1)?.age ?? 1e9) <= 1_000)
})

test('streams end when the client goes, in whatever way, and nothing is sent after', async (t) => {
  const { clock, port, counters } = await startGrpc(t)
  const cancelled = callOrca(t, port)
  const closed = callOrca(t, port)
  await until(() => cancelled.reports.length === 1 && closed.reports.length === 1)
  cancelled.call.cancel()
  closed.client.close()
  closed.call.cancel()
  await until(() => counters.ended === 2)
  await clock.advance(10_000)
  t.is(counters.sent, 2)
})

test('other methods are not implemented', async (t) => {
  const { port } = await startGrpc(t)
  const call = clientOf(t, port).makeUnaryRequest(
    '/a.B/C',
    (b: Buffer) => b,
    (b: Buffer) => b,
    Buffer.alloc(0),
    () => {},
  )
  const status = await new Promise<grpc.StatusObject>((resolve) => call.on('status', resolve))
  t.is(status.code, grpc.status.UNIMPLEMENTED)
})

test('connections that say nothing, or no HTTP/2, hold up neither others nor its end', async (t) => {
  const { agent, port } = await startGrpc(t)
  const silent = await rawConnection(t, port)
  const garbage = await rawConnection(t, port, 'GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  const { reports } = callOrca(t, port)
  await until(() => reports.length === 1)
  garbage.resume()
  await until(() => garbage.destroyed)
  silent.resume()
  t.false(silent.destroyed)
  await agent.close()
  await until(() => silent.destroyed)
})

test('a connection too many is closed at once and counted, and one address does not get them all', async (t) => {
  const { port, counters } = await startGrpc(t, { maxConnections: 4 })
  const { reports } = callOrca(t, port)
  await until(() => reports.length === 1)
  await rawConnection(t, port)
  await rawConnection(t, port)
  const more = connect(port, '127.0.0.1')
  more.on('error', () => {})
  await new Promise((resolve) => more.once('close', resolve))
  t.is(counters.dropped, 1)
})

const tls = { key: pem('server-key'), cert: pem('server') }
const ca = pem('ca')

function secure(root = ca, key?: string, cert?: string): grpc.ChannelCredentials {
  return grpc.credentials.createSsl(
    Buffer.from(root),
    key === undefined ? null : Buffer.from(key),
    cert === undefined ? null : Buffer.from(cert),
  )
}

test("with the agent's certificate it serves by TLS alone", async (t) => {
  const { port, counters } = await startGrpc(t, {}, { tls })
  const { reports } = callOrca(t, port, { client: clientOf(t, port, secure()) })
  await until(() => reports.length === 1)
  t.is((await callOrca(t, port).ended).code, grpc.status.UNAVAILABLE)
  await until(() => counters.badConnections === 1)
  t.is(counters.streams, 1)
})

test('with requestCert, clients without a good certificate get nothing', async (t) => {
  const { port, counters } = await startGrpc(t, { tls: { ...tls, ca, requestCert: true } })
  const stranger = clientOf(t, port, secure(ca, pem('stranger-key'), pem('stranger')))
  for (const client of [clientOf(t, port, secure()), stranger]) {
    t.is((await callOrca(t, port, { client }).ended).code, grpc.status.UNAVAILABLE)
  }
  t.is(counters.streams, 0)
  const good = clientOf(t, port, secure(ca, pem('client-key'), pem('client')))
  const { reports } = callOrca(t, port, { client: good })
  await until(() => reports.length === 1)
})

test('a key and a certificate of no use are an OptionError, and what was started is closed again', async (t) => {
  const wrong = createAgent({ grpc: { tls: { key: 'a', cert: 'b' } } })
  const error = await t.throwsAsync(wrong, { instanceOf: OptionError })
  t.is(error?.option, 'grpc.tls')
  t.false(error?.message.includes('"a"'))
})

test('a port in use is a ListenError', async (t) => {
  const { port } = await startGrpc(t)
  const error = await t.throwsAsync(createAgent({ http: false, grpc: { port } }), { instanceOf: ListenError })
  t.is(error?.port, port)
})

for (const [option, given] of [
  ['grpc.port', { port: -1 }],
  ['grpc.host', { host: '' }],
  ['grpc.minInterval', { minInterval: 0 }],
  ['grpc.minInterval', { minInterval: Number.NaN }],
  ['grpc.maxStreams', { maxStreams: 0 }],
  ['grpc.maxConnections', { maxConnections: 1.5 }],
  ['grpc.token', { token: '' }],
  ['grpc.ports', { ports: 1 }],
] as [string, AgentOptions['grpc']][]) {
  test(`a bad ${option} is refused: ${JSON.stringify(given)}`, async (t) => {
    const error = await t.throwsAsync(createAgent({ grpc: given }), { instanceOf: OptionError })
    t.is(error?.option, option)
  })
}

test('closing the agent ends streams and connections, and may be done again', async (t) => {
  const { agent, clock, port, counters } = await startGrpc(t)
  const { reports, ended } = callOrca(t, port)
  await until(() => reports.length === 1)
  await Promise.all([agent.close(), agent.close()])
  t.not((await ended).code, grpc.status.OK)
  t.is(counters.ended, 1)
  t.is(clock.pending, 0)
  const { code } = await callOrca(t, port).ended
  t.is(code, grpc.status.UNAVAILABLE)
})
