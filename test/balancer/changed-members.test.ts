import test from 'ava'
import fc from 'fast-check'
import {
  type AttachedBalancer,
  attachBalancer,
  createBalancer,
  DuplicateNodeError,
  leastCpu,
} from '../../dist/index.js'
import { engines } from '../support/engines.js'

const IDS = Array.from({ length: 60 }, (_, i) => `n${i}`)

const id = fc.constantFrom(...IDS)
const change = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), id }),
  fc.record({ kind: fc.constant('remove' as const), id }),
  fc.record({ kind: fc.constant('drain' as const), id }),
  fc.record({ kind: fc.constant('set' as const), ids: fc.shuffledSubarray(IDS) }),
  // As a discovery does: most stay.
  fc.record({ kind: fc.constant('replace' as const), id, by: id }),
  fc.record({ kind: fc.constant('removeMany' as const), ids: fc.subarray(IDS, { minLength: 20 }) }),
)
const steps = fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 12 })

for (const engine of engines) {
  test(`${engine}: whatever changes between two picks, each member is picked for its own report, here and in attached threads`, async (t) => {
    await fc.assert(
      fc.asyncProperty(steps, async (steps) => {
        const balancer = createBalancer({
          nodes: IDS.slice(0, 30),
          algorithm: leastCpu({ threshold: 0, ttl: 1e6 }),
          poll: false,
          engine,
        })
        const attached: AttachedBalancer = attachBalancer(structuredClone(balancer.handle()), { engine })
        let members = IDS.slice(0, 30)
        const drained = new Set<string>()
        try {
          for (const changes of steps) {
            for (const one of changes) members = made(one, members, drained)
            t.deepEqual(balancer.nodes, members)
            const up = members.filter((id) => !drained.has(id))
            t.deepEqual(balancer.available, up)
            t.deepEqual(
              balancer.snapshot().map(({ id }) => id),
              members,
            )
            for (const id of members) balancer.report(id, { cpu: 50 })
            // The other thread is told by messages.
            const isTold = () => String([attached.nodes, attached.available]) === String([members, up])
            const end = performance.now() + 5_000
            while (!isTold() && performance.now() < end)
              await new Promise((resolve) => setTimeout(resolve, 1))
            for (const id of up.slice(0, 5)) {
              balancer.report(id, { cpu: 1 })
              t.is(balancer.select(), id)
              t.is(attached.select(), id)
              balancer.report(id, { cpu: 60 })
            }
            t.deepEqual(attached.nodes, members)
            t.deepEqual(attached.available, up)
          }
        } finally {
          attached.close()
          await balancer.close()
        }

        function made(
          one: (typeof steps)[number][number],
          members: string[],
          drained: Set<string>,
        ): string[] {
          if (one.kind === 'add') {
            balancer.add(one.id)
            drained.delete(one.id)
            return members.includes(one.id) ? members : [...members, one.id]
          }
          if (one.kind === 'drain') {
            if (!members.includes(one.id)) return members
            void balancer.drain(one.id)
            drained.add(one.id)
            return members
          }
          if (one.kind === 'remove' || one.kind === 'removeMany') {
            const gone = one.kind === 'remove' ? [one.id] : one.ids
            for (const id of gone) {
              balancer.remove(id)
              drained.delete(id)
            }
            return members.filter((id) => !gone.includes(id))
          }
          const next =
            one.kind === 'set'
              ? one.ids
              : members.includes(one.by)
                ? members
                : members.map((id) => (id === one.id ? one.by : id))
          balancer.setNodes(next)
          for (const id of members) if (!next.includes(id)) drained.delete(id)
          return next
        }
      }),
      { numRuns: 60 },
    )
  })
}

test('an id that stands twice changes nothing, wherever it stands', async (t) => {
  await using balancer = createBalancer({ nodes: ['a', 'b', 'c'], poll: false })
  for (const nodes of [
    ['a', 'b', 'c', 'a'],
    ['a', 'a', 'b'],
    ['x', 'a', 'x'],
    ['c', 'b', 'b'],
  ]) {
    t.throws(() => balancer.setNodes(nodes), { instanceOf: DuplicateNodeError })
    t.deepEqual(balancer.nodes, ['a', 'b', 'c'])
  }
})
