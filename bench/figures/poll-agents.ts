// Agents on loopback, of which some never answer: `poll-agents.ts AGENTS SILENT`. Tells their addresses.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createAgent } from '../../dist/index.js'

const [agents, silent] = process.argv.slice(2).map(Number) as [number, number]
const sockets = new Set<Socket>()

// Takes connections and reads requests, as a process does that hangs.
async function silentAgent(): Promise<string> {
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.resume()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function agent(cpu: number): Promise<string> {
  const { host, port } = await createAgent({ sampler: () => cpu })
  return `${host}:${port}`
}

const addresses: string[] = []
for (let i = 0; i < agents; i++) addresses.push(i < silent ? await silentAgent() : await agent(i % 100))
process.send?.(addresses)
process.on('disconnect', () => process.exit())
