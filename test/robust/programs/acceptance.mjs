// What idlest does, once, under whatever flags this is run with. Prints what came of it as JSON.
import { Worker } from 'node:worker_threads'
import * as idlest from '../../../dist/index.js'

const { createAgent, createBalancer, createTable, httpTransport, leastCpu, leastConnections, hashRing } =
  idlest
const warnings = []
process.on('warning', (warning) => {
  warnings.push(warning.code ?? warning.name)
  // For whoever looks for what went wrong.
  console.error(warning.message)
})
const said = {}
const attempt = async (name, work) => {
  try {
    said[name] = await work()
  } catch (error) {
    said[name] = { code: error.code, message: error.message }
  }
}

await attempt('engine', () => {
  const balancer = createBalancer({ nodes: ['a', 'b'], poll: false, seed: 1 })
  return balancer.engine
})
await attempt('picks', async () => {
  const balancer = createBalancer({ nodes: ['a', 'b', 'c'], poll: false, algorithm: leastCpu() })
  balancer.report('a', { cpu: 90 })
  balancer.report('b', { cpu: 10 })
  balancer.report('c', { cpu: 90 })
  const picks = new Set(Array.from({ length: 100 }, () => balancer.select()))
  const some = balancer.select(['a', 'c'])
  await balancer.close()
  return [...picks, ['a', 'c'].includes(some)]
})
await attempt('leases', async () => {
  const balancer = createBalancer({
    nodes: ['a', 'b'],
    poll: false,
    algorithm: leastConnections({ choices: 2 }),
  })
  const leases = [balancer.acquire(), balancer.acquire()]
  const nodes = leases.map(({ node }) => node).sort()
  for (const lease of leases) lease.release({ latency: 1 })
  const left = balancer.snapshot().reduce((sum, { inFlight }) => sum + inFlight, 0)
  await balancer.close()
  return [...nodes, left]
})
await attempt('keys', async () => {
  const balancer = createBalancer({ nodes: ['a', 'b', 'c'], poll: false, algorithm: hashRing() })
  await balancer.settled()
  const picked = new Set(Array.from({ length: 10 }, () => balancer.select({ key: 'one' })))
  await balancer.close()
  return picked.size === 1
})
await attempt('polls', async () => {
  const agent = await createAgent({ sampler: () => 42, sampleInterval: 10 })
  // Until its first sample it has no report.
  while (agent.report() === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
  const id = `127.0.0.1:${agent.port}`
  const balancer = createBalancer({
    nodes: [id],
    poll: { transport: httpTransport(), interval: 20, startupJitter: 0, timeout: 60_000 },
  })
  try {
    // What fails in its answers fails for ever.
    const poll = () => balancer.stats().poll
    while (balancer.snapshot()[0].cpu === undefined && poll().error < 50) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return balancer.snapshot()[0].cpu ?? balancer.stats().poll
  } finally {
    await balancer.close()
    await agent.close()
  }
})
await attempt('thread', async () => {
  const balancer = createBalancer({ nodes: ['a', 'b'], poll: false })
  const worker = new Worker(new URL('./attached.mjs', import.meta.url), {
    workerData: { handle: balancer.handle() },
    ...(process.env.WORKER_OPTIONS
      ? { env: { ...process.env, NODE_OPTIONS: process.env.WORKER_OPTIONS } }
      : {}),
  })
  try {
    return await new Promise((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
  } finally {
    await worker.terminate()
    await balancer.close()
  }
})
await attempt('errors', () => {
  const wrong = () => createBalancer({ nodes: ['a'], pol: false })
  try {
    wrong()
    return 'none'
  } catch (error) {
    return [error.name, error.code, error instanceof idlest.IdlestError, error instanceof Error]
  }
})
if (process.env.TABLE_FILE) {
  await attempt('file', async () => {
    const balancer = createBalancer({
      nodes: ['a'],
      poll: false,
      table: createTable({ file: process.env.TABLE_FILE }),
    })
    balancer.acquire().release()
    await balancer.close()
    return balancer.stats().leases.released
  })
}
await new Promise((resolve) => setImmediate(resolve))
console.log(JSON.stringify({ ...said, warnings }))
