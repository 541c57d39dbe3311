import test from 'ava'
import fc from 'fast-check'
import { isMeasurable, type MeasuredView, measureFleet } from '../../dist/estimate/measured.js'

type Node = MeasuredView['nodes'][number]

function node(report: Node['report'], more: Partial<Node> = {}): Node {
  return { state: 'up', age: 1_000, report, ...more }
}

function view(nodes: Node[], more: Partial<MeasuredView> = {}): MeasuredView {
  return { nodes, poll: { interval: 5_000 }, picksPerSecond: 300, window: 2_000, ...more }
}

test('servers that report qps and CPU: traffic, load and capacity are of what they report', (t) => {
  t.deepEqual(measureFleet(view([node({ cpu: 50, qps: 100 }), node({ cpu: 70, qps: 140 })])), {
    members: 2,
    servers: 2,
    traffic: { value: 240, from: 'qps that 2 servers report' },
    load: { value: 0.6, from: 'utilization that 2 servers report' },
    capacity: { value: 240 / 1.2, from: 'qps / utilization that 2 servers report' },
    reportInterval: { value: 5, from: "the balancer's poll interval" },
  })
})

test("the application's utilization goes before the CPU's, unless it is 0", (t) => {
  const nodes = [node({ cpu: 90, application: 50, qps: 10 }), node({ cpu: 30, application: 0, qps: 10 })]
  const { load, capacity } = measureFleet(view(nodes))
  t.is(load?.value, 0.4)
  t.is(capacity?.value, 20 / 0.8)
})

test('where one server reports no qps, traffic is what this balancer picks', (t) => {
  const { traffic, capacity } = measureFleet(view([node({ cpu: 50, qps: 100 }), node({ cpu: 50 })]))
  t.deepEqual(traffic, { value: 300, from: 'picks of this balancer alone, in 2 s' })
  t.deepEqual(capacity, { value: 200, from: 'qps / utilization that 1 server report' })
})

test('a server that does nothing tells nothing of its capacity, but counts for load', (t) => {
  const { load, capacity, traffic } = measureFleet(
    view([node({ cpu: 0, qps: 0 }), node({ cpu: 50, qps: 100 })]),
  )
  t.is(load?.value, 0.25)
  t.is(capacity?.value, 200)
  t.is(traffic?.value, 100)
})

test('who drains, is down or ejected is no server, and what it reports counts for nothing', (t) => {
  const report = { cpu: 10, qps: 5 }
  const nodes = [
    node(report, { state: 'drain' }),
    node(report, { state: 'maint' }),
    node(report, { state: 'down' }),
    node(report, { ejected: { reason: 'failures', remaining: 5_000 } }),
    node({ cpu: 50, qps: 100 }, { ejected: null }),
  ]
  const { members, servers, traffic, load } = measureFleet(view(nodes))
  t.is(members, 5)
  t.is(servers, 1)
  t.is(traffic?.value, 100)
  t.is(load?.value, 0.5)
})

test('reports of long ago count for nothing: older than 30 s and than three polls', (t) => {
  const nodes = [node({ cpu: 50, qps: 100 }, { age: 40_000 }), node({ cpu: 70, qps: 140 }, { age: 30_000 })]
  const { servers, load, traffic } = measureFleet(view(nodes))
  t.is(servers, 2)
  t.is(load?.value, 0.7)
  t.is(traffic?.value, 300)
  t.is(measureFleet(view(nodes, { poll: { interval: 20_000 } })).load?.value, 0.6)
})

test('what a balancer can not tell is undefined', (t) => {
  t.deepEqual(measureFleet({ nodes: [], poll: null }), {
    members: 0,
    servers: 0,
    traffic: undefined,
    load: undefined,
    capacity: undefined,
    reportInterval: undefined,
  })
  // Nothing was counted yet.
  t.is(measureFleet(view([node({})], { window: 0 })).traffic, undefined)
})

test('what is no live view is told from one, whatever else a view has', (t) => {
  t.true(isMeasurable({ nodes: [{ id: 'a', state: 'up', report: { cpu: 5, memory: 3 } }], engine: 'native' }))
  for (const wrong of [
    undefined,
    null,
    [],
    {},
    { nodes: {} },
    { nodes: [{ state: 'up' }] },
    { nodes: [{ state: 'up', report: { cpu: 'much' } }] },
    { nodes: [{ state: 'up', report: { qps: -1 } }] },
    { nodes: [], poll: { interval: '5 s' } },
  ]) {
    t.false(isMeasurable(wrong))
  }
})

test('any JSON is a live view or is none, without an error', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      t.is(typeof isMeasurable(value), 'boolean')
      t.is(typeof isMeasurable({ nodes: [value] }), 'boolean')
    }),
  )
})
