import test from 'ava'
import fc from 'fast-check'
import { Roster } from '../../dist/poller/roster.js'
import type { Entry } from '../../dist/table/table.js'

test('following what a roster says of each change leads to the same members', (t) => {
  const members = fc
    .uniqueArray(fc.record({ slot: fc.nat(12), generation: fc.nat(2) }), { selector: ({ slot }) => slot })
    .map((list) =>
      list.map((place): Entry => ({ ...place, id: `${place.slot}/${place.generation}`, references: 1 })),
    )
  const follows = fc.check(
    fc.property(fc.array(members, { minLength: 1, maxLength: 8 }), (lists) => {
      const roster = new Roster()
      const followed = new Map<number, string>()
      let before = new Set<string>()
      for (const list of lists) {
        const { added, removed } = roster.update(list)
        for (const { slot, id } of removed) {
          if (followed.get(slot) !== id) return false
          followed.delete(slot)
        }
        for (const { slot, id } of added) {
          if (before.has(id)) return false
          followed.set(slot, id)
        }
        before = new Set(list.map(({ id }) => id))
        if (followed.size !== before.size || [...followed.values()].some((id) => !before.has(id)))
          return false
      }
      return true
    }),
    { numRuns: 2_000 },
  )
  t.false(follows.failed, fc.defaultReportMessage(follows))
})
