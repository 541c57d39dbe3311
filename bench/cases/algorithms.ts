import {
  type Algorithm,
  leastConnections,
  powerOfTwo,
  random,
  roundRobin,
  spareCapacity,
  weightedRoundRobin,
} from '../../dist/index.js'
import type { BenchCase, CaseFamily } from '../case.js'
import { engines } from '../engines.js'
import { ownLoop } from '../own-loop.js'
import { Pool } from '../pool.js'
import { sampleReading, sampleSelect } from './picks.js'
import { prequalCases } from './prequal.js'

/** Sizes at which each algorithm is measured. */
export const ALGORITHM_SIZES = [8, 1_000, 10_000]

const ALWAYS_FRESH = 3_600_000

export interface AlgorithmCase {
  readonly algorithm: Algorithm
  /** What sets it apart from others of its kind. */
  readonly variant?: string
  /** What a pick may cost at most, in floors. */
  readonly atMost: number
}

/** The algorithms beside `leastCpu`, and what a pick may cost at most, in floors. */
export const ALGORITHMS: readonly AlgorithmCase[] = [
  // These draw from blocks.
  { algorithm: random(), atMost: 1.2 },
  { algorithm: roundRobin(), atMost: 1.2 },
  { algorithm: spareCapacity({ ttl: ALWAYS_FRESH }), atMost: 1.2 },
  { algorithm: powerOfTwo({ metric: 'cpu', ttl: ALWAYS_FRESH }), variant: 'by cpu', atMost: 2.5 },
  // These have to look at each pick.
  { algorithm: leastConnections(), atMost: 2.5 },
  { algorithm: powerOfTwo({ metric: 'inFlight', ttl: ALWAYS_FRESH }), variant: 'by inFlight', atMost: 2.5 },
  // And this one takes a turn that threads share.
  { algorithm: roundRobin({ shared: true }), variant: 'shared', atMost: 2 },
]

/** Weights for `weightedRoundRobin`, by the place of a node, and what a pick may cost at most, in floors. */
export const WEIGHTINGS: readonly {
  readonly name: string
  readonly weightOf: (place: number) => number
  readonly atMost: number
}[] = [
  // The mean is three quarters of the largest; a tenth of it; and next to nothing.
  { name: 'weightedRoundRobin, alike', weightOf: (place) => 10 + (place % 11), atMost: 1.2 },
  { name: 'weightedRoundRobin, uneven', weightOf: (place) => (place % 20 === 0 ? 81 : 1), atMost: 5 },
  { name: 'weightedRoundRobin, one large', weightOf: (place) => (place === 0 ? 1e9 : 1), atMost: 5 },
]

/** What an algorithm is called: its kind, and what sets it apart. */
export function nameOf({ algorithm, variant }: AlgorithmCase): string {
  return variant === undefined ? algorithm.kind : `${algorithm.kind} ${variant}`
}

/** The name of an algorithm's case. */
export function caseOf(kind: string): string {
  return `select(), ${kind}`
}

// What looking into 10,000 strings by chance costs: after a pick, and without one.
function readingCases(pool: Pool): BenchCase[] {
  const { ids } = pool
  const shape = { nodes: ids.length, iterations: 20, beforeRound: () => pool.publish() }
  const reading = [random(), spareCapacity({ ttl: ALWAYS_FRESH })].flatMap((algorithm) =>
    engines.map((engine) => ({
      ...shape,
      name: `${caseOf(algorithm.kind)}, its length read`,
      engine,
      sample: sampleReading(pool.balancer(engine, algorithm)),
    })),
  )
  const any = () => ids[Math.floor(Math.random() * ids.length)] as string
  return [
    ...reading,
    { ...shape, name: 'array[random]', engine: '-', sample: ownLoop(() => any()) },
    { ...shape, name: 'array[random], its length read', engine: '-', sample: ownLoop(() => any().length) },
  ]
}

/** Picks among members by each algorithm, at each size and by each engine. */
export function algorithmCases(): CaseFamily {
  const pools = ALGORITHM_SIZES.map((nodes) => new Pool(nodes))
  const cases: BenchCase[] = pools.flatMap((pool) =>
    ALGORITHMS.flatMap((one) =>
      engines.map((engine) => ({
        name: caseOf(nameOf(one)),
        engine,
        nodes: pool.ids.length,
        iterations: 20,
        beforeRound: () => pool.publish(),
        sample: sampleSelect(pool.balancer(engine, one.algorithm)),
      })),
    ),
  )
  for (const pool of pools) {
    for (const { name, weightOf } of WEIGHTINGS) {
      const weights = Object.fromEntries(pool.ids.map((id, place) => [id, weightOf(place)]))
      for (const engine of engines) {
        cases.push({
          name: caseOf(name),
          engine,
          nodes: pool.ids.length,
          iterations: 20,
          beforeRound: () => pool.publish(),
          sample: sampleSelect(pool.balancer(engine, weightedRoundRobin({ weights }))),
        })
      }
    }
  }
  const largest = pools.at(-1)
  for (const pool of pools) cases.push(...prequalCases(pool))
  if (largest !== undefined) cases.push(...readingCases(largest))
  return {
    topic: 'algorithms',
    cases,
    close: async () => {
      for (const pool of pools) await pool.close()
    },
  }
}
