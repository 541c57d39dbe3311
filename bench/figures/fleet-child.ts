// Polls a fleet: `fleet-child.ts INTERVAL COUNT`, and then a message with the nodes. A process of its own, whose memory
// and CPU are those of polling.
import { tracingChannel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createBalancer, type PollEvent } from '../../dist/index.js'
import type { FleetCycle, FleetMeasures } from './fleet.js'
import { pollingThread, threadTimes } from './thread-times.js'

const [interval = 0, count = 0] = process.argv.slice(2).map(Number)

// The channel to the parent keeps this process alive: a balancer does not.
process.on('message', () => {})
const [nodes] = (await once(process, 'message')) as [string[]]
const threadsBefore = threadTimes()
const rssBefore = process.memoryUsage.rss()
const ended: FleetCycle[] = []
let cpuBefore = process.cpuUsage()
let threadBefore = 0

const balancer = createBalancer({ nodes, poll: { interval, startupJitter: 0 } })
tracingChannel<unknown, PollEvent>('idlest:poll').end.subscribe((message) => {
  const { duration = Number.NaN, stored = 0 } = message as PollEvent
  const { user, system } = process.cpuUsage(cpuBefore)
  const ran = threadTimes().get(pollingThread(threadsBefore) ?? '')
  ended.push({
    duration,
    stored,
    processCpu: (user + system) / 1_000,
    ...(ran === undefined ? {} : { threadCpu: ran - threadBefore }),
  })
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
