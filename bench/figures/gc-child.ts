// Counts collections of garbage during picks: `gc-child.ts ENGINE WARM_UP PICKS`. A process of its own, so that nothing
// else makes garbage.
import { PerformanceObserver } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { type Balancer, createBalancer, leastCpu } from '../../dist/index.js'
import { nodeIds } from '../pool.js'
import type { GcResult } from './gc.js'

const BLOCK = 1024
const [engine, warmUp, picks] = process.argv.slice(2)
if (engine !== 'native' && engine !== 'portable') throw new Error(`not an engine: ${engine}`)

const starts: number[] = []
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) starts.push(entry.startTime)
}).observe({ entryTypes: ['gc'] })

const nodes = nodeIds(8)
const balancer = createBalancer({
  nodes,
  poll: false,
  engine,
  seed: 1,
  algorithm: leastCpu({ ttl: 3_600_000 }),
})
// Four of them in the band.
for (const [i, node] of nodes.entries()) balancer.report(node, { cpu: i % 2 === 0 ? 20 + i / 4 : 60 + i })

const into = new Uint32Array(BLOCK)
let sum = 0

const loops = {
  select: (balancer: Balancer<string>, times: number) => {
    for (let i = 0; i < times; i++) sum += balancer.select().length
  },
  sameArray: (balancer: Balancer<string>, times: number) => {
    for (let i = 0; i < times; i++) sum += balancer.select(nodes).length
  },
  fill: (balancer: Balancer<string>, times: number) => {
    for (let i = 0; i < times; i += BLOCK) {
      balancer.fill(into)
      sum += into[0] as number
    }
  },
}

const result: GcResult = { engine, cases: [] }
for (const [name, loop] of Object.entries(loops)) {
  loop(balancer, Number(warmUp))
  // Compilers and collectors work on behind: they are let finish, and told of.
  globalThis.gc?.()
  await setTimeout(200)
  const bytes = process.memoryUsage().heapUsed
  const start = performance.now()
  loop(balancer, Number(picks))
  const end = performance.now()
  const allocated = process.memoryUsage().heapUsed - bytes
  await setTimeout(100)
  const collections = starts.filter((time) => time >= start && time <= end).length
  result.cases.push({ name, picks: Number(picks), collections, bytesPerPick: allocated / Number(picks) })
}
if (Number.isNaN(sum)) throw new Error('picks that have no length')
await balancer.close()
process.send?.(result)
process.disconnect?.()
