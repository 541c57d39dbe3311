import test from 'ava'
import { growthOf, MOST_GROWTH, soak } from './soak.js'

// `npm run soak -- --part poller` does this for 10,000 cycles.
test('memory stays flat while nodes do everything wrong, and right ones are read throughout', async (t) => {
  // Slow where the machine is busy: most nodes are given up on by time-outs.
  t.timeout(300_000)
  const result = await soak(50)
  t.true(growthOf(result) < MOST_GROWTH, `${result.used.join()} bytes`)
  // Each of the 57 nodes has one connection at most, and the process some files.
  t.true(Math.max(...result.open) < 150, result.open.join())
  for (const { name, cycles, asked, stored, older, left, heard, empty, exit, error } of result.counters) {
    t.true(cycles >= 50, name)
    t.true(stored + heard > 0, name)
    // Nothing is lost silently.
    t.is(asked, stored + older + left + heard + empty + exit + error, name)
  }
})
