import { P2cBalancer, RandomBalancer } from 'load-balancers'
import type { BenchCase } from '../case.js'
import { ownLoop } from '../own-loop.js'
import { nodeIds } from '../pool.js'
import { PEER_CASES } from './names.js'

/** load-balancers: what it gives is an index, which its user looks up. It counts picks, and knows of no load. */
export function countingCases(nodes: number): BenchCase[] {
  const shape = { engine: '-', nodes, iterations: 20 } as const
  const ids = nodeIds(nodes)
  const twoChoices = new P2cBalancer(nodes)
  const random = new RandomBalancer(nodes)
  return [
    {
      ...shape,
      name: PEER_CASES.twoChoices,
      sample: ownLoop(() => ids[twoChoices.pick()]),
    },
    {
      ...shape,
      name: PEER_CASES.randomBalancer,
      sample: ownLoop(() => ids[random.pick()]),
    },
  ]
}
