import { readFileSync } from 'node:fs'
import test from 'ava'
import { createBalancer, leastCpu } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { areUniform, countPicks } from '../support/shares.js'

interface Vectors {
  defaults: { pollInterval: number; cpuCacheTtl: number; cpuThreshold: number; missing: number }
  cases: {
    id: string
    note?: string
    readings: Record<string, number | null | { cpu: number; age: number }>
    threshold: number
    ttl?: number
    candidates: string[]
  }[]
}

const vectors: Vectors = JSON.parse(
  readFileSync(new URL('../vectors/least-cpu.json', import.meta.url), 'utf8'),
)

for (const engine of engines) {
  for (const { id, note = 'the band', readings, threshold, ttl, candidates } of vectors.cases) {
    const nodes = Object.keys(readings)
    const balancerOf = () => {
      const balancer = createBalancer({
        nodes,
        algorithm: leastCpu({ threshold, ttl }),
        poll: false,
        clock: new VirtualClock(123_456.7),
        seed: 7,
        engine,
      })
      for (const [node, reading] of Object.entries(readings)) {
        if (reading === null) continue
        balancer.report(node, typeof reading === 'number' ? { cpu: reading } : reading)
      }
      return balancer
    }

    test(`${id}, ${engine}: ${note}: picks are uniform among the candidates and never others`, (t) => {
      const balancer = balancerOf()
      const counts = countPicks(100_000, () => balancer.select())
      t.deepEqual([...counts.keys()].sort(), candidates)
      t.true(areUniform([...counts.values()]))
    })

    test(`${id}, ${engine}: ${note}: the same for an array that is passed`, (t) => {
      const balancer = balancerOf()
      const same = countPicks(10_000, () => balancer.select(nodes))
      t.deepEqual([...same.keys()].sort(), candidates)
      t.true(areUniform([...same.values()]))
      const fresh = countPicks(10_000, () => balancer.select([...nodes]))
      t.deepEqual([...fresh.keys()].sort(), candidates)
      t.true(areUniform([...fresh.values()]))
    })

    test(`${id}, ${engine}: ${note}: the snapshot names the same band`, (t) => {
      const inBand = balancerOf()
        .snapshot()
        .filter((node) => node.inBand)
      t.deepEqual(
        inBand.map((node) => node.id),
        candidates,
      )
    })
  }
}

test('the defaults are the published ones', (t) => {
  const { cpuCacheTtl, cpuThreshold, missing } = vectors.defaults
  t.deepEqual(leastCpu(), {
    kind: 'leastCpu',
    threshold: cpuThreshold * 1000,
    ttl: cpuCacheTtl,
    missing: missing * 1000,
    smoothing: 0,
  })
})
