import { adaptive } from '../algorithms/adaptive.js'
import { leastConnections } from '../algorithms/least-connections.js'
import { leastCpu } from '../algorithms/least-cpu.js'
import { powerOfTwo } from '../algorithms/power-of-two.js'
import { prequal } from '../algorithms/prequal.js'
import { random } from '../algorithms/random.js'
import { roundRobin } from '../algorithms/round-robin.js'
import { spareCapacity } from '../algorithms/spare-capacity.js'
import { weightedRoundRobin } from '../algorithms/weighted-round-robin.js'
import { type Policy, readingTtl, type ShippedOptions, shipped } from './policy.js'

/** What a policy may depend on. */
export interface PolicySetting extends ShippedOptions {
  /** As in the scene, ms. */
  readonly reportInterval: number
  readonly delay: number
}

interface NamedPolicy {
  /** For people, in one line. */
  readonly about: string
  readonly make: (name: string, setting: PolicySetting) => Policy
}

/** The policies that can be asked for by name. */
export const policies = {
  adaptive: {
    about: 'adaptive(): the least response time to expect, learned from responses',
    make: (name, setting) => shipped(name, adaptive({ ttl: readingTtl(setting) }), setting),
  },
  'round-robin': {
    about: 'roundRobin(): in turn',
    make: (name, setting) => shipped(name, roundRobin(), setting),
  },
  random: {
    about: 'random()',
    make: (name, setting) => shipped(name, random(), setting),
  },
  'least-cpu': {
    about: 'leastCpu(): at random in a band of 5 points',
    make: (name, setting) => shipped(name, leastCpu({ ttl: readingTtl(setting) }), setting),
  },
  'lowest-cpu': {
    about: 'leastCpu({ threshold: 0 })',
    make: (name, setting) => shipped(name, leastCpu({ threshold: 0, ttl: readingTtl(setting) }), setting),
  },
  'spare-capacity': {
    about: 'spareCapacity(): weights of 100 - CPU, smoothed over 10 s',
    make: (name, setting) => shipped(name, spareCapacity({ ttl: readingTtl(setting) }), setting),
  },
  'spare-capacity-raw': {
    about: 'spareCapacity({ smoothing: 0 })',
    make: (name, setting) =>
      shipped(name, spareCapacity({ smoothing: 0, ttl: readingTtl(setting) }), setting),
  },
  'weighted-round-robin': {
    about: 'weightedRoundRobin(): in turn, weights of qps / CPU',
    make: (name, setting) => shipped(name, weightedRoundRobin(), setting),
  },
  'least-connections': {
    about: 'leastConnections(): the fewer in flight of two',
    make: (name, setting) => shipped(name, leastConnections(), setting),
  },
  'least-connections-exact': {
    about: 'leastConnections({ exact: true })',
    make: (name, setting) => shipped(name, leastConnections({ exact: true }), setting),
  },
  prequal: {
    about: 'prequal(): by in flight and latency of those that were probed, three a request',
    make: (name, setting) => shipped(name, prequal(), setting),
  },
  'two-choices-cpu': {
    about: "powerOfTwo({ metric: 'cpu' }): the less busy of two",
    make: (name, setting) => shipped(name, powerOfTwo({ metric: 'cpu', ttl: readingTtl(setting) }), setting),
  },
  'two-choices-in-flight': {
    about: "powerOfTwo({ metric: 'inFlight' }): by what the node says, or what this balancer has there",
    make: (name, setting) =>
      shipped(name, powerOfTwo({ metric: 'inFlight', ttl: readingTtl(setting) }), setting),
  },
} as const satisfies Record<string, NamedPolicy>

/** The name of one of them. */
export type PolicyName = keyof typeof policies
