import test from 'ava'
import { spareCapacity } from '../../dist/index.js'
import { shipped } from '../../dist/simulation/policy.js'
import { simulate } from '../../dist/simulation/simulation.js'
import { alike, queues } from './support.js'

const T = 5_000

/** The largest share that one of 8 equal servers gets in a report window, once the run has settled or not. */
function worstShare(load: number, gain: number): number {
  const algorithm = spareCapacity({ smoothing: (T * (1 - gain)) / gain, ttl: Number.POSITIVE_INFINITY })
  const requests = 400_000
  // The first half is left out: swings take their time to grow.
  const warmup = (requests / (8 * load * 100)) * 500
  const scene = { ...queues(alike(8), load, requests), reportInterval: T, window: T, warmup }
  return Math.max(...simulate(scene, shipped('spare', algorithm)).nodes.map((node) => node.worstShare ?? 0))
}

// Weights by spare capacity follow the load that they make: with the gain a = T / (smoothing + T) they settle where
// a < 2 (1 - load).
for (const load of [0.7, 0.85]) {
  const law = 2 * (1 - load)

  test(`at ${load * 100} % load, weights by spare capacity settle below the gain ${law.toFixed(2)}`, (t) => {
    for (const part of [0.3, 0.8]) {
      const worst = worstShare(load, law * part)
      t.true(worst < 0.165, `gain ${law * part}: ${worst}`)
    }
  })

  test(`at ${load * 100} % load, they swing above it`, (t) => {
    const worst = worstShare(load, law * 1.6)
    t.true(worst > 0.2, `gain ${law * 1.6}: ${worst}`)
  })
}
