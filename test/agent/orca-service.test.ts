import * as grpc from '@grpc/grpc-js'
import test, { type ExecutionContext } from 'ava'
import { type OrcaServiceOptions, orcaService } from '../../dist/agent/index.js'
import { OptionError } from '../../dist/errors.js'
import { callOrca, listenGrpc, serviceOf } from '../support/grpc.js'
import { startAgent, until } from './support.js'

/** A server of the user's own with the service of an agent in virtual time. */
async function startService(t: ExecutionContext, options?: OrcaServiceOptions) {
  const { agent, clock } = await startAgent(t, { http: false })
  const service = orcaService(agent, options)
  const server = new grpc.Server()
  server.addService(service.definition, service.implementation)
  return { agent, clock, service, server, port: await listenGrpc(t, server) }
}

test('a server of the user’s own tells the agent’s reports beside its other services', async (t) => {
  const { server, port, clock, service } = await startService(t)
  server.addService(serviceOf('/a.B/C'), {
    method: (_: unknown, done: (error: null, b: Buffer) => void) => done(null, Buffer.of(1)),
  })
  const { client, reports } = callOrca(t, port, { interval: 2_000 })
  await until(() => reports.length === 1)
  t.is(reports[0]?.cpu, 37.5)
  await clock.advance(2_000)
  await until(() => reports.length === 2)
  t.is(service.counters.sent, 2)
  const asIs = (bytes: Buffer) => bytes
  const answer = await new Promise<Buffer | undefined>((resolve) =>
    client.makeUnaryRequest('/a.B/C', asIs, asIs, Buffer.alloc(0), (_, bytes) => resolve(bytes)),
  )
  t.deepEqual(answer, Buffer.of(1))
})

test('its options are its own: a token, a least interval, a number of streams', async (t) => {
  const { port, clock, service } = await startService(t, { token: 'right', minInterval: 300, maxStreams: 1 })
  t.is((await callOrca(t, port).ended).code, grpc.status.UNAUTHENTICATED)
  const authorization = 'Bearer right'
  const { reports } = callOrca(t, port, { interval: 100, authorization })
  await until(() => reports.length === 1)
  t.is((await callOrca(t, port, { authorization }).ended).code, grpc.status.RESOURCE_EXHAUSTED)
  await clock.advance(299)
  t.is(service.counters.sent, 1)
  await clock.advance(1)
  t.is(service.counters.sent, 2)
})

test('closing it ends its streams, so that the server can end too, and refuses new ones', async (t) => {
  const { port, service, server } = await startService(t)
  const { client, reports, ended } = callOrca(t, port)
  await until(() => reports.length === 1)
  await service.close()
  await service.close()
  const { code, details } = await ended
  t.deepEqual([code, details], [grpc.status.UNAVAILABLE, 'the agent is closed'])
  t.is((await callOrca(t, port, { client }).ended).details, 'the agent is closed')
  t.deepEqual([service.counters.streams, service.counters.ended], [1, 1])
  const error = await new Promise((resolve) => server.tryShutdown(resolve))
  t.falsy(error)
})

test('it ends with its agent', async (t) => {
  const { agent, clock, port } = await startService(t)
  const { reports, ended } = callOrca(t, port)
  await until(() => reports.length === 1)
  await agent.close()
  t.is((await ended).code, grpc.status.UNAVAILABLE)
  t.is(clock.pending, 0)
})

for (const [option, given] of [
  ['minInterval', { minInterval: 0 }],
  ['maxStreams', { maxStreams: 0.5 }],
  ['token', { token: 'two words' }],
  ['port', { port: 1 }],
] as [string, OrcaServiceOptions][]) {
  test(`a bad ${option} is refused`, async (t) => {
    const { agent } = await startAgent(t, { http: false })
    const error = t.throws(() => orcaService(agent, given), { instanceOf: OptionError })
    t.is(error?.option, `orcaService.${option}`)
    t.false(error?.message.includes('two words'))
  })
}

test('what is no agent is refused', (t) => {
  const error = t.throws(() => orcaService({} as never), { instanceOf: OptionError })
  t.is(error?.option, 'agent')
})
