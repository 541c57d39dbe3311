import type { ExecutionContext } from 'ava'
import {
  type Algorithm,
  type Balancer,
  createBalancer,
  type LiveNode,
  type LiveServer,
  type LiveView,
  leastCpu,
  type ServeOptions,
} from '../../dist/index.js'
import type { LiveHead } from '../../dist/live/live-view.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

export interface Served {
  readonly balancer: Balancer
  readonly clock: VirtualClock
  readonly server: LiveServer
}

/** A balancer in virtual time that is served until the test ends. */
export async function served(
  t: ExecutionContext,
  options: ServeOptions = {},
  nodes: readonly string[] = ['a', 'b', 'c'],
  algorithm: Algorithm = leastCpu(),
): Promise<Served> {
  const clock = new VirtualClock()
  const balancer = createBalancer({ nodes, algorithm, poll: false, clock, seed: 1, name: 'mine' })
  t.teardown(() => balancer.close())
  return { balancer, clock, server: await balancer.serve(options) }
}

/** The view that is served as a document. */
export async function snapshotAt(url: string, headers: Record<string, string> = {}): Promise<LiveView> {
  const response = await fetch(`${url}snapshot`, { headers })
  if (!response.ok) throw new Error(`${response.status}`)
  return (await response.json()) as LiveView
}

/** A head with all that a frame has to have. */
export const liveHead = {
  balancer: 'mine',
  engine: 'portable',
  algorithm: 'random',
  rules: { algorithm: 'random' },
  time: 0,
  uptime: 0,
  interval: 1_000,
  window: 0,
  picks: 0,
  picksPerSecond: 0,
  empty: 0,
  stats: { health: { ejected: 0, isOpen: false }, suspicion: { suspects: 0 } },
} as unknown as LiveHead

/** A node of which nothing is known but this. */
export function liveNode(id: string, some: Partial<LiveNode> = {}): LiveNode {
  return {
    id,
    state: 'up',
    order: 'up',
    told: {},
    fixedWeight: undefined,
    ejected: undefined,
    suspect: undefined,
    isReserve: false,
    part: 1,
    isCapped: false,
    poll: undefined,
    cpu: undefined,
    age: undefined,
    fresh: false,
    effective: undefined,
    cost: undefined,
    weight: undefined,
    share: 0,
    report: {},
    inFlight: 0,
    picks: 0,
    picksPerSecond: 0,
    sentShare: undefined,
    released: 0,
    failed: 0,
    latency: undefined,
    reason: undefined,
    why: undefined,
    ...some,
  }
}
