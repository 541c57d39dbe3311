import test from 'ava'
import { orcaTransport } from '../../dist/poller/transports/orca.js'
import { sharedHosts } from '../../dist/poller/worker-host.js'
import { writeOrcaBinary } from '../../dist/reports/orca-binary.js'
import { until } from '../agent/support.js'
import { startGrpcAgent } from '../support/grpc.js'
import { FRAME_FLOODS, type HostileKind, messageFlood, WRONG_ANSWERS } from '../support/hostile-grpc.js'
import { httpPoller, readingOf } from './agents.js'

// One after the other: what floods is on this thread too.
const GOOD = 5
const CYCLES = 10

const FLOODS: readonly HostileKind[] = [
  ...FRAME_FLOODS,
  messageFlood(Buffer.from(writeOrcaBinary({ cpu: 40 }))),
]

for (const kind of [...WRONG_ANSWERS, ...FLOODS]) {
  test.serial(
    `a node that ${kind.name} fails alone: others are fresh in each cycle, and the thread is the same`,
    async (t) => {
      const hostile = await kind.start()
      t.teardown(() => hostile.close())
      const good = await Promise.all(Array.from({ length: GOOD }, () => startGrpcAgent(t)))
      const ids = good.map(({ port }) => `127.0.0.1:${port}`)
      const failed = new Set<string>()
      const stale = new Set<string>()
      let cycles = 0
      const { table, poller } = httpPoller(t, {
        timeout: 10_000,
        interval: 50,
        transport: orcaTransport({ reportInterval: 100 }),
        onCycle: (tally) => {
          cycles++
          for (const { node } of tally.failed) failed.add(node)
          for (const id of ids) if (readingOf(table, id) === undefined) stale.add(id)
        },
      })
      const id = `127.0.0.1:${hostile.port}`
      poller.setMembers([...ids, id].map((node) => table.claim(node)))
      poller.start()
      await until(() => cycles >= CYCLES && (failed.has(id) || poller.counters.pushed.bad > 0))
      failed.delete(id)
      t.deepEqual([...failed, ...stale], [])
      t.is(sharedHosts(1)[0]?.restarts, 0)
      t.is(poller.counters.quarantined, 0)
    },
  )
}

for (const kind of FLOODS) {
  test.serial(
    `a node that ${kind.name} loses its connection, and does not get the next at once`,
    async (t) => {
      const hostile = await kind.start()
      t.teardown(() => hostile.close())
      const { table, poller } = httpPoller(t, {
        interval: 20,
        transport: orcaTransport({ reportInterval: 100 }),
      })
      const id = `127.0.0.1:${hostile.port}`
      poller.setMembers([table.claim(id)])
      poller.start()
      await until(() => /more (than|frames|bytes)/.test(poller.failureOf(id)?.reason ?? ''))
      t.is(poller.failureOf(id)?.kind, 'error')
      t.is(hostile.connections(), 1)
    },
  )
}
