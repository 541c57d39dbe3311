import * as v from 'valibot'
import { checkOptions, number, oneOf, options, text, whole } from '../../options.js'
import type { MetricName } from '../../table/layout.js'
import { LONGEST_METRIC } from '../../table/metric-names.js'
import { ttlOption } from '../ttl.js'

/** `powerOfTwo()`: the best of some by one metric. */
export interface PowerOfTwoAlgorithm {
  /** Which algorithm it is. */
  readonly kind: 'powerOfTwo'
  /** A field of the report, or the name of a metric of the user's own. */
  readonly metric: string
  /** Members that are compared, at least 2. */
  readonly choices: number
  /** Share of the picks that compare, 0-1. */
  readonly choiceRate: number
  /** What the other picks are. */
  readonly otherwise: 'random' | 'worker'
  /** What becomes of a pick that knows of none of the compared. */
  readonly unknown: 'random' | 'fail'
  /** Oldest age of a fresh value, whole ms, inclusive. */
  readonly ttl: number
}

/** Options of `powerOfTwo`. */
export interface PowerOfTwoOptions {
  /**
   * What is compared; the lower wins. A field of the report, or any other name: a metric of the user's own
   * (`report.named`), of which a table keeps four. `'inFlight'` is the larger of what the node reported, where that is
   * fresh, and what this process has in flight there, so that it is always known.
   */
  metric: MetricName | (string & {})
  /** Members that are compared at a pick, drawn at random, 2 to 64; all where there are no more. Default 2. */
  choices?: number | undefined
  /** Share of the picks that compare, 0-1; by a coin at each pick. Default 1. */
  choiceRate?: number | undefined
  /**
   * What the other picks are: `'random'`, uniform over the members; `'worker'`, the member whose number is this thread's
   * id modulo their number, so that each worker thread keeps to one. Default `'random'`.
   */
  otherwise?: 'random' | 'worker' | undefined
  /**
   * What becomes of a pick where no value is known of any that are compared: `'random'`, one of them; `'fail'`,
   * UnknownLoadError. Default `'random'`.
   */
  unknown?: 'random' | 'fail' | undefined
  /** Oldest age of a value that still counts, ms, inclusive. Default 10,000. */
  ttl?: number | undefined
}

const metricExpected = `a metric's name, a string of 1 to ${LONGEST_METRIC.toLocaleString('en')} characters`

const powerOfTwoOptions = options({
  metric: v.pipe(text(metricExpected), v.maxLength(LONGEST_METRIC, metricExpected)),
  choices: v.optional(whole(2, 64), 2),
  choiceRate: v.optional(number(0, 1, 'a share'), 1),
  otherwise: v.optional(oneOf(['random', 'worker']), 'random'),
  unknown: v.optional(oneOf(['random', 'fail']), 'random'),
  ttl: ttlOption,
})

/**
 * Picks the better of two members drawn at random (or of `choices`), by what they report of one metric; ties by chance.
 * A node without a fresh value loses to any that has one.
 *
 * Use it where one figure says how busy a node is (a queue, its delay, requests in flight), and reports are a few requests
 * old. It herds, but within bounds: however old a report is, no node gets more than `choices` times its share. With 100
 * servers at 90 % load, requests take 3.0 service times by a board of queue lengths that is renewed every service time,
 * 5.1 by one renewed every 10, 12.3 every 50; 10 at random.
 *
 * By `'inFlight'` it is `leastConnections` that also hears what others send; a report older than a few requests only
 * holds back what the own count would tell. Two balancers over one table can go by a metric each.
 *
 * @throws OptionError
 */
export function powerOfTwo(given: PowerOfTwoOptions): PowerOfTwoAlgorithm {
  const { metric, choices, choiceRate, otherwise, unknown, ttl } = checkOptions(
    'powerOfTwo',
    given,
    powerOfTwoOptions,
  )
  return Object.freeze({
    kind: 'powerOfTwo',
    metric,
    choices,
    choiceRate,
    otherwise,
    unknown,
    ttl,
  })
}

/** Whether it is by requests in flight: those that this process has count too. */
export function isByFlights({ metric }: PowerOfTwoAlgorithm): boolean {
  return metric === 'inFlight'
}

/** How many numbers a generator gives. */
export const COIN_SIDES = 2 ** 32

/** A pick compares where the generator's number is below this. */
export function coinOf({ choiceRate }: PowerOfTwoAlgorithm): number {
  return Math.floor(choiceRate * COIN_SIDES)
}
