// An agent that tells by gRPC, in place of as many nodes as asked for: `fleet-agent.ts NODES`. Tells their ids and its address.
import { createAgent } from '../../dist/index.js'
import type { Fleet } from './fleet.js'

const [count = 0] = process.argv.slice(2).map(Number)

// One address gets three quarters of the connections.
const limits = { maxStreams: count, maxConnections: 2 * count }
const agent = await createAgent({ http: false, grpc: { minInterval: 1, ...limits } })
const nodes = Array.from({ length: count }, (_, i) => `node-${i}`)
process.send?.({ nodes, url: `http://127.0.0.1:${agent.grpc?.port}` } satisfies Fleet)
process.on('disconnect', () => process.exit())
