// An agent in a process of its own, which can be killed and started anew at its ports: `agent.mjs HTTP GRPC STEADY`.
import { createAgent } from '../../../dist/index.js'

const [http, grpc, steady] = process.argv.slice(2).map(Number)
let cpu = 30
const agent = await createAgent({
  port: http,
  grpc: { port: grpc, minInterval: 100 },
  sampleInterval: 100,
  sampler: () => {
    cpu = Math.min(95, Math.max(5, cpu + (Math.random() - 0.5) * 20))
    return cpu
  },
  named: { queue: () => Math.round(cpu / 10) },
})
const states = ['ready', 'ready', 'ready', 'drain', 'maint']
if (steady !== 1) {
  setInterval(() => {
    agent[states[Math.floor(Math.random() * states.length)]]()
    agent.setWeight(Math.random() < 0.5 ? undefined : Math.floor(Math.random() * 100) + 1)
  }, 2_000)
}
process.on('message', () => process.send({ sent: agent.counters.grpc.sent }))
process.on('disconnect', () => process.exit())
process.send({ http: agent.port, grpc: agent.grpc.port })
