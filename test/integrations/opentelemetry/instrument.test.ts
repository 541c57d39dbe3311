import { metrics } from '@opentelemetry/api'
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
} from '@opentelemetry/sdk-metrics'
import test from 'ava'
import { leastCpu, OptionError } from '../../../dist/index.js'
import { METRICS } from '../../../dist/integrations/metrics/catalogue.js'
import { instrumentBalancer } from '../../../dist/integrations/opentelemetry/index.js'
import { prometheusLabel, prometheusName } from '../../../dist/integrations/prometheus/names.js'
import { polling, watched } from '../watched.js'
import { collected } from './collected.js'

test('picks are counted by node', async (t) => {
  const { provider, values } = collected(t)
  const { balancer } = watched(t)
  instrumentBalancer(balancer, { meterProvider: provider })
  balancer.report('a', { cpu: 5 })
  balancer.report('b', { cpu: 90 })
  balancer.report('c', { cpu: 90 })
  for (let i = 0; i < 7; i++) balancer.select()
  t.deepEqual(await values('idlest.picks'), { a: 7, b: 0, c: 0 })
  balancer.select()
  t.deepEqual(await values('idlest.picks'), { a: 8, b: 0, c: 0 })
})

test('with delta temporality it is what came since the last collection', async (t) => {
  const { provider, values } = collected(t, AggregationTemporality.DELTA)
  const { balancer } = watched(t)
  instrumentBalancer(balancer, { meterProvider: provider, maxNodes: 0 })
  balancer.fill(new Uint32Array(7))
  t.deepEqual(await values('idlest.picks'), { other: 7 })
  balancer.fill(new Uint32Array(2))
  t.deepEqual(await values('idlest.picks'), { other: 2 })
})

test('every metric comes with its unit and kind, and each attribute has a namespace', async (t) => {
  const { provider, collect } = collected(t)
  const { balancer, clock } = polling(t, { name: 'all metrics', algorithm: leastCpu() })
  instrumentBalancer(balancer, { meterProvider: provider })
  await clock.advance(100)
  const data = await collect()
  const absent = ['idlest.node.weight', 'idlest.node.expected_duration']
  for (const metric of Object.values(METRICS)) {
    if (absent.includes(metric.name)) continue
    const one = data.get(metric.name)
    t.is(one?.descriptor.unit, metric.unit, metric.name)
    t.is(one?.descriptor.description, metric.description, metric.name)
    const isSum = one?.dataPointType === DataPointType.SUM
    t.is(isSum && one.isMonotonic, metric.kind === 'counter', metric.name)
    const allowed: string[] = ['idlest.balancer.name', ...metric.attributes]
    for (const { attributes } of one?.dataPoints ?? []) {
      t.is(attributes['idlest.balancer.name'], 'all metrics')
      for (const key of Object.keys(attributes)) {
        t.true(allowed.includes(key), `${metric.name}: ${key}`)
        t.regex(key, /^(idlest|error)\.[a-z.]+$/)
      }
    }
  }
  t.is(data.size, Object.keys(METRICS).length - absent.length, 'there are no others')
})

test('names follow the conventions, and are Prometheus names by the rules of its translation', (t) => {
  const names = Object.values(METRICS).map(({ name }) => name)
  for (const name of names) {
    t.regex(name, /^idlest(\.[a-z_]+)+$/)
    t.false(
      names.some((other) => other.startsWith(`${name}.`)),
      `${name} is no namespace`,
    )
  }
  const { picks, cpu, age, pollDuration, inFlight, weight, info } = METRICS
  t.deepEqual([picks, cpu, age, pollDuration, inFlight, weight, info].map(prometheusName), [
    'idlest_picks_total',
    'idlest_node_cpu_utilization_ratio',
    'idlest_node_reading_age_seconds',
    'idlest_poll_duration_seconds',
    'idlest_node_in_flight',
    'idlest_node_weight',
    'idlest_info',
  ])
  t.is(prometheusLabel('idlest.node.id'), 'idlest_node_id')
})

test('durations of polls are a histogram, in seconds', async (t) => {
  const { provider, collect } = collected(t)
  const { balancer, clock } = polling(t, { name: 'durations' })
  instrumentBalancer(balancer, { meterProvider: provider })
  await clock.advance(1_100)
  const points = (await collect()).get('idlest.poll.duration')?.dataPoints ?? []
  t.is(points.length, 1)
  const { count, sum, min, max, buckets } = (points as DataPoint<Histogram>[]).map(
    ({ value }) => value,
  )[0] as Histogram
  t.deepEqual({ count, sum, min, max }, { count: 2, sum: 0.08, min: 0.04, max: 0.04 })
  t.is(buckets.counts[buckets.boundaries.indexOf(0.05)], 2)
})

test('polls of others, and a cycle that a close cut short, are not told of', async (t) => {
  const { provider, collect } = collected(t)
  const { balancer, clock } = polling(t, { name: 'cut short' })
  const other = polling(t, { name: 'another' })
  instrumentBalancer(balancer, { meterProvider: provider })
  await other.clock.advance(100)
  await clock.advance(10)
  await balancer.close()
  t.is((await collect()).get('idlest.poll.duration'), undefined)
})

test('a node that left is not said to have requests in flight for ever', async (t) => {
  const { provider, values } = collected(t)
  const { balancer } = watched(t)
  instrumentBalancer(balancer, { meterProvider: provider })
  balancer.acquire({ exclude: ['b', 'c'] })
  t.like(await values('idlest.node.in_flight'), { a: 1 })
  balancer.remove('a')
  t.like(await values('idlest.node.in_flight'), { a: 0 })
  t.like(await values('idlest.node.share'), { a: 0, b: 0.5 })
})

test('several balancers share a provider, each by its name', async (t) => {
  const { provider, collect } = collected(t)
  instrumentBalancer(watched(t, { name: 'one' }).balancer, { meterProvider: provider })
  instrumentBalancer(watched(t, { name: 'two' }).balancer, { meterProvider: provider })
  const points = (await collect()).get('idlest.info')?.dataPoints ?? []
  t.deepEqual(points.map(({ attributes }) => attributes['idlest.balancer.name']).sort(), ['one', 'two'])
  const again = watched(t, { name: 'two' })
  t.throws(() => instrumentBalancer(again.balancer, { meterProvider: provider }), {
    instanceOf: OptionError,
    message: /whose name no other has/,
  })
})

test('a watch that is closed tells no more, and a balancer that is closed once more', async (t) => {
  const { provider, values } = collected(t, AggregationTemporality.DELTA)
  const { balancer } = watched(t, { engine: 'portable' })
  const watch = instrumentBalancer(balancer, { meterProvider: provider })
  balancer.select()
  watch.close()
  t.deepEqual(await values('idlest.picks'), {})
  instrumentBalancer(balancer, { meterProvider: provider })
  await balancer.close()
  t.deepEqual(await values('idlest.info'), { 'portable leastCpu': 0 })
  t.deepEqual(await values('idlest.info'), {})
})

test.serial('by default it is the provider that is registered', async (t) => {
  const { provider, values } = collected(t)
  metrics.setGlobalMeterProvider(provider)
  t.teardown(() => metrics.disable())
  const { balancer } = watched(t)
  instrumentBalancer(balancer)
  balancer.fill(new Uint32Array(3))
  const picks = Object.values(await values('idlest.picks'))
  t.is(
    picks.reduce((sum, value) => sum + value, 0),
    3,
  )
})

test('wrong options are errors that say so', (t) => {
  const { balancer } = watched(t)
  // @ts-expect-error not a provider
  t.throws(() => instrumentBalancer(balancer, { meterProvider: {} }), {
    message: /expected a MeterProvider of OpenTelemetry/,
  })
  t.throws(() => instrumentBalancer(balancer, { maxNodes: 0.5 }), { message: /option maxNodes is 0.5/ })
})
