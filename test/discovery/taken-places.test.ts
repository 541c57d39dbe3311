import test from 'ava'
import fc from 'fast-check'
import { taken } from '../../dist/balancer/taken-places.js'

test('who joins takes the place of who left, and all others stay where they are', (t) => {
  t.deepEqual(taken(['a', undefined, 'c'], ['d']), ['a', 'd', 'c'])
  t.deepEqual(taken(['a', undefined, 'c'], ['d', 'e']), ['a', 'd', 'c', 'e'])
  t.deepEqual(taken([], ['a', 'b']), ['a', 'b'])
})

test('places that are left empty are taken by the last', (t) => {
  t.deepEqual(taken([undefined, 'b', 'c', 'd'], []), ['d', 'b', 'c'])
  t.deepEqual(taken(['a', undefined, 'c', undefined], []), ['a', 'c'])
  t.deepEqual(taken([undefined, undefined], []), [])
})

test('nobody is lost or there twice, and only as many move as places are left empty', (t) => {
  const lists = fc.array(fc.boolean(), { maxLength: 40 })
  fc.assert(
    fc.property(lists, fc.nat(20), (stays, joining) => {
      const list = stays.map((stay, i) => (stay ? i : undefined))
      const joined = Array.from({ length: joining }, (_, i) => 100 + i)
      const result = taken(list, joined)
      const kept = list.filter((one) => one !== undefined)
      t.deepEqual(
        [...result].sort((a, b) => a - b),
        [...kept, ...joined],
      )
      const moved = kept.filter((one) => result.indexOf(one) !== one).length
      t.true(moved <= Math.max(0, list.length - kept.length - joining))
    }),
  )
})
