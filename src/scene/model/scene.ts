import type { Scene } from '../../simulation/scene.js'
import { fleetOf, losingOf } from './fleet.js'
import { type Inputs, RUN_LENGTH } from './inputs.js'

/**
 * What is simulated: requests at random to servers of one core, with exponential service times. Nothing takes time on
 * the network, so that a response time is what the server made of it.
 */
export function sceneOf(inputs: Inputs): Scene {
  const { balancers, reportInterval, lost, lostAt } = inputs
  const { drawn, capacity, rate } = fleetOf(inputs)
  const expected = (rate * RUN_LENGTH) / 1000
  return {
    servers: Array.from({ length: drawn }, () => ({})),
    balancers,
    // More than arrive, by ten standard deviations: it is time that ends a run.
    requests: Math.ceil(expected + 10 * Math.sqrt(expected) + 1),
    arrivals: { kind: 'poisson', rate },
    service: { kind: 'exponential', mean: 1000 / capacity },
    reportInterval,
    changes: lost > 0 ? [{ at: lostAt, server: losingOf(inputs), background: lost }] : [],
    // The page measures by itself, and keeps less.
    warmup: 2 * RUN_LENGTH,
  }
}
