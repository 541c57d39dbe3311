import type { Policy } from './policy.js'
import type { Scene } from './scene.js'
import { type Result, Simulation } from './simulation.js'
import type { Watcher } from './watcher.js'

/** Events between two tellings of progress: some 10 ms. */
const EVENTS_A_STEP = 20_000

/**
 * Runs several policies over the same scene, one after the other, on the same requests.
 * @param onProgress told of the policy that runs, and of the share of its requests that have arrived, 0-1
 * @param watcherOf gives what watches a policy's run
 */
export function compare(
  scene: Scene,
  policies: readonly Policy[],
  seed: number,
  onProgress?: (policy: string, progress: number) => void,
  watcherOf?: (policy: string) => Watcher,
): Result[] {
  return policies.map((policy) => {
    const simulation = new Simulation(scene, policy, seed, watcherOf?.(policy.name))
    while (simulation.advance(EVENTS_A_STEP)) onProgress?.(policy.name, simulation.progress)
    return simulation.result()
  })
}
