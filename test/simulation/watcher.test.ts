import test from 'ava'
import { leastCpu } from '../../dist/index.js'
import { shipped } from '../../dist/simulation/policy.js'
import type { Scene } from '../../dist/simulation/scene.js'
import { Simulation, simulate } from '../../dist/simulation/simulation.js'
import { inTurn } from './in-turn.js'
import { alike, queues } from './support.js'

// Everything that can happen, in one.
const scene: Scene = {
  ...queues(alike(4), 0.8, 4_000),
  balancers: 2,
  reportInterval: 150,
  delay: 2,
  timeout: 200,
  changes: [
    { at: 1_000, server: 0, background: 0.5 },
    { at: 2_000, server: 1, state: 'failing' },
    { at: 3_000, server: 1, state: 'up' },
  ],
}
const policy = shipped('leastCpu', leastCpu())

test('a run in steps that is watched and looked at is the same, bit for bit', (t) => {
  let told = 0
  const watched = new Simulation(scene, policy, 5, {
    sent: () => told++,
    ended: () => told++,
    reported: () => told++,
  })
  for (let time = 0; watched.advanceTo(time); time += 7) for (let i = 0; i < 4; i++) watched.server(i)
  t.deepEqual(watched.result(), simulate(scene, policy, 5))
  t.true(told > 8_000)
})

test('a watcher is told of each request once when it is sent and once when it ends, and of each polled report', (t) => {
  const sent = new Array<number>(4).fill(0)
  const ended = { ok: 0, failed: 0 }
  const latencies: number[] = []
  const reports = new Map<number, number[]>()
  const simulation = new Simulation({ ...scene, warmup: 0 }, policy, 5, {
    sent: (server) => {
      sent[server] = (sent[server] as number) + 1
    },
    ended: (_server, ok, latency) => {
      if (ok) latencies.push(latency)
      ended[ok ? 'ok' : 'failed']++
    },
    reported: (server, balancer, report, time) => {
      if (server === 3 && typeof report.cpu === 'number')
        reports.set(balancer, [...(reports.get(balancer) ?? []), time])
    },
  })
  simulation.advance()
  const { requests, nodes, response, end } = simulation.result()
  t.deepEqual(
    sent,
    nodes.map((node) => node.sent),
  )
  t.is(ended.ok, requests.completed)
  t.is(ended.failed, requests.errors + requests.timeouts)
  t.true(requests.errors > 0 && requests.timeouts > 0)
  t.is(
    latencies.reduce((most, latency) => Math.max(most, latency)),
    response.max,
  )
  t.deepEqual([...reports.keys()].sort(), [0, 1])
  for (const times of reports.values()) t.is(times.length, Math.floor((end - (times[0] as number)) / 150) + 1)
})

test('advanceTo goes up to a moment and no further; what is at that moment has happened', (t) => {
  const simulation = new Simulation(
    {
      servers: [{}],
      requests: 3,
      arrivals: { kind: 'replay', times: [10, 20, 30] },
      service: { kind: 'given', times: [25] },
      reportInterval: 0,
    },
    inTurn(),
    1,
  )
  t.true(simulation.advanceTo(9.9))
  t.is(simulation.counts.arrived, 0)
  t.true(simulation.advanceTo(20))
  t.is(simulation.counts.arrived, 2)
  t.true(simulation.advanceTo(5))
  t.is(simulation.counts.arrived, 2)
  t.true(simulation.advanceTo(84.9))
  t.is(simulation.counts.completed, 2)
  t.false(simulation.advanceTo(85))
  t.is(simulation.counts.completed, 3)
})

test('a server is seen as it is between two events: its queue, what it serves, and its time until now', (t) => {
  const simulation = new Simulation(
    {
      servers: [{ background: 0.5 }, { cores: 2 }],
      requests: 3,
      arrivals: { kind: 'replay', times: [10, 20, 30] },
      service: { kind: 'given', times: [25] },
      reportInterval: 0,
      changes: [{ at: 40, server: 1, state: 'silent' }],
    },
    inTurn(),
    1,
  )
  simulation.advanceTo(35)
  t.deepEqual(simulation.server(0), {
    state: 'up',
    speed: 1,
    background: 0.5,
    inFlight: 2,
    queue: 1,
    serving: 1,
    busyTotal: 10 * 0.5 + 25,
    servingTotal: 25,
  })
  // One of two cores.
  t.like(simulation.server(1), { inFlight: 1, queue: 0, serving: 1, busyTotal: 7.5, servingTotal: 7.5 })
  simulation.advanceTo(70)
  t.like(simulation.server(0), { inFlight: 1, queue: 0, serving: 1, servingTotal: 60 })
  t.is(simulation.server(1).state, 'silent')
  t.throws(() => simulation.server(2), { instanceOf: RangeError })
})
