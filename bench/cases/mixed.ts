import type { Balancer } from '../../dist/index.js'
import { type CaseFamily, consume, UNITS } from '../case.js'
import { engines } from '../engines.js'
import { Pool } from '../pool.js'

const BALANCERS = 5

function sampleInTurn(balancers: readonly Balancer<string>[]): () => number {
  return () => {
    let sum = 0
    const start = performance.now()
    for (let i = 0; i < UNITS; i += BALANCERS) {
      for (let j = 0; j < BALANCERS; j++) sum += (balancers[j] as Balancer<string>).select().length
    }
    const end = performance.now()
    consume(sum)
    return (end - start) / UNITS
  }
}

/** Several balancers through one place in the code: as fast as one, if they look alike to the compiler. */
export function mixedCases(): CaseFamily {
  const pools = [8, 64].map((nodes) => new Pool(nodes))
  const balancers = Array.from({ length: BALANCERS }, (_, i) => {
    const pool = pools[i % pools.length] as Pool
    return pool.balancer(engines[i % engines.length] ?? 'portable')
  })
  return {
    topic: 'picks',
    cases: [
      {
        name: `select(), ${BALANCERS} balancers in turn`,
        engine: '-',
        nodes: 8,
        iterations: 20,
        beforeRound: () => {
          for (const pool of pools) pool.publish()
        },
        sample: sampleInTurn(balancers),
      },
    ],
    close: async () => {
      for (const pool of pools) await pool.close()
    },
  }
}
