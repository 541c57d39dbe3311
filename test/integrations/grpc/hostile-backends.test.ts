import * as grpc from '@grpc/grpc-js'
import test from 'ava'
import { reportTrailer } from '../../../dist/agent/report-header.js'
import { authorityOf } from '../../../dist/integrations/grpc/report-stream.js'
import { writeOrcaBinary } from '../../../dist/reports/orca-binary.js'
import { STREAM_CORE_METRICS, serviceOf } from '../../support/grpc.js'
import { type HostileNode, messageFlood, WRONG_ANSWERS } from '../../support/hostile-grpc.js'
import { connect, connected, serve, type TestChannel, until } from './fleet.js'

// One after the other: what is registered is registered for all. An exception or rejection that nobody catches fails the run.

const CONFIG = { blackoutPeriod: '0s', enableOobLoadReport: true, oobLoadReportingPeriod: '0.1s' }

const qpsOf = ({ balancer }: TestChannel, id: string) =>
  balancer()
    .snapshot()
    .find((member) => member.id === id)?.report.qps

function quiet(t: { teardown(run: () => void): void }): string[] {
  const lines: string[] = []
  grpc.setLogger({ error: (line: string) => lines.push(line.replace(/^.*\| /, '')) })
  t.teardown(() => grpc.setLogger(console))
  return lines
}

/** A server that tells reports out of band, each 20 ms another. */
async function telling(t: Parameters<typeof serve>[0]) {
  let told = 0
  return serve(t, undefined, {
    add(server) {
      server.addService(serviceOf(STREAM_CORE_METRICS, { responseStream: true }), {
        method(call: grpc.ServerWritableStream<Buffer, Buffer>) {
          const timer = setInterval(() => call.write(reportTrailer({ qps: ++told, cpu: 50 })), 20)
          call.on('cancelled', () => clearInterval(timer))
          t.teardown(() => clearInterval(timer))
        },
      })
    },
  })
}

async function beside(t: Parameters<typeof serve>[0], hostile: HostileNode) {
  t.teardown(() => hostile.close())
  const good = await telling(t)
  const id = `127.0.0.1:${hostile.port}`
  const channel = connect(t, 'idlest_weighted_round_robin', CONFIG, `ipv4:${good.id},${id}`)
  await connected(channel, 2)
  return { channel, good, id }
}

for (const kind of WRONG_ANSWERS) {
  test.serial(`a backend that ${kind.name} has no report; another's still come`, async (t) => {
    quiet(t)
    const hostile = await kind.start()
    const { channel, good, id } = await beside(t, hostile)
    await until(() => hostile.calls() >= 2 || channel.balancer().stats().inBand.bad > 0)
    const before = qpsOf(channel, good.id) ?? 0
    await until(() => (qpsOf(channel, good.id) ?? 0) > before)
    t.is(qpsOf(channel, id), undefined)
  })
}

test.serial(
  'of a flood of reports few are looked at; the stream is ended, and that is logged once',
  async (t) => {
    const lines = quiet(t)
    const hostile = await messageFlood(Buffer.from(writeOrcaBinary({ qps: 7, cpu: 50 }))).start()
    const { channel, good, id } = await beside(t, hostile)
    await until(() => lines.length > 0 && hostile.calls() >= 3)
    t.deepEqual(lines, [
      `idlest: ${id} its reports out of band can't be read: it sends more than one report each period`,
    ])
    const before = qpsOf(channel, good.id) ?? 0
    await until(() => (qpsOf(channel, good.id) ?? 0) > before)
  },
)

test.serial('of a flood of reports the last is passed on, no more often than picks see them', async (t) => {
  quiet(t)
  const hostile = await messageFlood(Buffer.from(writeOrcaBinary({ qps: 7, cpu: 50 }))).start()
  t.teardown(() => hostile.close())
  const channel = connect(t, 'idlest_adaptive', CONFIG, `ipv4:127.0.0.1:${hostile.port}`, {
    balancer: { coalesce: 50 },
  })
  await connected(channel, 1)
  await until(() => hostile.calls() >= 2)
  const { stored, older } = channel.balancer().stats().inBand
  // Two streams of up to a hundred messages each.
  t.true(stored + older >= 1 && stored + older <= 20, `${stored + older}`)
})

for (const [target, authority] of [
  ['dns:greeter.local:50051', 'greeter.local:50051'],
  ['dns://1.2.3.4:53/greeter.local:50051', 'greeter.local:50051'],
  ['dns:///greeter.local', 'greeter.local'],
  ['ipv4:10.0.0.1:80,10.0.0.2:81', '10.0.0.1:80'],
  ['ipv6:[::1]:80', '[::1]:80'],
  ['unix:/run/greeter.sock', 'localhost'],
] as const) {
  test(`a backend of ${target} is asked as ${authority}, as its calls are`, (t) => {
    t.is(authorityOf(target), authority)
  })
}
