import type { Balancer } from '../../dist/index.js'
import { type BenchCase, type CaseFamily, consume, UNITS } from '../case.js'
import { engines } from '../engines.js'
import { ownLoop } from '../own-loop.js'
import { Pool } from '../pool.js'

const BLOCK = 1024
const BLOCKS = 50

/**
 * Samples of `select()`. What was picked is kept, and not looked into: reading a string that is not in the cache takes
 * longer than the pick, and `sampleReading` tells how long.
 */
export function sampleSelect(balancer: Balancer<string>): () => number {
  return ownLoop(() => balancer.select())
}

/** The same, with a look into each string that was picked. */
export function sampleReading(balancer: Balancer<string>): () => number {
  return ownLoop(() => balancer.select().length)
}

function sampleIndex(balancer: Balancer<string>): () => number {
  return () => {
    let sum = 0
    const start = performance.now()
    for (let i = 0; i < UNITS; i++) sum += balancer.selectIndex()
    const end = performance.now()
    consume(sum)
    return (end - start) / UNITS
  }
}

function sampleFill(balancer: Balancer<string>, into: Uint32Array): () => number {
  return () => {
    let sum = 0
    const start = performance.now()
    for (let i = 0; i < BLOCKS; i++) {
      balancer.fill(into)
      sum += into[i] as number
    }
    const end = performance.now()
    consume(sum)
    return (end - start) / (BLOCKS * into.length)
  }
}

function sampleFillAndRead(balancer: Balancer<string>, into: Uint32Array): () => number {
  const { nodes } = balancer
  return () => {
    let sum = 0
    const start = performance.now()
    for (let i = 0; i < BLOCKS; i++) {
      balancer.fill(into)
      for (let j = 0; j < into.length; j++) sum += (nodes[into[j] as number] as string).length
    }
    const end = performance.now()
    consume(sum)
    return (end - start) / (BLOCKS * into.length)
  }
}

/** Picks among members, one at a time and by the block, at each size and by each engine. */
export function pickCases(): CaseFamily {
  const pools = [8, 64, 1_000, 10_000].map((nodes) => new Pool(nodes))
  const cases = pools.flatMap((pool) => engines.flatMap((engine) => casesOf(pool, engine)))
  return {
    topic: 'picks',
    cases,
    close: async () => {
      for (const pool of pools) await pool.close()
    },
  }
}

function casesOf(pool: Pool, engine: 'native' | 'portable'): BenchCase[] {
  // One balancer a case: that none finds the block that another has drawn.
  const make = () => pool.balancer(engine)
  const shape = { engine, nodes: pool.ids.length, iterations: 20, beforeRound: () => pool.publish() }
  return [
    { ...shape, name: 'select()', sample: sampleSelect(make()) },
    { ...shape, name: 'selectIndex()', sample: sampleIndex(make()) },
    { ...shape, name: 'fill(1024)', iterations: 8, sample: sampleFill(make(), new Uint32Array(BLOCK)) },
    { ...shape, name: 'fill(64)', iterations: 20, sample: sampleFill(make(), new Uint32Array(64)) },
    {
      ...shape,
      name: 'fill(1024), each read',
      iterations: 8,
      sample: sampleFillAndRead(make(), new Uint32Array(BLOCK)),
    },
  ]
}
