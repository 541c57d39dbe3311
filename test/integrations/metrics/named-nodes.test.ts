import test from 'ava'
import { NamedNodes } from '../../../dist/integrations/metrics/named-nodes.js'

function nodes(picks: Readonly<Record<string, number>>) {
  return Object.entries(picks).map(([id, picks]) => ({ id, picks }))
}

const sorted = (ids: ReadonlySet<string>) => [...ids].sort().join('')

test('where there is room for all, all have series of their own', (t) => {
  t.is(sorted(new NamedNodes(3).update(nodes({ a: 0, b: 5, c: 1 }))), 'abc')
})

test('else those with the most picks have', (t) => {
  t.is(sorted(new NamedNodes(2).update(nodes({ a: 3, b: 5, c: 1, d: 4 }))), 'bd')
})

test('who has one keeps it until another has had more than twice its picks', (t) => {
  const named = new NamedNodes(2)
  named.update(nodes({ a: 3, b: 5, c: 1 }))
  t.is(sorted(named.update(nodes({ a: 4, b: 5, c: 8 }))), 'ab')
  t.is(sorted(named.update(nodes({ a: 4, b: 5, c: 9 }))), 'bc')
  t.is(sorted(named.update(nodes({ a: 17, b: 5, c: 9 }))), 'ac', 'back again by the same rule')
})

test('several may take over at once, each from the least picked', (t) => {
  const named = new NamedNodes(3)
  named.update(nodes({ a: 1, b: 2, c: 3, d: 0, e: 0 }))
  t.is(sorted(named.update(nodes({ a: 1, b: 2, c: 30, d: 50, e: 40 }))), 'cde')
})

test('the place of one that left goes to the most picked without', (t) => {
  const named = new NamedNodes(2)
  named.update(nodes({ a: 9, b: 8, c: 1, d: 2 }))
  t.is(sorted(named.update(nodes({ a: 9, c: 1, d: 2 }))), 'ad')
})

test('with room for none, none has', (t) => {
  t.is(new NamedNodes(0).update(nodes({ a: 1 })).size, 0)
})
