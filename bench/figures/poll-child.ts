// Polls agents: `poll-child.ts TIMEOUT CYCLES NODE…`. A process of its own, so that each member that is silent can be
// warned of where nobody reads it.
import { tracingChannel } from 'node:diagnostics_channel'
import { createBalancer, httpTransport, type PollEvent } from '../../dist/index.js'

const INTERVAL = 250
const [timeout, cycles, ...nodes] = process.argv.slice(2)
const ends: PollEvent[] = []
const balancer = createBalancer({
  nodes,
  poll: { transport: httpTransport(), interval: INTERVAL, startupJitter: 0, timeout: Number(timeout) },
})
tracingChannel<unknown, PollEvent>('idlest:poll').end.subscribe((message) => {
  ends.push(message as PollEvent)
  if (ends.length === Number(cycles)) void finish()
})
// The channel to the parent keeps this process alive: a balancer does not.

async function finish(): Promise<void> {
  await balancer.close()
  process.send?.(ends)
  process.disconnect()
}
process.on('message', () => {})
