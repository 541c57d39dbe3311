// A server of the demo: a process of its own, started by ./servers.ts.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
// Not all of the API: this process is to start fast.
import { createAgent } from '../../agent/index.js'
import { Governor } from './governor.js'
import type { FromServer, ServerSettings } from './messages.js'
import { shareSampler } from './share-sampler.js'

const WORK = /^\/burn\/(\d{1,9})$/

const { share, secondJob, sampleInterval, window } = JSON.parse(process.argv[2] ?? '{}') as ServerSettings

// The terminal sends Ctrl-C to all its processes: the parent decides when this one ends, or is gone.
process.on('SIGINT', () => {})
process.on('disconnect', () => process.exit())
if (!process.connected) process.exit()

const governor = new Governor({ share, secondJob })

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const microseconds = WORK.exec(request.url ?? '')?.[1]
  if (microseconds === undefined) {
    response.writeHead(404).end()
    return
  }
  await governor.run(Number(microseconds) / 1000)
  response.end()
}

// Connections are kept for the whole run: closing idle ones races with requests on them.
const server = createServer({ keepAliveTimeout: 0 }, (request, response) => void answer(request, response))
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const agent = await createAgent({ sampler: shareSampler(governor, share, window), sampleInterval })

// Its report has a value from the second sample on.
await delay(2 * sampleInterval)

function send(message: FromServer): void {
  process.send?.(message)
}

process.on('message', () => send({ kind: 'usage', usage: governor.usage() }))
send({ kind: 'ready', port: (server.address() as AddressInfo).port, report: agent.url })
