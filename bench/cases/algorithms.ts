import { random, roundRobin, spareCapacity } from '../../dist/index.js'
import type { CaseFamily } from '../case.js'
import { engines } from '../engines.js'
import { Pool } from '../pool.js'
import { sampleSelect } from './picks.js'

/** Sizes at which each algorithm is measured. */
export const ALGORITHM_SIZES = [8, 1_000, 10_000]

const ALWAYS_FRESH = 3_600_000

/** The algorithms that draw from blocks, beside `leastCpu`. */
export const BLOCK_ALGORITHMS = [random(), roundRobin(), spareCapacity({ ttl: ALWAYS_FRESH })]

/** The name of an algorithm's case. */
export function caseOf(kind: string): string {
  return `select(), ${kind}`
}

/** Picks among members by each algorithm, at each size and by each engine. */
export function algorithmCases(): CaseFamily {
  const pools = ALGORITHM_SIZES.map((nodes) => new Pool(nodes))
  const cases = pools.flatMap((pool) =>
    BLOCK_ALGORITHMS.flatMap((algorithm) =>
      engines.map((engine) => ({
        name: caseOf(algorithm.kind),
        engine,
        nodes: pool.ids.length,
        iterations: 20,
        beforeRound: () => pool.publish(),
        sample: sampleSelect(pool.balancer(engine, algorithm)),
      })),
    ),
  )
  return {
    cases,
    close: async () => {
      for (const pool of pools) await pool.close()
    },
  }
}
