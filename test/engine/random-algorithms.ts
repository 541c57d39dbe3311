import fc from 'fast-check'
import { adaptive } from '../../dist/algorithms/adaptive/options.js'
import { leastConnections } from '../../dist/algorithms/least-connections/options.js'
import { leastCpu } from '../../dist/algorithms/least-cpu/options.js'
import { peakEwma } from '../../dist/algorithms/peak-ewma/options.js'
import { powerOfTwo } from '../../dist/algorithms/power-of-two/options.js'
import { prequal } from '../../dist/algorithms/prequal/options.js'
import { random } from '../../dist/algorithms/random/options.js'
import type { EngineAlgorithm } from '../../dist/algorithms/registry.js'
import { roundRobin } from '../../dist/algorithms/round-robin/options.js'
import { spareCapacity } from '../../dist/algorithms/spare-capacity/options.js'
import { weightedRoundRobin } from '../../dist/algorithms/weighted-round-robin/options.js'

const threshold = fc.oneof(
  fc.integer({ min: 0, max: 100_000 }),
  fc.integer({ min: 0, max: 20 }),
  fc.constant(5_000),
)

// What the members weigh is said with them; that there are weights, by the algorithm.
const weights = fc.constantFrom(undefined, { named: 2 })

/** Any algorithm that engines have, with any options. */
export const algorithm: fc.Arbitrary<EngineAlgorithm> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .record({
        ttl: fc.constantFrom(0, 100, 250, Number.POSITIVE_INFINITY),
        fading: fc.constantFrom(1, 100, 10_000),
        errorCost: fc.constantFrom(0, 0.5, 10),
      })
      .map(adaptive),
  },
  {
    weight: 8,
    arbitrary: fc
      .record({
        metric: fc.constantFrom(
          'cpu',
          'inFlight',
          'inFlight',
          'latency',
          'queueDelay',
          'askers',
          'answerers',
        ),
        choices: fc.oneof(fc.constant(2), fc.integer({ min: 2, max: 6 }), fc.constant(64)),
        choiceRate: fc.constantFrom(0, 0.3, 0.999, 1, 1, 1),
        otherwise: fc.constantFrom('random' as const, 'worker' as const),
        unknown: fc.constantFrom('random' as const, 'fail' as const),
        ttl: fc.constantFrom(0, 100, 250, Number.POSITIVE_INFINITY),
      })
      .map(powerOfTwo),
  },
  { weight: 1, arbitrary: fc.constantFrom(random(), roundRobin(), roundRobin()) },
  { weight: 2, arbitrary: fc.constant(random({ weights: { named: 2 } })) },
  {
    weight: 5,
    arbitrary: fc
      .record({ choices: fc.integer({ min: 1, max: 5 }), exact: fc.boolean(), weights })
      .map(({ weights, ...options }) => leastConnections(weights ? { ...options, weights } : options)),
  },
  {
    weight: 6,
    arbitrary: fc
      .record({
        quantile: fc.constantFrom(0, 0.5, 0.84, 1),
        pool: fc.constantFrom(2, 3, 8, 16),
        maxAge: fc.constantFrom(0, 100, 250),
        probes: fc.constantFrom(0, 0.7, 3, 64),
        removals: fc.constantFrom(0, 0.3, 1, 2.5),
      })
      .map(prequal),
  },
  {
    weight: 5,
    arbitrary: fc
      .record({
        smoothing: fc.constantFrom(0, 1, 70, 1_000),
        minShare: fc.constantFrom(0, 0.01, 0.3, 1),
        ttl: fc.constantFrom(0, 100, 250, Number.POSITIVE_INFINITY),
        missing: fc.constantFrom('mean' as const, 'exclude' as const),
      })
      .map(spareCapacity),
  },
  {
    weight: 8,
    arbitrary: fc
      .record(
        {
          blackoutPeriod: fc.constantFrom(0, 50, 100, 210),
          weightExpirationPeriod: fc.constantFrom(0, 100, 250, 1_000),
          weightUpdatePeriod: fc.constantFrom(100, 130),
          errorUtilizationPenalty: fc.constantFrom(0, 0.3, 1),
          clamp: fc.oneof(
            fc.constantFrom('core' as const, 'java' as const),
            fc.record({
              max: fc.double({ min: 1, max: 1e6, noNaN: true }),
              min: fc.double({ min: 0, max: 1, noNaN: true }),
            }),
          ),
          metricNames: fc.subarray(['memory', 'queue', 'other', 'cpu']),
          weights: fc.constant({}),
        },
        {
          requiredKeys: [
            'blackoutPeriod',
            'weightExpirationPeriod',
            'weightUpdatePeriod',
            'errorUtilizationPenalty',
            'clamp',
            'metricNames',
          ],
        },
      )
      .map(weightedRoundRobin),
  },
  {
    weight: 5,
    arbitrary: fc
      .record({
        decay: fc.constantFrom(1, 70, 10_000),
        initialLatency: fc.constantFrom(0.5, 30),
        errorLatency: fc.constantFrom(0, 20, 1_000),
      })
      .map(peakEwma),
  },
  {
    weight: 8,
    arbitrary: fc
      .record({
        threshold: threshold.map((value) => value / 1000),
        ttl: fc.constantFrom(0, 100, 250, Number.POSITIVE_INFINITY),
        missing: fc.oneof(
          fc.integer({ min: 0, max: 100 }),
          fc.constantFrom('mean' as const, 'exclude' as const),
        ),
        smoothing: fc.constantFrom(0, 0, 70),
      })
      .map(leastCpu),
  },
)
