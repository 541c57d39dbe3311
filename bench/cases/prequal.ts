import { prequal } from '../../dist/index.js'
import type { BenchCase } from '../case.js'
import { engines } from '../engines.js'
import type { Pool } from '../pool.js'
import { sampleSelect } from './picks.js'

const ENTRIES = 16

// Without probes entries are used as often as one likes, so that the pool stays full: what a pick costs at most.
const algorithm = prequal({ probes: 0, removals: 0, maxAge: 3_600_000, pool: ENTRIES })

/** Picks from a full pool of probes. */
export function prequalCases(pool: Pool): BenchCase[] {
  return engines.map((engine) => {
    const balancer = pool.balancer(engine, algorithm)
    return {
      name: 'select(), prequal, a full pool',
      engine,
      nodes: pool.ids.length,
      iterations: 20,
      beforeRound: () => {
        for (const [i, id] of pool.ids.slice(0, ENTRIES).entries()) {
          balancer.report(id, { inFlight: i % 5, latency: 10 + i })
        }
      },
      sample: sampleSelect(balancer),
    }
  })
}
