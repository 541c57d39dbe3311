import {
  type Algorithm,
  adaptive,
  custom,
  hashRing,
  leastConnections,
  leastCpu,
  local,
  maglev,
  peakEwma,
  powerOfTwo,
  prequal,
  random,
  roundRobin,
  spareCapacity,
  weightedRoundRobin,
} from '../../dist/index.js'

// The type has every kind, so that none can be forgotten.
const byKind: {
  readonly [K in Algorithm['kind']]: Readonly<Record<string, Extract<Algorithm, { kind: K }>>>
} = {
  adaptive: { adaptive: adaptive() },
  custom: { custom: custom({ select: ({ nodes, random }) => Math.floor(random() * nodes.length) }) },
  hashRing: { hashRing: hashRing() },
  leastConnections: {
    leastConnections: leastConnections(),
    'leastConnections, exact': leastConnections({ exact: true }),
  },
  leastCpu: { leastCpu: leastCpu() },
  local: { local: local(), 'local, else roundRobin': local({ otherwise: 'roundRobin' }) },
  maglev: { maglev: maglev() },
  peakEwma: { peakEwma: peakEwma() },
  powerOfTwo: {
    'powerOfTwo by CPU': powerOfTwo({ metric: 'cpu' }),
    'powerOfTwo by requests in flight': powerOfTwo({ metric: 'inFlight' }),
  },
  prequal: { prequal: prequal() },
  random: { random: random() },
  roundRobin: { roundRobin: roundRobin() },
  spareCapacity: { spareCapacity: spareCapacity() },
  weightedRoundRobin: { weightedRoundRobin: weightedRoundRobin() },
}

/** Every algorithm, by a name, in the variants that pick otherwise. */
export const everyAlgorithm: readonly (readonly [name: string, algorithm: Algorithm])[] = Object.values(
  byKind,
).flatMap((variants) => Object.entries(variants))

/** Options of a balancer over these nodes by this algorithm: `local` prefers the last node. */
export function optionsFor(algorithm: Algorithm, nodes: readonly string[]) {
  return {
    nodes,
    algorithm,
    poll: false as const,
    seed: 1,
    ...(algorithm.kind === 'local' && { self: nodes.at(-1) }),
  }
}

/** Whether it picks by a key, which every call then needs. */
export const takesKeys = ({ kind }: Algorithm): boolean => kind === 'hashRing' || kind === 'maglev'
