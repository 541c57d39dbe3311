import type { Counter, Gauge, Histogram, Registry } from 'prom-client'
import * as v from 'valibot'
import { PeerError } from '../../errors.js'
import type { NodeLike } from '../../index.js'
import { checkOptions, options } from '../../options.js'
import { ownRequire } from '../../own-package.js'
import { BALANCER, DURATION_BOUNDS, METRICS, type Metric, type MetricKey } from '../metrics/catalogue.js'
import type { Attributes, Point, Watchable } from '../metrics/observer.js'
import { maxNodesOption, type Watch, WatchedBalancers } from '../metrics/watched-balancers.js'
import { prometheusLabel, prometheusName } from './names.js'

/** Options of `collectBalancer`. */
export interface CollectOptions {
  /** Default: prom-client's own, `register`. */
  registry?: Registry | undefined
  /**
   * How many nodes have series of their own: those with the most picks. The rest is node `other`. 0 to 100,000, default
   * 100.
   */
  maxNodes?: number | undefined
}

type Client = typeof import('prom-client')

const CLIENT = 'prom-client'
const TESTED = '^15.0.0'

const collectOptions = options({
  registry: v.optional(
    v.custom<Registry>(
      (value) =>
        typeof value === 'object' &&
        value !== null &&
        'registerMetric' in value &&
        typeof value.registerMetric === 'function',
      'a Registry of prom-client',
    ),
  ),
  maxNodes: maxNodesOption,
})

// By registry: a metric can be registered once.
const collectors = new WeakMap<Registry, Collector>()

/**
 * Has a balancer's metrics collected by prom-client. All but the durations of polls are read when they are collected, by one
 * look at its counters and one at its members: nothing is added to a pick.
 *
 * @example
 * ```ts
 * import { collectBalancer } from 'idlest/prometheus'
 * import { register } from 'prom-client'
 *
 * const watch = collectBalancer(balancer)
 * http.createServer(async (_, response) => response.end(await register.metrics())).listen(9464)
 * ```
 * @returns what stops it. It stops by itself once the balancer is closed.
 * @throws PeerError where prom-client is not installed, or of another version than those tested
 * @throws OptionError, also where a balancer of the same name is collected in this registry already
 */
export function collectBalancer<N extends NodeLike>(
  balancer: Watchable<N>,
  given: CollectOptions = {},
): Watch {
  const checked = checkOptions('', given, collectOptions)
  const client = installed()
  const { registry = client.register, maxNodes } = checked
  let collector = collectors.get(registry)
  // It may have been cleared.
  if (collector === undefined || !collector.isIn(registry)) {
    collector = new Collector(client, registry)
    collectors.set(registry, collector)
  }
  return collector.watched.add(balancer as Watchable, maxNodes)
}

function installed(): Client {
  let version: string
  let client: Client
  try {
    version = (ownRequire(`${CLIENT}/package.json`) as { version: string }).version
    client = ownRequire(CLIENT)
  } catch (error) {
    throw new PeerError(CLIENT, undefined, TESTED, 'is not installed', error)
  }
  if (!version.startsWith('15.')) throw new PeerError(CLIENT, version, TESTED, `is ${version}`)
  return client
}

/** How prom-client puts together what the processes of a cluster tell. */
const AGGREGATORS = { sum: 'sum', max: 'max', mean: 'average' } as const

/** The metrics in one registry. */
class Collector {
  readonly watched: WatchedBalancers
  readonly #metrics = new Map<MetricKey, Counter | Gauge>()
  readonly #durations: Histogram
  #looking: Promise<ReadonlyMap<MetricKey, readonly Point[]>> | undefined

  constructor(client: Client, registry: Registry) {
    this.#durations = new client.Histogram({
      ...aboutOf(METRICS.pollDuration, registry),
      buckets: [...DURATION_BOUNDS],
    })
    for (const [key, metric] of Object.entries(METRICS) as [MetricKey, Metric][]) {
      if (metric.kind === 'histogram') continue
      const about = {
        ...aboutOf(metric, registry),
        aggregator: AGGREGATORS[metric.together],
        collect: () => this.#collect(key),
      }
      this.#metrics.set(key, metric.kind === 'counter' ? new client.Counter(about) : new client.Gauge(about))
    }
    this.watched = new WatchedBalancers({
      onPoll: (seconds, attributes) => this.#durations.observe(labelsOf(attributes), seconds),
      onLeft: (name) => this.#forget(name),
    })
  }

  /** Whether a registry still has its metrics. */
  isIn(registry: Registry): boolean {
    return registry.getSingleMetric(prometheusName(METRICS.pollDuration)) === this.#durations
  }

  async #collect(key: MetricKey): Promise<void> {
    const points = (await this.#look()).get(key) ?? []
    const metric = this.#metrics.get(key)
    metric?.reset()
    for (const { value, attributes } of points) metric?.inc(labelsOf(attributes), value)
  }

  // A registry asks all metrics in one turn: one look is for all, and for scrapes that come while it is taken.
  #look(): Promise<ReadonlyMap<MetricKey, readonly Point[]>> {
    this.#looking ??= this.#lookAnew().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #lookAnew(): Promise<ReadonlyMap<MetricKey, readonly Point[]>> {
    const seen = new Map<MetricKey, Point[]>()
    for (const point of await this.watched.observe()) {
      // What is not told is gone.
      if (point.isLast) continue
      const points = seen.get(point.metric)
      if (points === undefined) seen.set(point.metric, [point])
      else points.push(point)
    }
    return seen
  }

  // What was polled by it, with each kind of error.
  async #forget(name: string): Promise<void> {
    const { values } = await this.#durations.get()
    for (const { labels } of values) {
      if (labels[prometheusLabel(BALANCER)] === name) this.#durations.remove(withoutBound(labels))
    }
  }
}

function aboutOf(metric: Metric, registry: Registry) {
  const { description: help, attributes } = metric
  const labelNames = [BALANCER, ...attributes].map(prometheusLabel)
  return { name: prometheusName(metric), help, labelNames, registers: [registry] }
}

function labelsOf(attributes: Attributes): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [prometheusLabel(name), value]))
}

function withoutBound({ le: _, ...labels }: Partial<Record<string, string | number>>) {
  return labels
}
