import { adaptive, type Balancer, type Lease } from '../../dist/index.js'
import { type CaseFamily, consume, UNITS } from '../case.js'
import { engines } from '../engines.js'
import { Pool } from '../pool.js'

/** Names of the cases. */
export const LEASES = 'acquire + release'
export const ADAPTIVE_LEASES = 'acquire + release, adaptive'

/** Leases that are open at a time. */
const OPEN = 64

/** Samples of a lease. Each outlives the next ones, as it does in a service: else the compiler would not even make it. */
export function sampleLeases(balancer: Balancer<string>): () => number {
  const open: Lease<string>[] = Array.from({ length: OPEN }, () => balancer.acquire())
  return () => {
    let sum = 0
    const start = performance.now()
    for (let i = 0; i < UNITS; i++) {
      const place = i % OPEN
      const lease = open[place] as Lease<string>
      sum += lease.node.length
      lease.release()
      open[place] = balancer.acquire()
    }
    const end = performance.now()
    consume(sum)
    return (end - start) / UNITS
  }
}

/** A pick that counts as in flight, and its release. */
export function leaseCases(): CaseFamily {
  const pools = [8, 10_000].map((nodes) => new Pool(nodes))
  return {
    topic: 'leases',
    cases: pools.flatMap((pool) =>
      engines.flatMap((engine) => {
        const shape = {
          engine,
          nodes: pool.ids.length,
          unit: 'pick and release' as const,
          iterations: 20,
          beforeRound: () => pool.publish(),
        }
        return [
          { ...shape, name: LEASES, sample: sampleLeases(pool.balancer(engine)) },
          { ...shape, name: ADAPTIVE_LEASES, sample: sampleLeases(pool.balancer(engine, adaptive())) },
        ]
      }),
    ),
    close: async () => {
      for (const pool of pools) await pool.close()
    },
  }
}
