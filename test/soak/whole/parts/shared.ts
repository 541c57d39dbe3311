import { createBalancer, createTable, httpTransport, leastConnections } from '../../../../dist/index.js'
import { BasicLane } from './basic.js'
import { POLLS } from './faults.js'
import { until } from './until.js'

/** A balancer over a table in a file that another process has too, which is killed with leases open. */
export class SharedLane extends BasicLane {
  constructor(file: string, nodes: readonly string[]) {
    const table = createTable({ file })
    const balancer = createBalancer({
      name: 'shared',
      nodes,
      table,
      algorithm: leastConnections({ exact: true }),
      poll: { transport: httpTransport(), ...POLLS },
    })
    super(balancer, table, { picks: 300, leases: 3 })
  }

  override async settle(): Promise<void> {
    await super.settle()
    // What the other process had is taken back by a look, one a second.
    await until(() => this.inFlight() === 0)
  }
}
