// Nodes that come and go without end: node churn.mjs NODES. Prints, for a tenth of the way and for all of it, what is kept.
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { getHeapSnapshot } from 'node:v8'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { Registry } from 'prom-client'
import { attachBalancer, createBalancer, createTable } from '../../../dist/index.js'
import { instrumentBalancer } from '../../../dist/integrations/opentelemetry/index.js'
import { collectBalancer } from '../../../dist/integrations/prometheus/index.js'

const nodes = Number(process.argv[2])
const AT_ONCE = 50

const table = createTable()
const balancer = createBalancer({ table, nodes: ['stays'], poll: false })
const attached = attachBalancer(balancer.handle())
const registry = new Registry()
collectBalancer(balancer, { registry })
const exporter = new InMemoryMetricExporter(AggregationTemporality.DELTA)
const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 31 - 1 })
const provider = new MeterProvider({ readers: [reader] })
instrumentBalancer(balancer, { meterProvider: provider })

async function series() {
  const lines = (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  exporter.reset()
  await reader.forceFlush()
  const points = exporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
    .reduce((sum, { dataPoints }) => sum + dataPoints.length, 0)
  exporter.reset()
  return { prometheus: lines.length, opentelemetry: points }
}

/** Whatever still has the id of a node that left: each map of ids, each member, each label. */
async function idsKept() {
  let text = ''
  const ids = new Set()
  const find = /"(gone-\d+)/g
  await pipeline(
    getHeapSnapshot(),
    new Writable({
      write(chunk, _, done) {
        text = text.slice(-64) + chunk
        for (const [, id] of text.matchAll(find)) ids.add(id)
        done()
      },
    }),
  )
  return ids.size
}

async function look() {
  balancer.setNodes(['stays'])
  await new Promise((resolve) => setTimeout(resolve, 20))
  attached.select()
  // Twice: the first export after a change still has what is gone.
  await series()
  const found = await series()
  for (let i = 0; i < 3; i++) {
    gc()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const used = process.memoryUsage().heapUsed
  return { used, rss: process.memoryUsage.rss(), ...found, size: table.size, ids: await idsKept() }
}

async function churn(from, to) {
  for (let n = from; n < to; n += AT_ONCE) {
    const list = Array.from({ length: AT_ONCE }, (_, i) => `gone-${n + i}`)
    balancer.setNodes(['stays', ...list])
    for (let i = 0; i < AT_ONCE; i++) {
      const id = list[i]
      balancer.report(id, { cpu: i, state: i % 7 === 0 ? 'drain' : 'up', weight: 50 + i, named: { q: i } })
      const lease = (i % 2 === 0 ? balancer : attached).acquire()
      lease.release({ ok: i % 3 !== 0, latency: i })
    }
    if (n % (AT_ONCE * 20) === 0) {
      await series()
      void balancer.drain(list[3])
      attached.select()
      balancer.snapshot()
      balancer.explain()
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
}

await churn(0, nodes / 10)
const before = await look()
await churn(nodes / 10, nodes)
const after = await look()
console.log(JSON.stringify({ before, after }))
attached.close()
await balancer.close()
