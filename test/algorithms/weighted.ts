import {
  type Balancer,
  createBalancer,
  type NodeSnapshot,
  type Report,
  type Table,
  type WeightedRoundRobinOptions,
  weightedRoundRobin,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

/** A report of a utilization 0-1, at 100 requests per second. */
export function loaded(application: number): Report {
  return { qps: 100, application: application * 100 }
}

export interface Weighted {
  readonly balancer: Balancer<string>
  readonly clock: VirtualClock
  report(reports: Record<string, Report>): void
  snapshot(id: string): NodeSnapshot<string> | undefined
  /** Shares as multiples of the smallest, to a hundredth. */
  ratios(): number[]
}

/** Makes balancers by weight, in virtual time. */
export function setUpWeighted(engine: 'native' | 'portable') {
  return (
    nodes: readonly string[],
    options: WeightedRoundRobinOptions = {},
    shared?: { table: Table; clock: VirtualClock },
  ): Weighted => {
    const clock = shared?.clock ?? new VirtualClock(1_000)
    const balancer = createBalancer({
      nodes,
      algorithm: weightedRoundRobin(options),
      poll: false,
      ...(shared === undefined ? { clock } : { table: shared.table }),
      seed: 3,
      engine,
    })
    return {
      balancer,
      clock,
      report(reports) {
        for (const [node, it] of Object.entries(reports)) balancer.report(node, it)
      },
      snapshot: (id) => balancer.snapshot().find((it) => it.id === id),
      ratios() {
        const shares = balancer.snapshot().map(({ share }) => share)
        const least = Math.min(...shares)
        return shares.map((share) => Math.round((share / least) * 100) / 100)
      },
    }
  }
}
