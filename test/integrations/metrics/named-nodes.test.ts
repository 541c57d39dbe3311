import test from 'ava'
import { NamedNodes } from '../../../dist/integrations/metrics/named-nodes.js'

function nodes(picks: Readonly<Record<string, number>>) {
  return Object.entries(picks).map(([id, picks]) => ({ id, picks }))
}

function update(named: NamedNodes, picks: Readonly<Record<string, number>>) {
  for (const node of nodes(picks)) named.note(node)
  return named.end()
}

const sorted = (ids: ReadonlySet<string>) => [...ids].sort().join('')

test('where there is room for all, all have series of their own', (t) => {
  t.is(sorted(update(new NamedNodes(3), { a: 0, b: 5, c: 1 })), 'abc')
})

test('else those with the most picks have', (t) => {
  t.is(sorted(update(new NamedNodes(2), { a: 3, b: 5, c: 1, d: 4 })), 'bd')
})

test('who has one keeps it until another has had more than twice its picks', (t) => {
  const named = new NamedNodes(2)
  update(named, { a: 3, b: 5, c: 1 })
  t.is(sorted(update(named, { a: 4, b: 5, c: 8 })), 'ab')
  t.is(sorted(update(named, { a: 4, b: 5, c: 9 })), 'bc')
  t.is(sorted(update(named, { a: 17, b: 5, c: 9 })), 'ac', 'back again by the same rule')
})

test('several may take over at once, each from the least picked', (t) => {
  const named = new NamedNodes(3)
  update(named, { a: 1, b: 2, c: 3, d: 0, e: 0 })
  t.is(sorted(update(named, { a: 1, b: 2, c: 30, d: 50, e: 40 })), 'cde')
})

test('the place of one that left goes to the most picked without', (t) => {
  const named = new NamedNodes(2)
  update(named, { a: 9, b: 8, c: 1, d: 2 })
  t.is(sorted(update(named, { a: 9, c: 1, d: 2 })), 'ad')
})

test('with room for none, none has', (t) => {
  t.is(update(new NamedNodes(0), { a: 1 }).size, 0)
})

test('of any number the most picked have one, and of equal ones the first', (t) => {
  const picks = Array.from({ length: 1_000 }, (_, i) => [`n${i}`, (i * 7_919) % 500] as const)
  const ranked = [...picks].sort(([, a], [, b]) => b - a).map(([id]) => id)
  for (const most of [0, 1, 10, 999, 1_000]) {
    const named = update(new NamedNodes(most), Object.fromEntries(picks))
    t.deepEqual(sorted(named), sorted(new Set(ranked.slice(0, most))))
  }
})
