import * as v from 'valibot'
import { checkOptions, milliseconds, number, oneOf, options } from '../../options.js'
import { METRICS, MOST_NAMED } from '../../table/layout.js'
import { type Weights, weightsOption } from '../weights.js'

/** How far weights may be from their mean, before they are scaled to whole numbers. */
export interface WeightClamp {
  /** Largest multiple of the mean, at least 1. */
  readonly max: number
  /** Smallest part of the mean, 0-1. */
  readonly min: number
  /** Whether the smallest weight is rounded up; else to the nearest. */
  readonly roundUp: boolean
}

/** `weightedRoundRobin()`: round robin over the members that are up, some more often. Times are whole ms. */
export interface WeightedRoundRobinAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'weightedRoundRobin'
  /** How long a node has to report before its weight counts. */
  readonly blackoutPeriod: number
  /** How long a weight counts without a report. */
  readonly weightExpirationPeriod: number
  /** At least 100. */
  readonly weightUpdatePeriod: number
  /** What errors count in the weight. */
  readonly errorUtilizationPenalty: number
  /** How far weights may be from their mean. */
  readonly clamp: WeightClamp
  /** Metrics whose largest stands for the utilization where `application` is not reported. */
  readonly metricNames: readonly string[]
  /** In place of reports. */
  readonly weights?: Weights
}

/** Bounds of weights, as multiples of their mean. */
export interface WeightBounds {
  /** The largest, at least 1. */
  max: number
  /** The smallest, 0 to 1. A node is picked once in 65,535 rounds at least, whatever it is. */
  min: number
}

/** Options of `weightedRoundRobin`. */
export interface WeightedRoundRobinOptions {
  /** A node's weight counts from so many ms after the first of its reports on. Default 10,000. */
  blackoutPeriod?: number | undefined
  /**
   * A weight counts no more once its report is so old, ms. The node then begins anew, blackout included. Default
   * 180,000.
   */
  weightExpirationPeriod?: number | undefined
  /** Time between two updates of the weights, ms; less than 100 counts as 100. Default 1,000. */
  weightUpdatePeriod?: number | undefined
  /** What an error rate of 1 (every request) adds to the utilization, at least 0. Default 1: as though it were full. */
  errorUtilizationPenalty?: number | undefined
  /**
   * How far weights may be from their mean: as in gRPC's C++ core (10 times; a hundredth), as in its Java (10 times; a
   * tenth), or bounds of your own. Default `'core'`.
   */
  clamp?: 'core' | 'java' | WeightBounds | undefined
  /**
   * What stands for the utilization of a node that reports no `application`: the largest of these metrics, where any is
   * above 0, else `cpu` (gRFC A114). `'cpu'`, `'application'` and `'memory'` are a report's own, in percent; any other name
   * is one of `named`, which is taken as it is: 0-1, as ORCA has them; `'utilization.NAME'` is of ORCA's `utilization`. At most 4 of the latter. Default none.
   */
  metricNames?: readonly string[] | undefined
  /**
   * Fixed weights by node id, 0 (never picked) to 1e12; 1 for a node that is not named. Reports then count for nothing,
   * nor do the options that are about them. Default: by reports.
   */
  weights?: Weights | undefined
}

const clamps: Readonly<Record<'core' | 'java', WeightClamp>> = {
  core: Object.freeze({ max: 10, min: 0.01, roundUp: false }),
  java: Object.freeze({ max: 10, min: 0.1, roundUp: true }),
}

const clampExpected = '"core", "java" or an object of max and min'
const bounds = options({
  max: number(1, Number.MAX_VALUE, 'a multiple of the mean'),
  min: number(0, 1, 'a part of the mean'),
})

/** Metrics of a report that are a utilization. */
const UTILIZATIONS: readonly string[] = ['cpu', 'application', 'memory']

/** Whether a metric can stand for the utilization. */
export function isUtilization(name: unknown): name is string {
  if (typeof name !== 'string' || name === '') return false
  return UTILIZATIONS.includes(name) || !(METRICS as readonly string[]).includes(name)
}

/** Whether a table has room for all of these metrics. */
export function haveRoom(names: readonly string[]): boolean {
  return new Set(names.filter((name) => !UTILIZATIONS.includes(name))).size <= MOST_NAMED
}

const namesExpected = `an array of metric names: "cpu", "application", "memory" or at most ${MOST_NAMED} of your own`
const metricNames = v.pipe(
  v.array(
    v.custom<string>(isUtilization, 'the name of a utilization: "cpu", "application", "memory" or your own'),
    namesExpected,
  ),
  v.check((names) => haveRoom(names), namesExpected),
)

const weightedRoundRobinOptions = options({
  blackoutPeriod: v.optional(milliseconds(), 10_000),
  weightExpirationPeriod: v.optional(milliseconds(), 180_000),
  weightUpdatePeriod: v.optional(milliseconds(), 1_000),
  errorUtilizationPenalty: v.optional(number(0, Number.MAX_VALUE), 1),
  clamp: v.optional(v.union([oneOf(['core', 'java']), bounds], clampExpected), 'core'),
  metricNames: v.optional(metricNames, []),
  weights: weightsOption,
})

/** Shortest time between two updates, ms. */
export const SHORTEST_UPDATE = 100

/**
 * Weighted round robin: nodes with more weight are picked more often. This is gRFC A58, with gRPC's static stride
 * scheduler. A node's weight is `qps / (utilization + eps / qps * errorUtilizationPenalty)` of its report: what it would
 * serve at full load. The utilization (0-1) is `application` where that is above 0, else `cpu` (see `metricNames`). A node
 * without a weight gets the mean of the others; with fewer than two weights this is plain round robin. Reports whose qps
 * or utilization is not above 0 are skipped and counted (`stats().picks.reportsIgnored`). Given `weights` replace reports.
 *
 * Use it where nodes report qps beside their utilization, as gRPC servers with ORCA do: weights then hardly depend on the
 * load that they make, so that it neither herds nor swings. It underrates a node whose CPU goes to other work. A pick looks
 * at `largest / mean` weights on average, of what `clamp` makes of them: few, whatever the number of nodes, unless one of
 * many nodes weighs more than all the others: then 100 to 160 ns natively at 1,000 to 10,000 nodes, and 6 to 9 µs portably.
 *
 * @throws OptionError
 */
export function weightedRoundRobin(given: WeightedRoundRobinOptions = {}): WeightedRoundRobinAlgorithm {
  const checked = checkOptions('weightedRoundRobin', given, weightedRoundRobinOptions)
  const { clamp, metricNames, weights } = checked
  return Object.freeze({
    kind: 'weightedRoundRobin',
    // Table time is whole, so that these are what they were, and sums of them exact.
    blackoutPeriod: Math.ceil(checked.blackoutPeriod),
    weightExpirationPeriod: Math.ceil(checked.weightExpirationPeriod),
    weightUpdatePeriod: Math.max(SHORTEST_UPDATE, Math.ceil(checked.weightUpdatePeriod)),
    errorUtilizationPenalty: checked.errorUtilizationPenalty,
    clamp: typeof clamp === 'string' ? clamps[clamp] : Object.freeze({ ...clamp, roundUp: false }),
    metricNames: Object.freeze([...metricNames]),
    ...(weights === undefined ? {} : { weights }),
  })
}
