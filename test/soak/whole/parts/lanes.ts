import {
  type Algorithm,
  createBalancer,
  createTable,
  httpTransport,
  leastCpu,
  orcaTransport,
  powerOfTwo,
  prequal,
  spareCapacity,
  weightedRoundRobin,
} from '../../../../dist/index.js'
import { allFaulted } from '../../../poller/faults/transports.js'
import type { AgentPorts, Task } from '../words.js'
import { BasicLane } from './basic.js'
import { POLLING_THREADS, POLLS } from './faults.js'

const ALGORITHMS: readonly Algorithm[] = [
  leastCpu({ ttl: 2_000 }),
  powerOfTwo({ metric: 'cpu' }),
  spareCapacity(),
  weightedRoundRobin(),
]

/** One for each transport, over nodes that do everything wrong. */
export function faultyLanes({ faulty }: Task): BasicLane[] {
  return allFaulted.map(({ name, transport }, i) => {
    const table = createTable()
    const balancer = createBalancer({
      name,
      nodes: faulty[name] ?? [],
      table,
      algorithm: ALGORITHMS[i % ALGORITHMS.length] as Algorithm,
      poll: {
        transport: transport(),
        interval: 300,
        startupJitter: 0,
        workers: POLLING_THREADS,
        timeout: 500,
      },
      health: { ejection: 1_000, maxEjection: 5_000 },
    })
    return new BasicLane(balancer, table, { picks: 300, leases: 3, failing: 0.35 })
  })
}

/** Agents that are probed as picks are made. */
export function probedLane(agents: readonly AgentPorts[]): BasicLane {
  const table = createTable()
  const balancer = createBalancer({
    name: 'probed',
    nodes: agents.map(({ http }) => `127.0.0.1:${http}`),
    table,
    algorithm: prequal(),
    poll: { transport: httpTransport(), ...POLLS },
  })
  return new BasicLane(balancer, table, { picks: 20, leases: 1 })
}

/** Agents that tell unasked, on streams. */
export function streamedLane(name: string, agents: readonly AgentPorts[]): BasicLane {
  const table = createTable()
  const balancer = createBalancer({
    name,
    nodes: agents.map(({ grpc }) => `127.0.0.1:${grpc}`),
    table,
    algorithm: leastCpu({ ttl: 3_000 }),
    poll: {
      transport: orcaTransport({ reportInterval: 100 }),
      ...POLLS,
    },
  })
  return new BasicLane(balancer, table, { picks: 300, leases: 3 })
}
