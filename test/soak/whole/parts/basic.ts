import type { Table } from '../../../../dist/index.js'
import { inFlight } from '../../../../dist/table/in-flight.js'
import type { Balance } from '../words.js'
import { Heard } from './heard.js'
import { Load } from './load.js'
import type { AnyBalancer, Part } from './part.js'

/** How much a lane does in a turn. */
export interface Pace {
  readonly picks: number
  readonly leases: number
  /** The share of leases that fail. Default 0.05. */
  readonly failing?: number
}

/** A balancer with its picks, leases and polls counted. Lanes add to it what they have of their own. */
export class BasicLane implements Part {
  readonly balancer: AnyBalancer
  readonly load: Load
  readonly #table: Table
  readonly #heard: Heard
  readonly #pace: Pace
  #left = 0

  constructor(balancer: AnyBalancer, table: Table, pace: Pace) {
    this.balancer = balancer
    this.#table = table
    this.load = new Load(balancer)
    this.#heard = new Heard(balancer.name)
    this.#pace = pace
  }

  get made() {
    return this.load.made
  }

  turn(): void {
    this.load.picks(this.#pace.picks)
    this.load.leases(this.#pace.leases, this.#pace.failing)
  }

  async settle(): Promise<void> {
    await this.load.settle()
  }

  async close(): Promise<void> {
    this.#left = this.inFlight()
    await this.balancer.close()
  }

  balances(): Balance[] {
    const stats = this.balancer.stats()
    return [
      ...this.load.balances(),
      { what: `${stats.name}: in flight in the end`, counted: this.#left, made: 0 },
      ...this.#heard.balances(stats),
    ]
  }

  /** Over all nodes of the table, members or not. */
  inFlight(): number {
    const table = this.#table
    let sum = 0
    for (const { slot, generation } of table.places()) sum += inFlight(table.memory, slot, generation)
    return sum
  }
}
