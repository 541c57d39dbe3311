import type { CaseFamily } from '../case.js'
import { balancedPoolCases } from './balanced-pool.js'
import { countingCases } from './counting.js'
import { grpcCases } from './grpc.js'
import { ringCases } from './rings.js'

/** Sizes at which others are measured. */
const COMPARED_SIZES = [8, 1_000]

/** What people would install instead. There are no bars for them. */
export function peerCases(): CaseFamily {
  const pools = COMPARED_SIZES.map(balancedPoolCases)
  const pickers = COMPARED_SIZES.map(grpcCases)
  return {
    topic: 'peers',
    cases: [
      ...ringCases(),
      ...COMPARED_SIZES.flatMap(countingCases),
      ...pools.flatMap(({ cases }) => cases),
      ...pickers.flatMap(({ cases }) => cases),
    ],
    close: async () => {
      for (const { close } of pickers) close()
      for (const { close } of pools) await close()
    },
  }
}
