import {
  type Algorithm,
  type Balancer,
  createBalancer,
  createTable,
  leastCpu,
  type Table,
} from '../dist/index.js'
import { CPU_MAX, MILLI } from '../dist/table/layout.js'
import type { Entry } from '../dist/table/table.js'
import { Chance } from './chance.js'

/** So long that no reading expires while the bench runs. */
export const algorithm = leastCpu({ ttl: 3_600_000 })

/** Ids as pools have them: addresses with a port. */
export function nodeIds(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}:8080`)
}

/** Nodes in a table of their own unless one is given, with readings by chance, and balancers over them. */
export class Pool {
  readonly ids: readonly string[]
  readonly table: Table
  readonly #chance: Chance
  readonly #entries: readonly Entry[]
  readonly #balancers: Balancer<string>[] = []

  constructor(nodes: number, table: Table = createTable()) {
    this.ids = nodeIds(nodes)
    this.table = table
    this.#chance = new Chance(nodes)
    this.balancer('portable')
    this.#entries = this.ids.map((id) => this.table.find(id) as Entry)
    this.publish()
  }

  /** Another balancer, that has all nodes as members; by `leastCpu` unless told otherwise. */
  balancer(engine: 'native' | 'portable', by: Algorithm = algorithm): Balancer<string> {
    const { ids: nodes, table } = this
    const balancer = createBalancer({ nodes, table, algorithm: by, engine, poll: false, seed: 1 })
    this.#balancers.push(balancer)
    return balancer
  }

  /** Gives every node another reading. */
  write(): void {
    const now = this.table.now()
    for (const entry of this.#entries)
      this.table.write(entry, now, { cpu: this.#chance.below(CPU_MAX + 1) / MILLI })
  }

  /** Gives every node another reading and publishes them at once, as a poll cycle does. */
  publish(): void {
    this.write()
    this.table.publish()
  }

  async close(): Promise<void> {
    for (const balancer of this.#balancers) await balancer.close()
  }
}
