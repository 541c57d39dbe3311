import test from 'ava'
import fc from 'fast-check'
import {
  type Algorithm,
  type Balancer,
  createBalancer,
  createTable,
  type Lease,
  leastConnections,
  powerOfTwo,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'

type Act =
  | { readonly kind: 'select' | 'acquire'; readonly times: number }
  | { readonly kind: 'release' | 'publish' | 'snapshot' | 'stats' }
  | { readonly kind: 'exclude' | 'remove' | 'add'; readonly node: number }
  | { readonly kind: 'report'; readonly node: number; readonly inFlight: number }
  | { readonly kind: 'fill'; readonly count: number }

const node = fc.nat(11)
const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constantFrom('select' as const, 'acquire' as const),
      times: fc.integer({ min: 1, max: 200 }),
    }),
    fc.record({
      kind: fc.constantFrom('release' as const, 'publish' as const, 'snapshot' as const, 'stats' as const),
    }),
    fc.record({ kind: fc.constantFrom('exclude' as const, 'remove' as const, 'add' as const), node }),
    fc.record({ kind: fc.constant('report' as const), node, inFlight: fc.integer({ min: 0, max: 9 }) }),
    fc.record({ kind: fc.constant('fill' as const), count: fc.nat(40) }),
  ),
  { maxLength: 30 },
)

/** Does all that, and gives what was picked and what was counted. */
function playOf(
  engine: 'native' | 'portable',
  algorithm: Algorithm,
  exact: boolean,
  acts: readonly Act[],
): unknown[] {
  const id = (i: number) => `n${i}`
  const clock = new VirtualClock()
  const table = exact ? createTable({ clock }) : createTable()
  const nodes = Array.from({ length: 8 }, (_, i) => id(i))
  const balancer: Balancer<string> = createBalancer({ nodes, algorithm, engine, table, poll: false, seed: 3 })
  const leases: Lease<string>[] = []
  const said: unknown[] = []
  for (const act of acts) {
    switch (act.kind) {
      case 'select':
        for (let i = 0; i < act.times; i++) said.push(balancer.select())
        break
      case 'acquire':
        for (let i = 0; i < act.times; i++) leases.push(balancer.acquire())
        break
      case 'release':
        for (const lease of leases.splice(0, leases.length >> 1)) lease.release()
        break
      case 'publish':
        table.publish()
        break
      case 'snapshot':
        said.push(balancer.snapshot().map(({ picks, inFlight }) => [picks, inFlight]))
        break
      case 'stats':
        said.push(balancer.stats().picks)
        break
      case 'exclude':
        said.push(balancer.select({ exclude: [id(act.node)] }))
        break
      case 'remove':
        if (balancer.nodes.length > 2) balancer.remove(id(act.node))
        break
      case 'add':
        balancer.add(id(act.node))
        break
      case 'report':
        balancer.report(id(act.node), { inFlight: act.inFlight })
        break
      case 'fill': {
        const into = new Uint32Array(act.count)
        balancer.fill(into)
        said.push([...into])
      }
    }
  }
  said.push(
    leases.map((lease) => lease.node),
    balancer.snapshot().map(({ picks }) => picks),
  )
  return said
}

// Without cargo there is no native engine to compare with.
const compared =
  engines.length === 2 ? [leastConnections(), powerOfTwo({ metric: 'inFlight', ttl: 1e9 })] : []
for (const algorithm of compared) {
  for (const exact of [true, false]) {
    test(`${algorithm.kind}, ${exact ? "a clock of one's own" : "the process's clock"}: pairs drawn ahead change no pick, whatever comes between`, (t) => {
      fc.assert(
        fc.property(acts, (acts) => {
          t.deepEqual(playOf('native', algorithm, exact, acts), playOf('portable', algorithm, exact, acts))
        }),
        { numRuns: 200 },
      )
    })
  }
}
