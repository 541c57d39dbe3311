// A balancer that hears nodes: `nats-hearer.ts ADDRESS NODES`, and then `begin` and `end`, each answered when all that was
// published before has been heard. A process of its own, whose CPU is that of hearing.
import { setTimeout } from 'node:timers/promises'
import { createBalancer, createTable, leastCpu, natsTransport } from '../../dist/index.js'
import { LAST, type NatsMeasures, nodeOf, QUIET } from './nats.js'
import { pollingThread, threadTimes } from './thread-times.js'

const LOOK_EVERY = 5
// Less than a report differs by when its percent are read.
const NEAR = 0.001

const [address = '', count = '0'] = process.argv.slice(2)
const nodes = Array.from({ length: Number(count) }, (_, node) => nodeOf(node))
const before = threadTimes()
const balancer = createBalancer({
  nodes,
  algorithm: leastCpu({ missing: 'exclude' }),
  table: createTable(),
  poll: { transport: natsTransport({ servers: address }), startupJitter: 0 },
})

/** CPU of the first node in percent. */
function firstSays(cpu: number): boolean {
  return Math.abs((balancer.snapshot()[0]?.cpu ?? 0) - cpu) < NEAR
}

function ran(): number | undefined {
  return threadTimes().get(pollingThread(before) ?? '')
}

let began = { at: 0, cpu: process.cpuUsage(), thread: ran() }

process.on('message', async (message: 'begin' | 'end') => {
  while (!firstSays(message === 'begin' ? QUIET : LAST)) await setTimeout(LOOK_EVERY)
  const thread = ran()
  if (message === 'begin') {
    began = { at: performance.now(), cpu: process.cpuUsage(), thread }
    process.send?.('begun')
    return
  }
  const { user, system } = process.cpuUsage(began.cpu)
  const measures: Omit<NatsMeasures, 'heard'> = {
    elapsed: performance.now() - began.at,
    processCpu: (user + system) / 1_000,
    ...(thread === undefined || began.thread === undefined ? {} : { threadCpu: thread - began.thread }),
  }
  process.send?.(measures)
})
while (balancer.snapshot().some(({ fresh }) => !fresh)) await setTimeout(LOOK_EVERY)
process.send?.('ready')
