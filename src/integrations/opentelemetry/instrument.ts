import type { Histogram, Meter, MeterProvider, Observable } from '@opentelemetry/api'
import * as v from 'valibot'
import { PeerError } from '../../errors.js'
import type { NodeLike } from '../../index.js'
import { checkOptions, options } from '../../options.js'
import { ownRequire, ownVersion } from '../../own-package.js'
import { DURATION_BOUNDS, METRICS, type MetricKey } from '../metrics/catalogue.js'
import type { Watchable } from '../metrics/observer.js'
import { maxNodesOption, type Watch, WatchedBalancers } from '../metrics/watched-balancers.js'

/** Options of `instrumentBalancer`. */
export interface InstrumentOptions {
  /** Default: the one that is registered with `@opentelemetry/api`. So start the SDK first. */
  meterProvider?: MeterProvider | undefined
  /**
   * How many nodes have series of their own: those with the most picks. The rest is node `other`. 0 to 100,000, default
   * 100.
   */
  maxNodes?: number | undefined
}

const API = '@opentelemetry/api'
const TESTED = '^1.9.0'

const instrumentOptions = options({
  meterProvider: v.optional(
    v.custom<MeterProvider>(
      (value) =>
        typeof value === 'object' &&
        value !== null &&
        'getMeter' in value &&
        typeof value.getMeter === 'function',
      'a MeterProvider of OpenTelemetry',
    ),
  ),
  maxNodes: maxNodesOption,
})

// By provider: instruments are made once, and all balancers are told by them.
const watchedBy = new WeakMap<MeterProvider, WatchedBalancers>()

/**
 * Tells a balancer's metrics to OpenTelemetry. All but the durations of polls are read when they are collected, by one look
 * at its counters and one at its members: nothing is added to a pick.
 *
 * @example
 * ```ts
 * import { instrumentBalancer } from 'idlest/opentelemetry'
 *
 * const watch = instrumentBalancer(balancer)
 * ```
 * @returns what stops it. It stops by itself once the balancer is closed.
 * @throws PeerError where no provider is given and `@opentelemetry/api` is not installed, or of a version without metrics
 * @throws OptionError, also where a balancer of the same name is told to this provider already
 */
export function instrumentBalancer<N extends NodeLike>(
  balancer: Watchable<N>,
  given: InstrumentOptions = {},
): Watch {
  const { meterProvider = globalProvider(), maxNodes } = checkOptions('', given, instrumentOptions)
  let watched = watchedBy.get(meterProvider)
  if (watched === undefined) {
    watched = watchedOn(meterProvider.getMeter('idlest', ownVersion()))
    watchedBy.set(meterProvider, watched)
  }
  return watched.add(balancer as Watchable, maxNodes)
}

function globalProvider(): MeterProvider {
  let api: Partial<typeof import('@opentelemetry/api')>
  try {
    api = ownRequire(API)
  } catch (error) {
    throw new PeerError(API, undefined, TESTED, 'is not installed', error)
  }
  if (api.metrics === undefined)
    throw new PeerError(API, undefined, TESTED, 'is of a version without metrics')
  return api.metrics.getMeterProvider()
}

function watchedOn(meter: Meter): WatchedBalancers {
  if (typeof meter.addBatchObservableCallback !== 'function') {
    throw new PeerError(API, undefined, TESTED, 'is of a version without batch callbacks')
  }
  const { description, unit } = METRICS.pollDuration
  const durations: Histogram = meter.createHistogram(METRICS.pollDuration.name, {
    description,
    unit,
    advice: { explicitBucketBoundaries: [...DURATION_BOUNDS] },
  })
  const watched = new WatchedBalancers({
    onPoll: (seconds, attributes) => durations.record(seconds, attributes),
  })
  const instruments = observables(meter)
  meter.addBatchObservableCallback(
    async (result) => {
      for (const { metric, value, attributes } of await watched.observe()) {
        const instrument = instruments.get(metric)
        if (instrument !== undefined) result.observe(instrument, value, attributes)
      }
    },
    [...instruments.values()],
  )
  return watched
}

function observables(meter: Meter): Map<MetricKey, Observable> {
  const instruments = new Map<MetricKey, Observable>()
  for (const [key, { name, kind, description, unit }] of Object.entries(METRICS)) {
    if (kind === 'histogram') continue
    const about = { description, unit }
    const instrument =
      kind === 'counter'
        ? meter.createObservableCounter(name, about)
        : meter.createObservableGauge(name, about)
    instruments.set(key as MetricKey, instrument)
  }
  return instruments
}
