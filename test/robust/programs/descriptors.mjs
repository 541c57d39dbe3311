// Runs out of file descriptors before anything is polled or served; then has them again.

import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { createServer } from 'node:http'
import { createBalancer, httpTransport, orcaTransport } from '../../../dist/index.js'

const agent = createServer((_, response) => response.end('{"cpu_utilization":0.5}')).listen(0, '127.0.0.1')
await once(agent, 'listening')
const nodes = [`127.0.0.1:${agent.address().port}`]
const balancerOf = (transport = httpTransport()) =>
  createBalancer({ nodes, poll: { transport, interval: 20, timeout: 2_000, startupJitter: 0 } })

const held = []
try {
  for (;;) held.push(openSync(process.execPath, 'r'))
} catch {}
// So few that the loader of modules runs out of them half-way.
const free = Number(process.argv[2])
for (const descriptor of held.splice(0, free)) closeSync(descriptor)

const first = balancerOf()
const byGrpc = balancerOf(orcaTransport())
const isServed = (balancer) =>
  balancer.serve({ port: 0 }).then(
    () => true,
    (error) => error.code,
  )
const during = await isServed(first)
const deadline = Date.now() + 1_000
while (Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20))
for (const descriptor of held) closeSync(descriptor)

const stored = async (balancer) => {
  const before = balancer.stats().poll.stored
  while (balancer.stats().poll.stored === before) await new Promise((resolve) => setTimeout(resolve, 20))
  return true
}
// The node has no gRPC: that is found out once the library is there.
const reasonByGrpc = async () => {
  for (;;) {
    const reason = byGrpc.snapshot()[0]?.poll?.reason ?? ''
    if (reason !== '' && !/EMFILE|thread/.test(reason)) return reason
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
console.log(
  JSON.stringify({
    during,
    first: await stored(first),
    another: await stored(balancerOf()),
    served: await isServed(first),
    byGrpc: await reasonByGrpc(),
  }),
)
process.exit()
