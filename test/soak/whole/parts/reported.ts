import { createBalancer, createTable, type Observed, weightedRoundRobin } from '../../../../dist/index.js'
import type { Balance } from '../words.js'
import { BasicLane } from './basic.js'

const NODES = Array.from({ length: 20 }, (_, i) => `told-${i}`)
/** What is observed, and what is to become of it; `older` may have the same form as `stored`. */
const HEADERS: readonly (readonly [string | undefined, Observed])[] = [
  [undefined, 'absent'],
  ['TEXT cpu_utilization=0.3,rps_fractional=100', 'stored'],
  ['TEXT named_metrics.nothing=1', 'empty'],
  ['JSON {"cpu_utilization":', 'bad'],
  ['TEXT cpu_utilization=NaN', 'bad'],
]

/** A balancer that hears of its nodes by `report()` and by responses, right and wrong; and picks from arrays. */
export class ReportedLane extends BasicLane {
  readonly #told: ReturnType<typeof createBalancer>
  readonly #given = { stored: 0, older: 0, empty: 0, unknown: 0 }
  readonly #observed = { stored: 0, older: 0, empty: 0, absent: 0, bad: 0, unknown: 0 }
  #turns = 0

  constructor() {
    const table = createTable()
    const balancer = createBalancer({
      name: 'reported',
      nodes: NODES,
      table,
      poll: false,
      algorithm: weightedRoundRobin({ blackoutPeriod: 0 }),
    })
    super(balancer, table, { picks: 300, leases: 2 })
    this.#told = balancer
  }

  override turn(): void {
    super.turn()
    const told = this.#told
    const start = this.#turns++ % NODES.length
    for (let i = 0; i < 5; i++) {
      // Another array each time.
      const some = NODES.slice(start, start + 2 + i)
      this.load.pick(() => told.select(some))
      const node = some[0] as string
      this.#report(node, { cpu: Math.random() * 100, qps: 50 }, 'stored')
      this.#report(node, { cpu: 1, age: 60_000 }, 'older')
      this.#report(node, { named: { nothing: i } }, 'empty')
      this.#report(`stranger-${i}`, { cpu: 1 }, 'unknown')
      for (const [header, expected] of HEADERS) this.#observe(node, header, expected)
      this.#observe('a stranger', HEADERS[1]?.[0], 'unknown')
    }
  }

  /** Reports so far. */
  get reports(): number {
    return [...Object.values(this.#given), ...Object.values(this.#observed)].reduce(
      (sum, count) => sum + count,
      0,
    )
  }

  override balances(): Balance[] {
    const { picks, inBand } = this.balancer.stats()
    const { stored, older, empty, unknown } = this.#given
    return [
      ...super.balances(),
      { what: 'reports stored', counted: picks.reportsStored, made: stored },
      { what: 'reports older', counted: picks.reportsOlder, made: older },
      { what: 'reports empty', counted: picks.reportsEmpty, made: empty },
      { what: 'reports of strangers', counted: picks.reportsUnknown, made: unknown },
      ...Object.entries(this.#observed).map(([became, made]) => ({
        what: `responses ${became}`,
        counted: inBand[became as Observed],
        made,
      })),
    ]
  }

  #report(
    node: string,
    report: Parameters<ReturnType<typeof createBalancer>['report']>[1],
    became: 'stored' | 'older' | 'empty' | 'unknown',
  ): void {
    this.#given[became]++
    this.#told.report(node, report)
  }

  #observe(node: string, header: string | undefined, became: Observed): void {
    this.#observed[became]++
    this.#told.observe(node, header === undefined ? {} : { 'endpoint-load-metrics': header })
  }
}
