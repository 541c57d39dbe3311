import type { Balancer } from '../../dist/index.js'
import { type BenchCase, type CaseFamily, consume } from '../case.js'
import { engines } from '../engines.js'
import { Pool } from '../pool.js'

function samplePick(pool: Pool, balancer: Balancer<string>): () => number {
  return () => {
    pool.publish()
    const start = performance.now()
    const node = balancer.select()
    const end = performance.now()
    consume(node.length)
    return end - start
  }
}

function sampleArrayPick(pool: Pool, balancer: Balancer<string>): () => number {
  const array = pool.ids.slice(0, 8)
  return () => {
    pool.publish()
    const start = performance.now()
    const node = balancer.select(array)
    const end = performance.now()
    consume(node.length)
    return end - start
  }
}

function sampleWriting(pool: Pool): () => number {
  return () => {
    const start = performance.now()
    pool.publish()
    const end = performance.now()
    return end - start
  }
}

/**
 * What a publication of all readings costs: the thread that picks, in the one pick after it, and the thread that
 * writes.
 */
export function publishingCases(): CaseFamily {
  const pool = new Pool(10_000)
  const shape = { nodes: pool.ids.length, unit: 'publication', iterations: 5 } as const
  const cases: BenchCase[] = [
    { ...shape, name: 'write and publish', engine: '-', sample: sampleWriting(pool) },
  ]
  for (const engine of engines) {
    cases.push(
      { ...shape, name: 'first select() after', engine, sample: samplePick(pool, pool.balancer(engine)) },
      {
        ...shape,
        name: 'first select(array) after',
        engine,
        sample: sampleArrayPick(pool, pool.balancer(engine)),
      },
    )
  }
  return { topic: 'changes', cases, close: () => pool.close() }
}
