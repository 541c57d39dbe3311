import { type Balancer, createBalancer, type HealthOptions, random } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

interface Setting {
  readonly nodes?: readonly string[]
  readonly health?: HealthOptions | false
  readonly engine?: 'native' | 'portable'
  readonly name?: string
}

/** A balancer whose nodes answer as they are told to, in virtual time. */
export function setUp({
  nodes = ['a', 'b', 'c', 'd'],
  health = {},
  engine = 'portable',
  name = 'health',
}: Setting = {}) {
  const clock = new VirtualClock()
  const balancer = createBalancer({
    name,
    nodes,
    health,
    engine,
    poll: false,
    algorithm: random(),
    clock,
    seed: 1,
  })
  /** Ends so many requests of a node. */
  const end = (node: string, ok: boolean, times = 1) => {
    for (let i = 0; i < times; i++) leaseOn(balancer, node).release({ ok })
  }
  return { clock, balancer, end, fail: (node: string, times = 1) => end(node, false, times) }
}

/** A lease on this node. */
export function leaseOn(balancer: Balancer<string>, node: string) {
  return balancer.acquire({ exclude: balancer.nodes.filter((other) => other !== node) })
}

/** Who is ejected. */
export function ejected(balancer: Balancer<string>): string {
  return balancer
    .snapshot()
    .flatMap(({ id, ejected }) => (ejected === undefined ? [] : [id]))
    .join('')
}
