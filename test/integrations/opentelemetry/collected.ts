import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import type { ExecutionContext } from 'ava'

export interface Collected {
  readonly provider: MeterProvider
  /** All metrics as they are now, by name. */
  collect(): Promise<ReadonlyMap<string, MetricData>>
  /** One of them: values by their attributes but the balancer's name, such as `a ok`. */
  values(name: string): Promise<Record<string, number>>
}

/** OpenTelemetry's own SDK, which exports to memory, when it is asked to alone. */
export function collected(
  t: ExecutionContext,
  temporality: AggregationTemporality = AggregationTemporality.CUMULATIVE,
): Collected {
  const exporter = new InMemoryMetricExporter(temporality)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 31 - 1 })
  const provider = new MeterProvider({ readers: [reader] })
  t.teardown(() => provider.shutdown())
  const collect = async () => {
    exporter.reset()
    await provider.forceFlush()
    const scopes = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics)
    return new Map(scopes.flatMap(({ metrics }) => metrics).map((data) => [data.descriptor.name, data]))
  }
  const values = async (name: string) => {
    const points = (await collect()).get(name)?.dataPoints ?? []
    return Object.fromEntries(
      points.map(({ attributes, value }) => {
        const { 'idlest.balancer.name': _, ...others } = attributes
        return [Object.values(others).join(' '), value as number]
      }),
    )
  }
  return { provider, collect, values }
}
