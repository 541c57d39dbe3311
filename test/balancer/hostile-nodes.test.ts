import test from 'ava'
import {
  BadNodeError,
  type Balancer,
  createBalancer,
  createTable,
  DuplicateNodeError,
  type NodeLike,
  NoNodesError,
  select,
} from '../../dist/index.js'
import { engines } from '../support/engines.js'

// A hole is not written as a literal, which linters take for a slip.
function withHole(): string[] {
  const nodes = ['a', 'b', 'c']
  delete nodes[1]
  return nodes
}

const quiet = () => ({ poll: false, table: createTable(), seed: 1 }) as const

test('a hole among the members is no node, with and without self', (t) => {
  t.throws(() => createBalancer({ ...quiet(), nodes: withHole() }), { instanceOf: BadNodeError })
  t.throws(() => createBalancer({ ...quiet(), nodes: withHole(), self: 's' }), { instanceOf: BadNodeError })
  const balancer = createBalancer({ ...quiet(), nodes: ['x'] })
  const { length } = new Array(3)
  t.throws(() => balancer.setNodes(new Array(length)), { instanceOf: BadNodeError })
  t.deepEqual(balancer.nodes, ['x'])
})

test('an array with a hole is refused each time that it comes', (t) => {
  const nodes = withHole()
  const balancer = createBalancer(quiet())
  for (let i = 0; i < 5; i++) {
    t.throws(() => select(nodes), { instanceOf: BadNodeError })
    t.throws(() => balancer.select(nodes), { instanceOf: BadNodeError })
  }
})

test('of many ids, the one that stands twice is named', (t) => {
  const nodes = Array.from({ length: 2_000 }, (_, i) => ({
    id: `n${i % 1_999}`,
  }))
  const error = t.throws(() => createBalancer({ ...quiet(), nodes }), { instanceOf: DuplicateNodeError })
  t.is(error?.value, 'n0')
})

test('an array that shrinks while it is looked at gives an element that it has, or NoNodesError', (t) => {
  const nodes: NodeLike[] = []
  const shrinking = {
    get id() {
      nodes.length = 0
      return 'z'
    },
  }
  const picks: ((nodes: readonly NodeLike[]) => NodeLike)[] = [
    select,
    (given) => createBalancer(quiet()).select(given),
  ]
  for (const pick of picks) {
    for (let i = 0; i < 10; i++) {
      nodes.splice(0, nodes.length, 'a', 'b', shrinking)
      try {
        // Where no id was read, nothing was lost.
        t.true(nodes.includes(pick(nodes)))
      } catch (error) {
        t.true(error instanceof NoNodesError, String(error))
      }
    }
  }
})

for (const engine of engines) {
  test(`${engine}: who is excluded stays so when reading the list changes the members`, (t) => {
    for (let seed = 0; seed < 30; seed++) {
      const balancer: Balancer<string> = createBalancer({
        ...quiet(),
        nodes: ['a', 'b', 'c'],
        engine,
        seed,
      })
      const removing = {
        get id() {
          balancer.remove('a')
          return 'unknown'
        },
      }
      t.is(balancer.select({ exclude: ['c', removing] }), 'b')
    }
  })
}
