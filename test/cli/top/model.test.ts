import test from 'ava'
import { DEFAULT_SORTING, rowsOf, TopModel } from '../../../dist/cli/top/model.js'
import { liveNode, viewOf } from './views.js'

const nodes = [
  liveNode({ id: 'b', cpu: 20 }),
  liveNode({ id: 'a', cpu: undefined }),
  liveNode({ id: 'd', cpu: 90, state: 'drain', why: 'drains: told by the node' }),
  liveNode({ id: 'c', cpu: 20, ejected: { reason: 'failureRate', times: 1, remaining: 900 } }),
]

function ids(sorting: Partial<typeof DEFAULT_SORTING>): string {
  return rowsOf(nodes, { ...DEFAULT_SORTING, ...sorting })
    .map(({ id }) => id)
    .join('')
}

test('numbers are sorted from the largest, words from A, and equals stay as they were', (t) => {
  t.is(ids({ sort: 'cpu' }), 'dbca')
  t.is(ids({ sort: 'node' }), 'abcd')
})

test('what is not known comes last, also the other way around', (t) => {
  t.is(ids({ sort: 'cpu', reverse: true }), 'bcda')
  t.is(ids({ sort: 'why' }), 'dbac')
  t.is(ids({ sort: 'why', reverse: true }), 'dbac')
})

test('the filter lets through nodes with all of its words, in id, state or why', (t) => {
  t.is(ids({ filter: 'DRAINS' }), 'd')
  t.is(ids({ filter: 'ejected' }), 'c')
  t.is(ids({ filter: ' drain  node ' }), 'd')
  t.is(ids({ filter: 'drain ejected' }), '')
})

test('the selection stays with its node, wherever that goes', (t) => {
  const model = new TopModel('')
  model.show(
    viewOf([liveNode({ id: 'a', cpu: 30 }), liveNode({ id: 'b', cpu: 20 }), liveNode({ id: 'c', cpu: 10 })]),
  )
  model.move(1)
  t.is(model.selected?.id, 'b')
  model.show(
    viewOf([liveNode({ id: 'a', cpu: 3 }), liveNode({ id: 'b', cpu: 2 }), liveNode({ id: 'c', cpu: 10 })]),
  )
  t.is(model.selected?.id, 'b')
  t.is(model.window(10).index, 2)
  model.show(viewOf([liveNode({ id: 'a' })]))
  t.is(model.selected?.id, 'a')
})

test('on top the selection stays on top', (t) => {
  const model = new TopModel('')
  model.show(viewOf([liveNode({ id: 'a', cpu: 30 }), liveNode({ id: 'b', cpu: 20 })]))
  t.is(model.selected?.id, 'a')
  model.show(viewOf([liveNode({ id: 'a', cpu: 3 }), liveNode({ id: 'b', cpu: 20 })]))
  t.is(model.selected?.id, 'b')
})

test('the rows that are seen are those around the selected one', (t) => {
  const model = new TopModel('')
  model.show(viewOf(Array.from({ length: 100 }, (_, i) => liveNode({ id: `${i}` }))))
  model.move(9)
  t.deepEqual(model.window(10), { offset: 0, index: 9 })
  model.move(1)
  t.deepEqual(model.window(10), { offset: 1, index: 10 })
  model.move(-5)
  t.deepEqual(model.window(10), { offset: 1, index: 5 })
  model.move(1_000)
  t.deepEqual(model.window(10), { offset: 90, index: 99 })
  model.move(-1_000)
  t.deepEqual(model.window(10), { offset: 0, index: 0 })
})

test('what a node was lately is kept while it is a member', (t) => {
  const model = new TopModel('')
  for (const cpu of [10, undefined, 30]) model.show(viewOf([liveNode({ id: 'a', cpu })]))
  t.deepEqual(model.history.last('a', 2), [undefined, 30])
  t.deepEqual(model.history.last('a', 9), [10, undefined, 30])
  model.show(viewOf([liveNode({ id: 'b' })]))
  t.deepEqual(model.history.last('a', 9), [])
})

test('of a long history the last four minutes are kept', (t) => {
  const model = new TopModel('')
  for (let i = 0; i < 500; i++) model.show(viewOf([liveNode({ id: 'a', cpu: i % 100 })]))
  const kept = model.history.last('a', 1_000)
  t.is(kept.length, 240)
  t.is(kept.at(-1), 99)
  t.is(kept[0], 60)
})
