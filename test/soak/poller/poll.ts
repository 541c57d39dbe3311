// Polls the nodes of the soak on this thread: `poll.ts CYCLES`, with --expose-gc. Tells the memory that it has in the end.
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { createBalancer, createTable, type PollerCounters } from '../../../dist/index.js'
import { processClock } from '../../../dist/process-clock.js'
import { pem } from '../../agent/support.js'
import { allFaulted } from '../../poller/faults/transports.js'
import type { SoakNodes, SoakResult } from './soak.js'

/** Looks at memory in so many equal parts of the cycles; the first is a warm-up. */
const PARTS = 10
const [cycles = 0] = process.argv.slice(2).map(Number)
const collect = globalThis.gc ?? (() => {})
process.removeAllListeners('warning')
process.on('warning', () => {})

// What is reachable: several rounds, since finalizers let go of more.
async function memory(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    collect()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

// Sockets are files, on systems that show them.
function openFiles(): number {
  return existsSync('/dev/fd') ? readdirSync('/dev/fd').length : 0
}

const [message] = (await once(process, 'message')) as [SoakNodes[]]
// On a clock of its own everything is asked on this thread, where memory can be measured.
const clock = { ...processClock }
const balancers = message.map(({ transport, tls, right, wrong }) => {
  const faulted = allFaulted.find(({ name }) => name === transport)
  if (faulted === undefined) throw new Error(`no transport ${transport}`)
  return createBalancer({
    name: `${transport}${tls ? ', TLS' : ''}`,
    nodes: [...right, ...wrong],
    table: createTable({ clock }),
    poll: {
      interval: 1,
      startupJitter: 0,
      // Without TLS some never answer, and each cycle is that long; with it all do, but a handshake takes its time.
      timeout: tls ? 2_000 : 100,
      transport: faulted.transport(tls ? { ca: pem('ca') } : undefined),
    },
  })
})

const counted = (): PollerCounters[] => balancers.flatMap((balancer) => balancer.stats().poll ?? [])
const least = () => Math.min(...counted().map((poll) => poll.cycles))

const used: number[] = []
const open: number[] = []
for (let part = 1; part <= PARTS; part++) {
  while (least() < (cycles * part) / PARTS) await new Promise((resolve) => setTimeout(resolve, 10))
  used.push(await memory())
  open.push(openFiles())
}
const result: SoakResult = {
  counters: balancers.map((balancer, index) => ({
    name: balancer.name,
    ...(counted()[index] as PollerCounters),
  })),
  used,
  open,
  rss: process.memoryUsage.rss(),
}
await Promise.all(balancers.map((balancer) => balancer.close()))
process.send?.(result)
process.disconnect()
