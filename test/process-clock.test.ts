import test from 'ava'
import { originOf } from '../dist/process-clock.js'

test('a thread that is held up between two clocks counts from the same time as the others', (t) => {
  // Both go on by as much at each look; the shared one is 1,000 ms ahead. All looks but the fourth are held up.
  let time = 0
  let looks = 0
  const shared = () => {
    time += looks === 3 || looks === 4 ? 0.001 : 40
    return time + 1_000
  }
  const own = () => {
    looks++
    time += looks === 4 ? 0.001 : 25
    return time
  }
  const origin = originOf(shared, own)
  t.true(Math.abs(origin - 1_000) < 0.01, String(origin))
})

test('clocks that stand still give what is between them', (t) => {
  t.is(
    originOf(
      () => 500,
      () => 20,
    ),
    480,
  )
})
