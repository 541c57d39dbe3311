import type { CaseFamily } from '../case.js'
import { balancedPoolCases } from '../comparisons/balanced-pool.js'
import { countingCases } from '../comparisons/counting.js'
import { grpcCases } from '../comparisons/grpc.js'
import { ringCases } from '../comparisons/rings.js'

/** Sizes at which others are measured. */
const COMPARED_SIZES = [8, 1_000]

/** What people would install instead, each under its own name and version. There are no bars for them. */
export function comparisonCases(): CaseFamily {
  const pools = COMPARED_SIZES.map(balancedPoolCases)
  const pickers = COMPARED_SIZES.map(grpcCases)
  return {
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
