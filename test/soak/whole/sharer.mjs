// A process that shares the soaked one's table by its file, and is killed with leases open: `sharer.mjs FILE NODES`.
import { createBalancer, createTable, httpTransport, leastConnections } from '../../../dist/index.js'

process.on('warning', () => {})
const [file, nodes] = process.argv.slice(2)
const balancer = createBalancer({
  name: 'shared',
  nodes: JSON.parse(nodes),
  table: createTable({ file }),
  algorithm: leastConnections({ exact: true }),
  poll: { transport: httpTransport(), interval: 500, startupJitter: 0, timeout: 1_000 },
})
const leases = []
setInterval(() => {
  for (let i = 0; i < 50; i++) {
    leases.push(balancer.acquire())
    if (leases.length > 40) leases.shift().release({ ok: i % 9 !== 0 })
  }
}, 10)
process.on('disconnect', () => process.exit())
process.send('started')
