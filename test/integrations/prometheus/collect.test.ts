import test from 'ava'
import { Counter, Registry, register } from 'prom-client'
import {
  adaptive,
  attachBalancer,
  hashRing,
  leastCpu,
  OptionError,
  random,
  weightedRoundRobin,
} from '../../../dist/index.js'
import { collectBalancer } from '../../../dist/integrations/prometheus/index.js'
import { polling, watched } from '../watched.js'
import { scrape, scrapeAll } from './scrape.js'

test('picks are counted by node', async (t) => {
  const { balancer } = watched(t)
  const registry = new Registry()
  collectBalancer(balancer, { registry })
  balancer.report('a', { cpu: 5 })
  balancer.report('b', { cpu: 90 })
  balancer.report('c', { cpu: 90 })
  for (let i = 0; i < 7; i++) balancer.select()
  t.deepEqual(await scrape(registry, 'idlest_picks_total'), { a: 7, b: 0, c: 0 })
  balancer.select()
  t.deepEqual(await scrape(registry, 'idlest_picks_total'), { a: 8, b: 0, c: 0 })
})

test('picks of all ways to pick are counted, those from arrays as of others', async (t) => {
  const { balancer } = watched(t, { algorithm: hashRing() })
  const registry = new Registry()
  collectBalancer(balancer, { registry })
  balancer.select()
  balancer.select({ exclude: ['a'] })
  balancer.select({ key: 'x' })
  balancer.selectHash(5)
  balancer.fill(new Uint32Array(10))
  balancer.acquire().release()
  balancer.select(['a', 'z'])
  const { other, ...nodes } = await scrape(registry, 'idlest_picks_total')
  t.is(other, 1)
  t.is(
    Object.values(nodes).reduce((sum, value) => sum + value, 0),
    15,
  )
})

test('all but the most picked nodes are told of as one', async (t) => {
  const { balancer } = watched(t, { nodes: ['a', 'b', 'c', 'd'], algorithm: leastCpu({ threshold: 0 }) })
  const registry = new Registry()
  collectBalancer(balancer, { registry, maxNodes: 1 })
  for (const [i, node] of balancer.nodes.entries()) balancer.report(node, { cpu: 10 * (i + 1) })
  balancer.select()
  balancer.acquire({ exclude: ['a'] })
  balancer.acquire({ exclude: ['a', 'b'] })
  balancer.acquire({ exclude: ['a', 'b', 'c'] }).release({ ok: false })
  for (let i = 0; i < 5; i++) balancer.select()
  t.deepEqual(await scrape(registry, 'idlest_picks_total'), { a: 6, other: 3 })
  t.deepEqual(await scrape(registry, 'idlest_node_in_flight'), { a: 0, other: 2 }, 'their sum')
  t.deepEqual(
    await scrape(registry, 'idlest_node_cpu_utilization_ratio'),
    { a: 0.1, other: 0.3 },
    'their mean',
  )
  t.deepEqual(await scrape(registry, 'idlest_leases_total'), { 'other failed': 1, 'a ok': 0, 'a failed': 0 })
})

test('no more nodes have series than are allowed, however many come and go', async (t) => {
  const { balancer } = watched(t, { nodes: Array.from({ length: 500 }, (_, i) => `node-${i}`) })
  const registry = new Registry()
  collectBalancer(balancer, { registry })
  for (let round = 0; round < 3; round++) {
    balancer.setNodes(Array.from({ length: 500 }, (_, i) => `node-${round}-${i}`))
    balancer.fill(new Uint32Array(1_000))
    const nodes = new Set((await scrapeAll(registry)).map(({ labels }) => labels.idlest_node_id ?? ''))
    nodes.delete('')
    t.is(nodes.size, 101)
  }
})

test('picks that gave nothing, and why', async (t) => {
  const { balancer } = watched(t, { nodes: [] })
  const registry = new Registry()
  collectBalancer(balancer, { registry })
  balancer.trySelect()
  t.deepEqual(await scrape(registry, 'idlest_empty_picks_total'), { no_node: 1, no_load: 0 })
})

test('members by state, those with a fresh report, and those in the band', async (t) => {
  const { balancer, clock } = watched(t, {
    nodes: ['a', 'b', 'c', 'd', 'e'],
    algorithm: leastCpu({ threshold: 5, ttl: 1_000, missing: 'exclude' }),
  })
  const registry = new Registry()
  collectBalancer(balancer, { registry })
  balancer.report('a', { cpu: 10 })
  await clock.advance(2_000)
  balancer.report('b', { cpu: 20, state: 'drain' })
  balancer.report('c', { cpu: 30 })
  balancer.report('d', { cpu: 31 })
  balancer.report('e', { cpu: 60 })
  for (let i = 0; i < 5; i++) balancer.acquire({ exclude: ['a', 'b', 'c', 'd'] }).release({ ok: false })
  t.deepEqual(await scrape(registry, 'idlest_pool_size'), { up: 3, drain: 1, maint: 0, down: 0, ejected: 1 })
  t.deepEqual(await scrape(registry, 'idlest_pool_fresh'), { '': 4 })
  t.deepEqual(await scrape(registry, 'idlest_band_size'), { '': 2 })
  t.deepEqual(await scrape(registry, 'idlest_ejections_total'), { '': 1 })
  t.like(await scrape(registry, 'idlest_leases_total'), { 'e failed': 5, 'e ok': 0 })
  t.like(await scrape(registry, 'idlest_node_reading_age_seconds'), { a: 2, c: 0 })
})

test('weights and expected durations, where the algorithm has them', async (t) => {
  const registry = new Registry()
  const weighted = watched(t, { name: 'weighted', algorithm: weightedRoundRobin({ weights: { a: 3 } }) })
  collectBalancer(weighted.balancer, { registry })
  t.deepEqual(await scrape(registry, 'idlest_node_weight'), { a: 3, b: 1, c: 1 })
  t.deepEqual(await scrape(registry, 'idlest_node_share_ratio'), { a: 0.6, b: 0.2, c: 0.2 })
  const adapting = watched(t, { name: 'adapting', algorithm: adaptive() })
  collectBalancer(adapting.balancer, { registry })
  t.deepEqual(Object.keys(await scrape(registry, 'idlest_node_expected_duration_seconds')), ['a', 'b', 'c'])
  t.deepEqual(await scrape(registry, 'idlest_node_weight'), { a: 3, b: 1, c: 1 }, 'it has no weights')
})

test('the engine and the algorithm in use', async (t) => {
  const { balancer } = watched(t, { engine: 'portable' })
  const registry = new Registry()
  collectBalancer(balancer, { registry })
  t.deepEqual(await scrape(registry, 'idlest_info'), { 'portable leastCpu': 1 })
})

test('durations of polls, their errors by kind, and what came of them', async (t) => {
  const { balancer, clock } = polling(t, { name: 'polling' })
  const registry = new Registry()
  collectBalancer(balancer, { registry })
  await clock.advance(1_100)
  t.is(balancer.stats().poll?.cycles, 2)
  t.deepEqual(await scrape(registry, 'idlest_poll_duration_seconds_count'), { '': 2 })
  t.deepEqual(await scrape(registry, 'idlest_poll_duration_seconds_sum'), { '': 0.08 })
  t.like(await scrape(registry, 'idlest_poll_duration_seconds_bucket'), { '0.025': 0, '0.05': 2, '+Inf': 2 })
  t.deepEqual(await scrape(registry, 'idlest_poll_errors_total'), { exit: 0, error: 2 })
  t.deepEqual(await scrape(registry, 'idlest_poll_requests_total'), { '': 6 })
  t.like(await scrape(registry, 'idlest_reports_total'), { poll: 4, push: 0, call: 0, response: 0 })
})

test('a scrape looks at a balancer once', async (t) => {
  const { balancer } = watched(t)
  const looks = { stats: 0, snapshots: 0 }
  const counted = {
    name: balancer.name,
    engine: balancer.engine,
    algorithm: balancer.algorithm,
    closed: false,
    stats: () => {
      looks.stats++
      return balancer.stats()
    },
    snapshotParts: () => {
      looks.snapshots++
      return balancer.snapshotParts()
    },
  }
  const registry = new Registry()
  collectBalancer(counted, { registry })
  await registry.metrics()
  t.deepEqual(looks, { stats: 1, snapshots: 1 })
  await registry.getMetricsAsJSON()
  t.deepEqual(looks, { stats: 2, snapshots: 2 })
  await registry.getSingleMetric('idlest_pool_fresh')?.get()
  t.deepEqual(looks, { stats: 3, snapshots: 3 })
})

test('a scrape of thousands of nodes lets the event loop turn, and scrapes at the same time are one look', async (t) => {
  const nodes = Array.from({ length: 5_000 }, (_, i) => `node-${i}`)
  const { balancer } = watched(t, { nodes, algorithm: random() })
  for (let i = 0; i < 20_000; i++) balancer.select()
  const registry = new Registry()
  collectBalancer(balancer, { registry, maxNodes: 0 })
  let turns = 0
  let isDone = false
  const count = () => {
    turns++
    // Picks and members of meanwhile.
    if (turns === 20) balancer.setNodes(nodes.slice(2_500))
    balancer.select()
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const [one, two] = await Promise.all([scrape(registry, 'idlest_picks_total'), registry.metrics()])
  isDone = true
  await new Promise(setImmediate)
  t.true(turns > 80 && turns < 1_000, `${turns}`)
  t.deepEqual(one, { other: 20_000 }, 'as of the beginning')
  t.true(two.includes('idlest_pool_size{'))
  t.deepEqual(
    await scrape(registry, 'idlest_picks_total'),
    { other: 20_000 + turns },
    'none is lost, none counts twice',
  )
})

test('several balancers share a registry, by name', async (t) => {
  const registry = new Registry()
  const one = watched(t, { name: 'one' })
  const two = watched(t, { name: 'two' })
  collectBalancer(one.balancer, { registry })
  collectBalancer(two.balancer, { registry })
  two.balancer.select()
  const picks = (await scrapeAll(registry)).filter(({ name }) => name === 'idlest_picks_total')
  const sums: Record<string, number> = {}
  for (const { labels, value } of picks) {
    const name = labels.idlest_balancer_name ?? ''
    sums[name] = (sums[name] ?? 0) + value
  }
  t.deepEqual(sums, { one: 0, two: 1 })
})

test('two of the same name would be taken for one: that is an error', (t) => {
  const registry = new Registry()
  const watch = collectBalancer(watched(t).balancer, { registry })
  const { balancer } = watched(t)
  const error = t.throws(() => collectBalancer(balancer, { registry }), { instanceOf: OptionError })
  t.is(
    error.message,
    'option balancer is "mine": expected a balancer whose name no other has that is watched already',
  )
  t.notThrows(() => collectBalancer(balancer, { registry: new Registry() }))
  watch.close()
  t.notThrows(() => collectBalancer(balancer, { registry }))
})

test('a balancer that is closed is told of once more, then no longer', async (t) => {
  const registry = new Registry()
  const { balancer, clock } = polling(t, { name: 'polling, then closed' })
  collectBalancer(balancer, { registry })
  await clock.advance(100)
  balancer.select()
  await scrape(registry, 'idlest_picks_total')
  balancer.select()
  await balancer.close()
  const last = await scrape(registry, 'idlest_picks_total')
  t.is(
    Object.values(last).reduce((sum, value) => sum + value, 0),
    1,
    'members are gone: what was picked since the last look is of others',
  )
  t.deepEqual(await scrapeAll(registry), [])
  const again = watched(t, { name: balancer.name })
  t.notThrows(() => collectBalancer(again.balancer, { registry }), 'its name is free')
})

test('closing the watch ends it at once, and leaves the balancer as it is', async (t) => {
  const registry = new Registry()
  const { balancer } = watched(t)
  const watch = collectBalancer(balancer, { registry })
  watch.close()
  watch.close()
  t.deepEqual(await scrapeAll(registry), [])
  t.is(typeof balancer.select(), 'string')
})

test('a registry that was cleared may be used again', async (t) => {
  const registry = new Registry()
  const { balancer } = watched(t)
  collectBalancer(balancer, { registry })
  registry.clear()
  collectBalancer(balancer, { registry })
  t.deepEqual(await scrape(registry, 'idlest_picks_total'), { a: 0, b: 0, c: 0 })
})

test('by default the metrics go to the registry of prom-client itself', async (t) => {
  const { balancer } = watched(t)
  using _ = collectBalancer(balancer)
  t.deepEqual(await scrape(register, 'idlest_picks_total'), { a: 0, b: 0, c: 0 })
})

test('metrics of others in the registry are left alone', async (t) => {
  const registry = new Registry()
  const mine = new Counter({ name: 'mine_total', help: 'x', registers: [registry] })
  collectBalancer(watched(t).balancer, { registry })
  mine.inc(3)
  t.deepEqual(await scrape(registry, 'mine_total'), { '': 3 })
})

test('OpenMetrics has the same names', async (t) => {
  const registry = new Registry()
  // @ts-expect-error its types know the type of its own content alone
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  const { balancer } = watched(t)
  collectBalancer(balancer, { registry })
  balancer.select()
  t.deepEqual(Object.keys(await scrape(registry, 'idlest_picks_total')), ['a', 'b', 'c'])
})

test('ids with quotes, line ends and such are told as they are', async (t) => {
  const registry = new Registry()
  const nodes = ['a "b"\n', '\\', 'ü{}']
  collectBalancer(watched(t, { nodes }).balancer, { registry })
  t.deepEqual(Object.keys(await scrape(registry, 'idlest_picks_total')), nodes)
})

test('an attached balancer is watched as another is', async (t) => {
  const registry = new Registry()
  const { balancer, clock } = watched(t)
  using attached = attachBalancer(balancer.handle(), { clock })
  collectBalancer(attached, { registry })
  attached.fill(new Uint32Array(30))
  const picks = await scrape(registry, 'idlest_picks_total')
  t.is(
    Object.values(picks).reduce((sum, value) => sum + value, 0),
    30,
  )
})

test('wrong options are errors that say so', (t) => {
  const { balancer } = watched(t)
  t.throws(() => collectBalancer(balancer, { maxNodes: -1 }), {
    message: 'option maxNodes is -1: expected a whole number from 0 to 100000',
  })
  // @ts-expect-error not a registry
  t.throws(() => collectBalancer(balancer, { registry: {} }), {
    message: /expected a Registry of prom-client/,
  })
  // @ts-expect-error not a balancer
  t.throws(() => collectBalancer({}), { message: /expected a balancer/ })
})
