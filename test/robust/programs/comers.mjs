// Threads that attach to a balancer of this one and end in all ways, at any moment, while this one picks: `comers.mjs ENGINE
// COUNT`. Prints what came of it.
import { Worker } from 'node:worker_threads'
import { createBalancer, leastConnections } from '../../../dist/index.js'

const [engine, count] = [process.argv[2], Number(process.argv[3])]
// More than the table has room for at first, so that it grows while threads have it.
const all = Array.from({ length: 200 }, (_, i) => `n${i}`)
const nodes = all.slice(0, 10)
const balancer = createBalancer({ nodes, engine, poll: false, algorithm: leastConnections() })
const handle = balancer.handle()
const ids = new Set(all)

const result = { started: 0, picking: 0, terminated: 0, wrong: 0, picks: 0, most: 0, errors: [], codes: {} }
const endings = [
  'while it starts',
  'while it picks',
  'while it picks',
  'exit',
  'throw',
  'return',
  'while it starts',
]
let [ended, stopped] = [false, () => {}]

function inFlight() {
  return balancer.snapshot().reduce((sum, node) => sum + node.inFlight, 0)
}

async function come(end) {
  if (++result.started === 10) balancer.setNodes(all)
  const worker = new Worker(new URL('./comer.mjs', import.meta.url), {
    workerData: { handle, engine, end },
  })
  const terminateWithin = (ms) => setTimeout(() => worker.terminate(), Math.random() * ms)
  if (end === 'while it starts') terminateWithin(150)
  worker.on('message', () => {
    result.picking++
    result.most = Math.max(result.most, inFlight())
    if (end === 'while it picks') terminateWithin(30)
  })
  worker.on('error', (error) => {
    if (error.message !== 'on purpose') result.errors.push(String(error))
  })
  if (end.startsWith('while')) result.terminated++
  const code = await new Promise((resolve) => worker.once('exit', resolve))
  result.codes[end] = [...new Set([...(result.codes[end] ?? []), code])]
}

function pick() {
  const mine = []
  for (let i = 0; i < 200; i++) {
    result.picks++
    if (!ids.has(balancer.select())) result.wrong++
    mine.push(balancer.acquire())
  }
  for (const lease of mine) lease.release()
  if (ended) stopped()
  else setImmediate(pick)
}

pick()
const lane = async (from) => {
  for (let i = from; i < count; i += 5) await come(endings[i % endings.length])
}
await Promise.all([0, 1, 2, 3, 4].map(lane))
await new Promise((resolve) => {
  stopped = resolve
  ended = true
})
const { leases } = balancer.stats()
const left = inFlight()
await balancer.close()
console.log(JSON.stringify({ ...result, left, open: leases.acquired - leases.released }))
