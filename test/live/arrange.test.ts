import test from 'ava'
import fc from 'fast-check'
import {
  type Arrangement,
  arrange,
  CHOICES,
  isInTrouble,
  SORT_KEYS,
  type SortKey,
  weightOf,
} from '../../dist/live/arrange.js'
import type { LiveNode } from '../../dist/live/live-view.js'
import { liveNode as node } from './support.js'

const ALL: Arrangement = { sort: undefined, isDescending: false, filter: '', choice: 'all' }

const nodes = [
  node('10.0.0.10', { cpu: 30, reason: 'band', why: 'outside the band: 30 % against 5 % + 5' }),
  node('10.0.0.9', { cpu: 5 }),
  node('10.0.0.1', { poll: { count: 2, kind: 'exit', reason: 'connect ECONNREFUSED' } }),
  node('10.0.0.2', { cpu: 20, state: 'drain', reason: 'drain', why: 'drains: told by the node' }),
]

function ids(arrangement: Partial<Arrangement>): string {
  return arrange(nodes, { ...ALL, ...arrangement })
    .map(({ id }) => id.slice('10.0.0.'.length))
    .join(' ')
}

test("nodes are in the balancer's order, unless they are sorted", (t) => {
  t.is(ids({}), '10 9 1 2')
  t.is(ids({ sort: 'id' }), '1 2 9 10')
  t.is(ids({ sort: 'id', isDescending: true }), '10 9 2 1')
})

test('what is not known comes last, whichever the direction', (t) => {
  t.is(ids({ sort: 'cpu' }), '9 2 10 1')
  t.is(ids({ sort: 'cpu', isDescending: true }), '10 2 9 1')
})

test('a filter finds all of its words in what is known of a node', (t) => {
  t.is(ids({ filter: '0.0.1' }), '10 1')
  t.is(ids({ filter: 'BAND 10' }), '10')
  t.is(ids({ filter: 'drain' }), '2')
  t.is(ids({ filter: ' refused ' }), '1')
  t.is(ids({ filter: 'unreachable 9' }), '')
})

test('some are chosen: those that may be picked, those that are not, those in trouble', (t) => {
  t.is(ids({ choice: 'picked' }), '9 1')
  t.is(ids({ choice: 'out' }), '10 2')
  t.is(ids({ choice: 'trouble' }), '1')
})

test('a weight is what reports gave, else the fixed one times what the node told; none where that is nothing new', (t) => {
  const weights = [
    { weight: 12, fixedWeight: 3, told: { weight: 50 } },
    { fixedWeight: 3, told: { weight: 50 } },
    { told: { weight: 0 } },
    { fixedWeight: 1, told: { weight: 200 } },
    {},
  ]
  t.deepEqual(
    weights.map((some) => weightOf(node('a', some))),
    [12, 1.5, 0, undefined, undefined],
  )
})

test('nodes are sorted by weights, ejections and failing polls; those without one come last', (t) => {
  const some = [
    node('a', {}),
    node('b', { fixedWeight: 2, ejected: { reason: 'elsewhere', times: undefined, remaining: undefined } }),
    node('c', { weight: 9, poll: { count: 3, kind: 'exit', reason: 'timeout' } }),
    node('d', { ejected: { reason: 'failureRate', times: 2, remaining: 500 } }),
  ]
  const order = (sort: SortKey) =>
    arrange(some, { ...ALL, sort, isDescending: true })
      .map(({ id }) => id)
      .join('')
  t.deepEqual([order('weight'), order('ejected'), order('polls')], ['cbad', 'dbac', 'cabd'])
})

test('whatever is asked for, no node is lost or made up, and equal ones keep their order', (t) => {
  const some = fc.array(
    fc.record({ cpu: fc.option(fc.nat(3), { nil: undefined }), failed: fc.nat(2), isOut: fc.boolean() }),
  )
  fc.assert(
    fc.property(
      some,
      fc.constantFrom(...SORT_KEYS),
      fc.constantFrom(...CHOICES),
      fc.boolean(),
      (list, sort, choice, isDescending) => {
        const given = list.map(({ cpu, failed, isOut }, i) =>
          node(`${i}`, { cpu, failed, released: 2, reason: isOut ? 'drain' : undefined }),
        )
        const shown = arrange(given, { ...ALL, sort, choice, isDescending })
        const right = given.filter((one) => {
          if (choice === 'trouble') return isInTrouble(one)
          return choice === 'all' || (one.reason === undefined) === (choice === 'picked')
        })
        t.deepEqual(shown.map(({ id }) => id).sort(), right.map(({ id }) => id).sort())
        if (sort !== 'cpu') return
        for (const [i, one] of shown.slice(1).entries()) {
          const before = shown[i] as LiveNode
          if (one.cpu === before.cpu) t.true(Number(before.id) < Number(one.id))
        }
      },
    ),
  )
})
