// Nodes on loopback that report over HTTP, as many as asked for: `fleet-servers.ts NODES`. Tells their addresses.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Fleet } from './fleet.js'

const [nodes = 0] = process.argv.slice(2).map(Number)

async function node(cpu: number): Promise<string> {
  const report = JSON.stringify({ cpu_utilization: cpu / 100, age_ms: 100, rps_fractional: 120 })
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(report)
  })
  // Longer than any interval, as agents keep their connections.
  server.keepAliveTimeout = 600_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const addresses: string[] = []
for (let i = 0; i < nodes; i++) addresses.push(await node(i % 100))
process.send?.({ nodes: addresses } satisfies Fleet)
process.on('disconnect', () => process.exit())
