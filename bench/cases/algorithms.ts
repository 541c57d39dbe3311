import {
  type Algorithm,
  leastConnections,
  powerOfTwo,
  random,
  roundRobin,
  spareCapacity,
} from '../../dist/index.js'
import type { CaseFamily } from '../case.js'
import { engines } from '../engines.js'
import { Pool } from '../pool.js'
import { sampleSelect } from './picks.js'

/** Sizes at which each algorithm is measured. */
export const ALGORITHM_SIZES = [8, 1_000, 10_000]

const ALWAYS_FRESH = 3_600_000

/** The algorithms beside `leastCpu`, and what a pick may cost at most, in floors. */
export const ALGORITHMS: readonly {
  /** Default: the algorithm's kind. */
  readonly name?: string
  readonly algorithm: Algorithm
  readonly atMost: number
}[] = [
  // These draw from blocks.
  { algorithm: random(), atMost: 1.2 },
  { algorithm: roundRobin(), atMost: 1.2 },
  { algorithm: spareCapacity({ ttl: ALWAYS_FRESH }), atMost: 1.2 },
  { name: 'powerOfTwo by cpu', algorithm: powerOfTwo({ metric: 'cpu', ttl: ALWAYS_FRESH }), atMost: 2.5 },
  // These have to look at each pick.
  { algorithm: leastConnections(), atMost: 2.5 },
  {
    name: 'powerOfTwo by inFlight',
    algorithm: powerOfTwo({ metric: 'inFlight', ttl: ALWAYS_FRESH }),
    atMost: 2.5,
  },
]

/** The name of an algorithm's case. */
export function caseOf({ algorithm, name = algorithm.kind }: (typeof ALGORITHMS)[number]): string {
  return `select(), ${name}`
}

/** Picks among members by each algorithm, at each size and by each engine. */
export function algorithmCases(): CaseFamily {
  const pools = ALGORITHM_SIZES.map((nodes) => new Pool(nodes))
  const cases = pools.flatMap((pool) =>
    ALGORITHMS.flatMap((measured) =>
      engines.map((engine) => ({
        name: caseOf(measured),
        engine,
        nodes: pool.ids.length,
        iterations: 20,
        beforeRound: () => pool.publish(),
        sample: sampleSelect(pool.balancer(engine, measured.algorithm)),
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
