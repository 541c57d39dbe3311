import * as grpc from '@grpc/grpc-js'
import test, { type ExecutionContext } from 'ava'
import { reportTrailer } from '../../../dist/agent/report-header.js'
import type { Report } from '../../../dist/index.js'
import { readOrcaRequest } from '../../../dist/reports/orca-request.js'
import { STREAM_CORE_METRICS, serviceOf } from '../../support/grpc.js'
import { connect, connected, serve, type TestChannel, until } from './fleet.js'

// One after the other: what is registered is registered for all.

const OUT_OF_BAND = { blackoutPeriod: '0s', enableOobLoadReport: true }

type Call = grpc.ServerWritableStream<Buffer, Buffer>

/** A server that tells reports out of band as the test says; those in trailers are others. */
async function telling(t: ExecutionContext, report: Report, port = 0) {
  const calls: Call[] = []
  const add = (server: grpc.Server) => {
    server.addService(serviceOf(STREAM_CORE_METRICS, { responseStream: true }), {
      method: (call: Call) => {
        calls.push(call)
        call.write(reportTrailer(report))
      },
    })
  }
  const server = await serve(t, { qps: 100, application: 1 }, { port, add })
  const open = () => calls.filter(({ cancelled, writableEnded }) => !cancelled && !writableEnded).length
  return { server, calls, open }
}

const qpsOf = ({ balancer }: TestChannel, id: string) =>
  balancer()
    .snapshot()
    .find((member) => member.id === id)?.report.qps

test.serial(
  'reports come out of band where the config says so, as often as it says, and those of calls are left',
  async (t) => {
    const fleet = [
      await telling(t, { qps: 100, application: 90 }),
      await telling(t, { qps: 100, application: 30 }),
    ] as const
    const servers = fleet.map(({ server }) => server)
    const config = { ...OUT_OF_BAND, oobLoadReportingPeriod: '2.5s' }
    const channel = connect(t, 'idlest_weighted_round_robin', config, servers)
    await connected(channel, 2)
    await until(() => channel.balancer().stats().inBand.stored === 2)
    channel.clock.jump(1_000)
    t.deepEqual(await channel.count(servers, 40), [10, 30])
    t.is(channel.balancer().stats().inBand.stored, 2)
    t.is(channel.balancer().stats().inBand.absent, 0)
    for (const { calls } of fleet)
      t.deepEqual(
        calls.map(({ request }) => readOrcaRequest(request).interval),
        [2_500],
      )
  },
)

test.serial('10 s apart unless the config has another period, by either policy', async (t) => {
  for (const policy of ['idlest_weighted_round_robin', 'idlest_adaptive'] as const) {
    const { server, calls } = await telling(t, { qps: 1, cpu: 50 })
    const channel = connect(t, policy, { enableOobLoadReport: true }, [server])
    await connected(channel, 1)
    await until(() => qpsOf(channel, server.id) === 1)
    t.deepEqual(
      calls.map(({ request }) => readOrcaRequest(request).interval),
      [10_000],
    )
  }
})

test.serial('a stream that ends is asked for again, and ends with the channel', async (t) => {
  const { server, calls, open } = await telling(t, { qps: 1, cpu: 50 })
  const channel = connect(t, 'idlest_weighted_round_robin', OUT_OF_BAND, [server])
  await connected(channel, 1)
  await until(() => calls.length === 1)
  calls[0]?.end()
  await until(() => calls.length === 2)
  await until(() => open() === 1)
  channel.client.close()
  await until(() => open() === 0)
  t.is(calls.length, 2)
})

test.serial('each connection has a stream of its own', async (t) => {
  const first = await telling(t, { qps: 1, cpu: 50 })
  const channel = connect(t, 'idlest_weighted_round_robin', OUT_OF_BAND, [first.server])
  await connected(channel, 1)
  await until(() => qpsOf(channel, first.server.id) === 1)
  first.server.kill()
  await until(() => channel.balancer().nodes.length === 0)
  const second = await telling(t, { qps: 2, cpu: 50 }, first.server.port)
  await connected(channel, 1)
  await until(() => qpsOf(channel, first.server.id) === 2)
  t.is(second.calls.length, 1)
})

test.serial('a server that knows of no such reports is not asked again, and that is logged', async (t) => {
  const lines: string[] = []
  grpc.setLogger({ error: (line: string) => lines.push(line) })
  t.teardown(() => grpc.setLogger(console))
  const silent = await serve(t)
  const { server } = await telling(t, { qps: 1, cpu: 50 })
  const channel = connect(t, 'idlest_weighted_round_robin', OUT_OF_BAND, [silent, server])
  await connected(channel, 2)
  await until(() => lines.length > 0)
  t.deepEqual(
    lines.map((line) => line.replace(/^.*\| /, '')),
    [`idlest: ${silent.id} tells no reports out of band (UNIMPLEMENTED)`],
  )
  t.deepEqual(await channel.count([silent, server], 10), [5, 5])
})
