import { adaptive, leastConnections, prequal, random, roundRobin, spareCapacity } from '../../dist/index.js'
import { shipped } from '../../dist/simulation/policy.js'
import { reportFlights } from '../../dist/simulation/scene.js'
import { REFERENCE } from './bars.js'
import type { Contender } from './run.js'

/** All that is judged, in the order of the tables. */
export const contenders: readonly Contender[] = [
  { name: REFERENCE, make: () => shipped(REFERENCE, roundRobin()) },
  { name: 'random', make: () => shipped('random', random()) },
  { name: 'spareCapacity', make: () => shipped('spareCapacity', spareCapacity()) },
  { name: 'leastConnections', make: () => shipped('leastConnections', leastConnections()) },
  { name: 'leastConnections-exact', make: () => shipped('exact', leastConnections({ exact: true })) },
  { name: 'adaptive', make: () => shipped('adaptive', adaptive()) },
  // With the latency that Prequal's own servers would tell; see `Scene.probe`.
  { name: 'prequal', probe: reportFlights, make: () => shipped('prequal', prequal()) },
]
