// A process with all that runs: a polling thread, streams of gRPC, a table in a file, leases, probes, a page, an agent, threads
// that pick. It ends by `process.exit(N)` after a while: `exits.mjs MS N WHERE FILE`. WHERE: `main`, `worker`, or `crash`.
import { Worker } from 'node:worker_threads'

const [ms, code, where, file] = process.argv.slice(2)
const end = () => {
  if (where === 'crash') throw new Error('on purpose')
  else process.exit(Number(code))
}
if (where !== 'worker') setTimeout(end, Number(ms))

// Only now, so that it may end in the middle of this.
const {
  createAgent,
  createBalancer,
  createTable,
  eventDiscovery,
  httpTransport,
  orcaTransport,
  powerOfTwo,
  prequal,
} = await import('../../../dist/index.js')

const agent = await createAgent({ grpc: { minInterval: 100 }, agentCheck: {}, sampleInterval: 5 })
const http = `127.0.0.1:${agent.port}`
const grpc = `127.0.0.1:${agent.grpc.port}`
const poll = { interval: 5, startupJitter: 0, timeout: 100 }
async function* events() {
  for (let i = 0; ; i++) {
    yield i % 2 === 0 ? [http, '127.0.1.1:9'] : [http]
    await new Promise((resolve) => setTimeout(resolve, 3))
  }
}
const polled = createBalancer({
  nodes: eventDiscovery(events(), { coalesce: 0 }),
  poll: { ...poll, transport: httpTransport() },
})
const streamed = createBalancer({
  nodes: [grpc, '127.0.1.2:9'],
  poll: { ...poll, transport: orcaTransport({ reportInterval: 100 }) },
})
const probed = createBalancer({
  nodes: [http],
  table: createTable(),
  algorithm: prequal(),
  poll: { ...poll, transport: httpTransport() },
})
const filed =
  file === undefined
    ? undefined
    : createBalancer({
        nodes: [http, '127.0.1.1:9'],
        name: 'filed',
        table: createTable({ file }),
        algorithm: powerOfTwo({ metric: 'inFlight' }),
        poll: { ...poll, transport: httpTransport() },
      })
await polled.ready()
void polled.serve({ interval: 5 }).catch(() => {})
const balancers = [polled, streamed, probed, ...(filed === undefined ? [] : [filed])]

function turn() {
  for (const balancer of balancers) {
    for (let i = 0; i < 20; i++) {
      const lease = balancer.acquire()
      if (i % 3 === 0) lease.release()
    }
    balancer.select(['a', 'b', http])
  }
  setImmediate(turn)
}
turn()

function pickers() {
  const worker = new Worker(new URL('./comer.mjs', import.meta.url), {
    workerData: { handle: polled.handle() },
  })
  worker.on('error', () => {})
  worker.once('exit', pickers)
}
pickers()
if (where === 'worker') {
  // The same in a thread, which ends itself; then the process is to end by itself, with its own code.
  const worker = new Worker(new URL(import.meta.url), { argv: [ms, code, 'main'] })
  worker.once('exit', (ended) => process.exit(ended))
}
process.send?.('running')
