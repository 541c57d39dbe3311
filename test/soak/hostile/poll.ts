// Polls the nodes of the scene: `poll.ts TRANSPORT CYCLES`, with --expose-gc. Tells what that cost with the good ones alone, and with
// the hostile ones.
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import {
  createBalancer,
  httpTransport,
  nodeExporterTransport,
  orcaTransport,
  type TransportOption,
} from '../../../dist/index.js'
import type { RemoteErrorEvent } from '../../../dist/telemetry.js'
import { INTERVAL, type Phase, type SceneNodes, type SceneTransport } from './scene.js'

const [transport = 'grpc', count = 0] = process.argv.slice(2)
const cycles = Number(count)
const transports: Record<SceneTransport, TransportOption> = {
  grpc: orcaTransport({ reportInterval: INTERVAL }),
  http: httpTransport(),
  'node-exporter': nodeExporterTransport({
    node: (id) => ({ port: Number(id.slice(id.lastIndexOf(':') + 1)) }),
  }),
}
process.removeAllListeners('warning')
process.on('warning', () => {})

const [{ good, hostile }] = (await once(process, 'message')) as [SceneNodes]
const isGood = new Set(good)
const failed: string[] = []
subscribe('idlest:poll:remote-error', (event) => {
  const { node } = event as RemoteErrorEvent
  if (isGood.has(node)) failed.push(node)
})

const balancer = createBalancer({
  nodes: good,
  poll: {
    interval: INTERVAL,
    startupJitter: 0,
    timeout: 10_000,
    transport: transports[transport as SceneTransport],
  },
})
await balancer.ready()

const counted = () => {
  const { poll } = balancer.stats()
  if (poll === undefined) throw new Error('it does not poll')
  return poll
}

async function cyclesMore(count: number): Promise<void> {
  const end = counted().cycles + count
  while (counted().cycles < end) await new Promise((resolve) => setTimeout(resolve, 20))
}

async function phase(): Promise<Phase> {
  failed.length = 0
  const before = process.cpuUsage()
  const { asked, heard } = counted()
  await cyclesMore(cycles)
  const { user, system } = process.cpuUsage(before)
  globalThis.gc?.()
  return {
    cpu: (user + system) / 1_000 / cycles,
    rss: process.memoryUsage.rss(),
    failed: [...failed],
    asked: counted().asked - asked,
    heard: counted().heard - heard,
  }
}

await cyclesMore(5)
const alone = await phase()
balancer.setNodes([...good, ...hostile])
// With all their first tries.
const first = await phase()
const then = await phase()
const { quarantined } = counted()
process.send?.({ alone, first, then, quarantined })
await balancer.close()
process.disconnect()
