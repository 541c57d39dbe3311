import type { Scene } from '../../simulation/scene.js'
import { CAPACITY, type Inputs, LOSING, PEAK_RATE, RUN_LENGTH, SERVERS } from './inputs.js'

/** Requests per second that arrive. */
export function rateOf({ traffic }: Inputs): number {
  return PEAK_RATE * traffic
}

/**
 * What is simulated: requests at random to servers of one core, with exponential service times. Nothing takes time on
 * the network, so that a response time is what the server made of it.
 */
export function sceneOf(inputs: Inputs): Scene {
  const { balancers, reportInterval, lost, lostAt } = inputs
  const rate = rateOf(inputs)
  const expected = (rate * RUN_LENGTH) / 1000
  return {
    servers: Array.from({ length: SERVERS }, () => ({})),
    balancers,
    // More than arrive, by ten standard deviations: it is time that ends a run.
    requests: Math.ceil(expected + 10 * Math.sqrt(expected) + 1),
    arrivals: { kind: 'poisson', rate },
    service: { kind: 'exponential', mean: 1000 / CAPACITY },
    reportInterval,
    changes: lost > 0 ? [{ at: lostAt, server: LOSING, background: lost }] : [],
    // The page measures by itself, and keeps less.
    warmup: 2 * RUN_LENGTH,
  }
}
