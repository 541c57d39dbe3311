import test from 'ava'
import fc from 'fast-check'
import { NodeCounts } from '../../../dist/integrations/metrics/node-counts.js'

/** Takes in counts by id. */
function note(
  counts: NodeCounts,
  now: Iterable<readonly [string, number]>,
  named: Iterable<string>,
  total: number,
) {
  const isNamed = new Set(named)
  for (const [id, count] of now) counts.note(id, count, isNamed.has(id))
  counts.end(total)
}

function update(counts: NodeCounts, now: Readonly<Record<string, number>>, named: string, total?: number) {
  const sum = Object.values(now).reduce((sum, count) => sum + count, 0)
  note(counts, Object.entries(now), named, total ?? sum)
  return Object.fromEntries(counts.entries())
}

test('nodes with series of their own are counted by themselves, all others together', (t) => {
  t.deepEqual(update(new NodeCounts(), { a: 1, b: 2, c: 3 }, 'ab'), { a: 1, b: 2, other: 3 })
})

test('what no member has counted is of others too', (t) => {
  t.deepEqual(update(new NodeCounts(), { a: 1 }, 'a', 5), { a: 1, other: 4 })
})

test('without others there is no such series', (t) => {
  t.deepEqual(update(new NodeCounts(), { a: 1 }, 'a'), { a: 1 })
})

test('a node that leaves and comes back goes on', (t) => {
  const counts = new NodeCounts()
  update(counts, { a: 5, b: 1 }, 'ab')
  t.deepEqual(update(counts, { a: 2, b: 1 }, 'ab', 8), { a: 7, b: 1 })
})

test('what a node counts while it has no series stays with the others, and what it counted before is not taken there', (t) => {
  const counts = new NodeCounts()
  t.deepEqual(update(counts, { a: 5, b: 2 }, 'a'), { a: 5, other: 2 })
  t.deepEqual(update(counts, { a: 6, b: 20 }, 'b'), { b: 18, other: 3 })
  t.deepEqual(update(counts, { a: 10, b: 20 }, 'a'), { a: 4, other: 3 })
})

test('a node that is called as the others are is one of them', (t) => {
  t.deepEqual(
    update(new NodeCounts(), { other: 3, b: 1, c: 2 }, 'x', 6),
    { other: 6 },
    'without a series of its own',
  )
  const counts = new NodeCounts()
  note(counts, [['other', 3]], ['other'], 4)
  t.deepEqual(Object.fromEntries(counts.entries()), { other: 4 })
})

test('whatever members do, each series only grows while it lasts, and all are the total', (t) => {
  const ids = ['a', 'b', 'c', 'd']
  const step = fc.record({
    picked: fc.dictionary(fc.constantFrom(...ids), fc.nat(50)),
    members: fc.subarray(ids),
    rejoined: fc.subarray(ids),
    named: fc.subarray(ids),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const counts = new NodeCounts()
      const now = new Map<string, number>()
      let total = 0
      let ended = 0
      let before = new Map<string, number>()
      for (const { picked, members, rejoined, named } of steps) {
        for (const id of now.keys()) if (!members.includes(id)) now.delete(id)
        for (const id of members) if (!now.has(id) || rejoined.includes(id)) now.set(id, 0)
        for (const id of members) {
          now.set(id, (now.get(id) ?? 0) + (picked[id] ?? 0))
          total += picked[id] ?? 0
        }
        note(counts, now, named, total)
        const after = new Map(counts.entries())
        for (const [id, value] of before) {
          const goesOn = id === 'other' || (now.has(id) && named.includes(id))
          if (!goesOn) ended += value
          else if ((after.get(id) ?? 0) < value) return false
        }
        const sum = [...after.values()].reduce((sum, value) => sum + value, ended)
        if (sum !== total) return false
        before = after
      }
      return true
    }),
    { numRuns: 500 },
  )
  t.deepEqual(Object.fromEntries(new NodeCounts().entries()), {})
})
