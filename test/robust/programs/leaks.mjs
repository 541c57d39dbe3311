// Makes and closes what there is to make, over and over, with --expose-gc: `leaks.mjs KIND CYCLES`. Prints what is left after
// each tenth of the cycles.
import { readdirSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import {
  adaptive,
  attachBalancer,
  createAgent,
  createBalancer,
  createTable,
  custom,
  eventDiscovery,
  hashRing,
  httpTransport,
  leastConnections,
  leastCpu,
  maglev,
  meter,
  orcaTransport,
  powerOfTwo,
  prequal,
  random,
  roundRobin,
  spareCapacity,
  weightedRoundRobin,
} from '../../../dist/index.js'

process.removeAllListeners('warning')
process.on('warning', () => {})
const [kind, count] = [process.argv[2], Number(process.argv[3])]
const nodes = Array.from({ length: 20 }, (_, i) => `n${i}`)

// Of each cycle one object, to be collected as soon as nobody has it.
let alive = 0
const registry = new FinalizationRegistry(() => alive--)
function watch(object) {
  alive++
  registry.register(object)
  return object
}

const algorithms = [
  () => adaptive(),
  () => leastCpu(),
  () => leastConnections(),
  () => powerOfTwo({ metric: 'cpu' }),
  () => prequal(),
  () => random(),
  () => roundRobin(),
  () => roundRobin({ shared: true }),
  () => spareCapacity(),
  () => weightedRoundRobin(),
  () => hashRing(),
  () => maglev({ tableSize: 251 }),
  () => custom({ name: 'own', select: ({ nodes }) => nodes[0] }),
]

async function balancer(i) {
  const algorithm = algorithms[i % algorithms.length]()
  const own = i % 3 === 0 ? { table: createTable() } : {}
  const one = watch(
    createBalancer({ nodes, algorithm, poll: false, engine: i % 2 === 0 ? 'auto' : 'portable', ...own }),
  )
  one.report('n1', { cpu: 10, qps: 5 })
  for (let pick = 0; pick < 20; pick++) one.acquire().release()
  const kept = one.acquire()
  one.select(['n1', 'n2', 'stranger'])
  one.setNodes(nodes.slice(i % 7))
  one.snapshot()
  await one.close()
  kept.release()
}

const kinds = {
  balancers: balancer,
  // With what there is to attach to: a channel, and a ledger of the addon's.
  async attached(i) {
    const one = createBalancer({ nodes, poll: false, table: createTable(), algorithm: leastConnections() })
    const attached = watch(attachBalancer(one.handle(), { engine: i % 2 === 0 ? 'auto' : 'portable' }))
    // Never released.
    attached.acquire()
    attached.select()
    if (i % 3 === 0) attached.close()
    await one.close()
  },
  async agents(i) {
    const agent = watch(
      await createAgent({ sampleInterval: 5, ...(i % 4 === 0 ? { agentCheck: {}, grpc: {} } : {}) }),
    )
    agent.report()
    await agent.close()
  },
  async discoveries(i) {
    async function* events() {
      yield nodes
      yield { add: [`m${i}`], remove: ['n1'] }
    }
    const discovery = eventDiscovery(events(), { coalesce: 0 })
    const one = watch(createBalancer({ nodes: discovery, poll: false, table: createTable() }))
    await one.ready()
    one.select()
    await one.close()
    await discovery.close()
  },
  // On this thread, by a transport of the user's own.
  async polled(i) {
    const transport = { poll: async () => ({ cpu: i % 100 }) }
    const one = watch(
      createBalancer({ nodes, table: createTable(), poll: { transport, interval: 1, startupJitter: 0 } }),
    )
    if (i % 2 === 0) await one.ready()
    await one.close()
  },
  // In the polling thread, which ends with the last of them.
  async threads(i) {
    const transport = i % 2 === 0 ? httpTransport() : orcaTransport()
    const one = watch(
      createBalancer({
        nodes: ['127.0.0.1:9'],
        table: createTable(),
        poll: { transport, interval: 1, startupJitter: 0 },
      }),
    )
    if (i % 2 === 0) await one.ready()
    await one.close()
  },
  async files(i) {
    const table = createTable({ file: `${process.argv[4]}-${i % 5}`, maxNodes: 64 })
    const one = watch(
      createBalancer({ nodes, table, poll: false, algorithm: leastConnections({ exact: true }) }),
    )
    one.acquire()
    one.acquire().release()
    await one.close()
  },
  async meters() {
    const queue = watch(meter({ metric: 'queueDelay' }))
    queue.record(1)
    queue.close()
  },
  // Terminated with a lease.
  async workers() {
    const one = watch(createBalancer({ nodes, poll: false, table: createTable() }))
    const worker = new Worker(new URL('./comer.mjs', import.meta.url), {
      workerData: { handle: one.handle() },
    })
    await new Promise((resolve) => worker.once('message', resolve))
    await worker.terminate()
    await one.close()
  },
}

async function look() {
  for (let round = 0; round < 6; round++) {
    globalThis.gc()
    await turn()
  }
  const { rss, heapUsed, external } = process.memoryUsage()
  return {
    rss,
    used: heapUsed + external,
    alive,
    handles: process
      .getActiveResourcesInfo()
      .filter((resource) => resource !== 'Immediate')
      .sort(),
    files: process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0,
    listeners: process.listenerCount('exit'),
  }
}

const looks = []
for (let part = 0; part < 10; part++) {
  for (let i = 0; i < count / 10; i++) await kinds[kind](part * Math.ceil(count / 10) + i)
  // What a finalizer lets go of late.
  await new Promise((resolve) => setTimeout(resolve, 50))
  looks.push(await look())
}
console.log(JSON.stringify(looks))
