import type { ExecutionContext } from 'ava'
import {
  type Balancer,
  type BalancerOptions,
  createBalancer,
  functionTransport,
  leastCpu,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

export interface Watched {
  readonly balancer: Balancer
  readonly clock: VirtualClock
}

/** A balancer in virtual time, called `mine`, until the test ends. */
export function watched(t: ExecutionContext, options: Partial<BalancerOptions<string>> = {}): Watched {
  const clock = new VirtualClock()
  const balancer = createBalancer({
    nodes: ['a', 'b', 'c'],
    algorithm: leastCpu(),
    poll: false,
    clock,
    seed: 1,
    name: 'mine',
    ...options,
  })
  t.teardown(() => balancer.close())
  return { balancer, clock }
}

/** The same, that polls each second; answers take 40 ms, and that of `c` is none. Give it a name: tests run side by side. */
export function polling(
  t: ExecutionContext,
  options: Partial<BalancerOptions<string>> & { name: string },
): Watched {
  const clock = new VirtualClock()
  const transport = functionTransport(async (node) => {
    await new Promise<void>((resolve) => clock.setTimeout(resolve, 40))
    return { cpu: node === 'c' ? -1 : 20 }
  })
  const balancer = createBalancer({
    nodes: ['a', 'b', 'c'],
    algorithm: leastCpu(),
    poll: { transport, interval: 1_000, timeout: 500, startupJitter: 0 },
    clock,
    seed: 1,
    ...options,
  })
  t.teardown(() => balancer.close())
  return { balancer, clock }
}
