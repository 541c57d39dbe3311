import test from 'ava'
import fc from 'fast-check'
import { ShareWindow } from '../../dist/balancer/share-window.js'

/** Who is picked where the first that is not full is. */
function play(most: number, members: number, picks: number): number[] {
  const window = new ShareWindow(most)
  window.remap(members, () => -1)
  return Array.from({ length: picks }, () => {
    let index = 0
    while (window.isFull(index, members)) index++
    window.add(index)
    return index
  })
}

test('one that would take all gets its share from the start, in turn with the others', (t) => {
  t.deepEqual(play(0.5, 2, 8), [0, 1, 0, 1, 0, 1, 0, 1])
  t.deepEqual(play(0.25, 4, 8), [0, 1, 2, 3, 0, 1, 2, 3])
  const picks = play(0.4, 5, 1_280)
  t.is(picks.filter((index) => index === 0).length, 520)
})

test('never has one more than its share of the last 128 picks, and never are all full', (t) => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.001, max: 1, noNaN: true }),
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.nat(19), { minLength: 1, maxLength: 400 }),
      (most, members, wanted) => {
        const window = new ShareWindow(most)
        window.remap(members, () => -1)
        const picks: number[] = []
        for (const want of wanted) {
          let index = want % members
          for (let i = 0; i < members && window.isFull(index, members); i++) index = (index + 1) % members
          t.false(window.isFull(index, members))
          window.add(index)
          picks.push(index)
          const last = picks.slice(-128)
          const cap = Math.ceil(Math.max(most, 1 / members) * last.length)
          t.true(last.filter((one) => one === index).length <= cap)
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('members that move keep what they had, and those that left leave room', (t) => {
  const window = new ShareWindow(0.5)
  window.remap(3, () => -1)
  for (const index of [0, 0, 1, 2]) window.add(index)
  t.deepEqual(
    [0, 1, 2].map((index) => window.isFull(index, 3)),
    [false, false, false],
  )
  window.add(0)
  t.true(window.isFull(0, 3))
  // The first is the second now, the last has left.
  window.remap(2, (before) => [1, 0, -1][before] as number)
  t.true(window.isFull(1, 2))
  t.false(window.isFull(0, 2))
  for (let i = 0; i < 200; i++) window.add(0)
  t.true(window.isFull(0, 2))
  t.false(window.isFull(1, 2))
})
