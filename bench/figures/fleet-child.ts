// Hears a fleet: `fleet-child.ts INTERVAL COUNT BY`, and then a message with the nodes. A process of its own, whose memory
// and CPU are those of polling.
import { tracingChannel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createBalancer, httpTransport, orcaTransport, type PollEvent } from '../../dist/index.js'
import type { Fleet, FleetCycle, FleetMeasures } from './fleet.js'
import { pollingThread, threadTimes } from './thread-times.js'

const [interval = 0, count = 0] = process.argv.slice(2).map(Number)

// The channel to the parent keeps this process alive: a balancer does not.
process.on('message', () => {})
const [{ nodes, url }] = (await once(process, 'message')) as [Fleet]
const threadsBefore = threadTimes()
const rssBefore = process.memoryUsage.rss()
const ended: FleetCycle[] = []
let cpuBefore = process.cpuUsage()
let threadBefore = 0

const transport =
  process.argv[4] === 'http'
    ? httpTransport()
    : orcaTransport({ reportInterval: interval, node: () => (url === undefined ? {} : { url }) })
const balancer = createBalancer({ nodes, poll: { interval, startupJitter: 0, transport } })
// Reports that came unasked, as of the cycle before.
let pushedBefore = 0
tracingChannel<unknown, PollEvent>('idlest:poll').end.subscribe((message) => {
  const { duration = Number.NaN, stored = 0 } = message as PollEvent
  const pushed = balancer.stats().poll?.pushed.stored ?? 0
  const { user, system } = process.cpuUsage(cpuBefore)
  const ran = threadTimes().get(pollingThread(threadsBefore) ?? '')
  ended.push({
    duration,
    stored: stored + pushed - pushedBefore,
    processCpu: (user + system) / 1_000,
    ...(ran === undefined ? {} : { threadCpu: ran - threadBefore }),
  })
  pushedBefore = pushed
  cpuBefore = process.cpuUsage()
  threadBefore = ran ?? 0
  if (ended.length === count) void finish()
})

async function finish(): Promise<void> {
  const measures: FleetMeasures = { cycles: ended, rssBefore, rss: process.memoryUsage.rss() }
  await balancer.close()
  process.send?.(measures)
  process.disconnect()
}
