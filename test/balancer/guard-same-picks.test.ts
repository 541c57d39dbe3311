import test from 'ava'
import fc from 'fast-check'
import type { Algorithm } from '../../dist/algorithms/registry.js'
import {
  adaptive,
  createBalancer,
  type Lease,
  leastConnections,
  leastCpu,
  peakEwma,
  powerOfTwo,
  prequal,
  random,
  roundRobin,
  spareCapacity,
  weightedRoundRobin,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'

const NODES = ['a', 'b', 'c', 'd']

const algorithms: fc.Arbitrary<Algorithm> = fc.constantFrom(
  random(),
  random({ weights: { a: 3 } }),
  roundRobin(),
  leastCpu(),
  spareCapacity(),
  weightedRoundRobin({ blackoutPeriod: 0 }),
  leastConnections(),
  powerOfTwo({ metric: 'inFlight' }),
  powerOfTwo({ metric: 'cpu', unknown: 'fail' }),
  prequal(),
  peakEwma(),
  adaptive(),
)

const node = fc.constantFrom(...NODES)
const step = fc.oneof(
  fc.record({ kind: fc.constant('weigh' as const), node, weight: fc.constantFrom(0, 10, 50, 100) }),
  fc.record({ kind: fc.constant('limit' as const), node, maxInFlight: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ kind: fc.constant('load' as const), node, cpu: fc.integer({ min: 0, max: 100 }) }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 4_000 }) }),
  fc.record({ kind: fc.constantFrom('remove' as const, 'add' as const), node }),
  fc.record({ kind: fc.constant('select' as const), times: fc.integer({ min: 1, max: 50 }) }),
  fc.record({ kind: fc.constant('fill' as const), times: fc.integer({ min: 1, max: 50 }) }),
  fc.record({ kind: fc.constant('exclude' as const), node }),
  fc.record({ kind: fc.constant('acquire' as const), times: fc.integer({ min: 1, max: 5 }) }),
  fc.record({
    kind: fc.constant('release' as const),
    which: fc.nat(),
    ok: fc.boolean(),
    latency: fc.nat(50),
  }),
)

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

interface Setting {
  readonly algorithm: Algorithm
  readonly maxShare: number
  readonly seed: number
}

// All that can be seen of a run; selections are made one at a time or as a block.
function run(steps: readonly Step[], engine: 'native' | 'portable', setting: Setting): unknown[] {
  const clock = new VirtualClock()
  const balancer = createBalancer({ ...setting, nodes: NODES, engine, poll: false, clock })
  const leases: Lease<string>[] = []
  const seen: unknown[] = []
  for (const step of steps) {
    if (step.kind === 'weigh') balancer.report(step.node, { weight: step.weight })
    else if (step.kind === 'limit') balancer.report(step.node, { maxInFlight: step.maxInFlight })
    else if (step.kind === 'load')
      balancer.report(step.node, { cpu: step.cpu, qps: step.cpu + 1, inFlight: 100 - step.cpu })
    else if (step.kind === 'wait') clock.jump(step.ms)
    else if (step.kind === 'remove') balancer.remove(step.node)
    else if (step.kind === 'add') balancer.add(step.node)
    else if (step.kind === 'select') for (let i = 0; i < step.times; i++) seen.push(balancer.trySelect())
    else if (step.kind === 'exclude') seen.push(balancer.trySelect({ exclude: [step.node] }))
    else if (step.kind === 'release') leases.splice(step.which % (leases.length || 1), 1)[0]?.release(step)
    else if (step.kind === 'fill') {
      const into = new Uint32Array(step.times)
      try {
        seen.push(balancer.fill(into), ...into)
      } catch (error) {
        seen.push((error as Error).message, ...into)
      }
    } else if (step.kind === 'acquire') {
      for (let i = 0; i < step.times; i++) {
        try {
          const lease = balancer.acquire()
          leases.push(lease)
          seen.push(lease.node)
        } catch (error) {
          seen.push((error as Error).message)
        }
      }
    }
  }
  seen.push(balancer.stats().guard, balancer.stats().picks)
  return seen
}

if (engines.length > 1) {
  test('both engines make the same picks, also where some are passed over', (t) => {
    fc.assert(
      fc.property(
        algorithms,
        fc.constantFrom(1, 1, 0.5, 0.2),
        fc.nat(),
        fc.array(step, { minLength: 1, maxLength: 30 }),
        (algorithm, maxShare, seed, steps) => {
          const setting = { algorithm, maxShare, seed }
          t.deepEqual(run(steps, 'native', setting), run(steps, 'portable', setting))
        },
      ),
      { numRuns: 600 },
    )
  })
}
