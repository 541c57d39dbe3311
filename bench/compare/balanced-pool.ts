import { BalancedPool, type Dispatcher } from 'undici'
import type { BenchCase } from '../case.js'
import { ownLoop } from '../own-loop.js'
import { nodeIds } from '../pool.js'
import { PEER_CASES } from './names.js'

/**
 * The part of undici's BalancedPool that picks, which is not public: the method that its `dispatch` calls, by the symbol
 * that it has in this version. Undefined where there is none.
 */
export function picksOf(pool: BalancedPool): (() => Dispatcher) | undefined {
  const symbol = Object.getOwnPropertySymbols(BalancedPool.prototype).find(
    ({ description }) => description === 'get dispatcher',
  )
  if (symbol === undefined) return undefined
  const method: unknown = Reflect.get(pool, symbol)
  return typeof method === 'function' ? () => method.call(pool) as Dispatcher : undefined
}

/** A pool over as many nodes, none of which is connected to: all are alike and free. */
export function balancedPool(nodes: number): BalancedPool {
  return new BalancedPool(nodeIds(nodes).map((id) => `http://${id}`))
}

/** undici's BalancedPool: it looks at all of its pools at each pick. */
export function balancedPoolCases(nodes: number): { cases: BenchCase[]; close: () => Promise<void> } {
  const pool = balancedPool(nodes)
  const pick = picksOf(pool)
  const units = nodes > 100 ? 50 : 500
  const cases: BenchCase[] =
    pick === undefined
      ? []
      : [
          {
            name: PEER_CASES.balancedPool,
            engine: '-',
            nodes,
            iterations: 10,
            sample: ownLoop(pick, units),
          },
        ]
  return { cases, close: () => pool.close() }
}
