import test from 'ava'
import { ClosedError, leastCpu, random } from '../../dist/index.js'
import { Events } from '../../dist/simulation/events.js'
import { shipped } from '../../dist/simulation/policy.js'
import { NONE } from '../../dist/simulation/requests.js'
import { BOARD_STEP, reportCpu, reportQueue, type Scene } from '../../dist/simulation/scene.js'
import { simulate } from '../../dist/simulation/simulation.js'
import { alike, only, queues, recorder } from './support.js'

/** One server of two cores; at 0 two requests of 20 and 60 ms, at 150 one of 10 ms, at 320 the last. */
const scene: Scene = {
  servers: [{ cores: 2 }],
  requests: 4,
  arrivals: { kind: 'replay', times: [0.5, 0.5, 150, 320] },
  service: { kind: 'given', times: [20, 60, 10, 1] },
  reportInterval: 100,
}

/** When reports came, and what they said. */
function reportsOf(scene: Scene) {
  const policy = recorder()
  simulate(scene, policy)
  return only(policy.told[0], 'report').map(({ at, server, report }) => ({ at, server, ...report }))
}

test('a report tells of the time since the last one', (t) => {
  const reports = reportsOf(scene)
  t.deepEqual(
    reports.map(({ at, cpu }) => [at, cpu]),
    [
      [0, 0],
      [100, 40],
      [200, 5],
      [300, 0],
    ],
  )
  t.deepEqual(
    reports.map(({ qps, latency, queueDelay, inFlight, eps }) => [qps, latency, queueDelay, inFlight, eps]),
    [
      [0, undefined, undefined, 0, 0],
      [20, 40, 0, 0, 0],
      [10, 10, 0, 0, 0],
      [0, undefined, undefined, 0, 0],
    ],
  )
})

test('other work counts as busy, as much of it as requests leave', (t) => {
  const reports = reportsOf({ ...scene, servers: [{ cores: 2, background: 0.5 }] })
  // At half speed 40 and 100 ms of the first window, then 20 of the second and 20 of the third.
  t.deepEqual(
    reports.map(({ cpu = -1 }) => Math.round(cpu * 100) / 100),
    [0, 50 + (39.5 + 0.5 + 99.5) / 4, 50 + (20.5 + 20) / 4, 50].map((cpu) => Math.round(cpu * 100) / 100),
  )
})

test('a report is as old as its way was long when it arrives', (t) => {
  const reports = reportsOf({ ...scene, delay: 30, report: reportCpu, requests: 3 })
  t.deepEqual(
    reports.map(({ at, age }) => [at, age]),
    [
      [30, 30],
      [130, 30],
    ],
  )
})

test('the sample is taken when the server is asked, not when the report arrives', (t) => {
  // The delay is longer than the interval: three reports are under way at once, in order.
  const reports = reportsOf({ ...scene, delay: 250, report: reportCpu })
  t.deepEqual(
    reports.slice(0, 5).map(({ at, cpu }) => [at, cpu]),
    [
      [250, 0],
      [350, 0],
      [450, 0],
      [550, (20 + 49.5) / 2],
      [650, (60 - 49.5) / 2],
    ],
  )
})

test('waiting counts in the latency and as queue delay, errors in eps', (t) => {
  const reports = reportsOf({
    ...scene,
    servers: [{}],
    requests: 5,
    arrivals: { kind: 'replay', times: [0.5, 0.5, 0.5, 150, 320] },
    service: { kind: 'given', times: [20, 60, 10, 10, 1] },
    changes: [{ at: 120, server: 0, state: 'failing' }],
    failAfter: 2,
  })
  t.deepEqual(
    reports.map(({ at, qps, eps, latency, queueDelay }) => [at, qps, eps, latency, queueDelay]),
    [
      [0, 0, 0, undefined, undefined],
      [100, 30, 0, (20 + 80 + 90) / 3, (20 + 80) / 3],
      [200, 0, 10, 2, undefined],
      [300, 0, 0, undefined, undefined],
    ],
  )
})

test('a server that is silent or gone sends no report, and starts anew when it is back', (t) => {
  const reports = reportsOf({
    ...scene,
    servers: [{ cores: 2 }, { state: 'gone', background: 0.9 }],
    report: reportCpu,
    changes: [
      { at: 50, server: 0, state: 'silent' },
      { at: 250, server: 0, state: 'up' },
      { at: 150, server: 1, state: 'up', background: 0.5 },
    ],
  })
  t.deepEqual(
    reports.map(({ at, server }) => [at, server]),
    [
      [0, 0],
      [200, 1],
      [300, 0],
      [300, 1],
    ],
  )
  // What was before it came does not count.
  t.is(reports[1]?.cpu, 50)
})

test('each balancer polls at a time of its own, and its windows are its own', (t) => {
  const policy = recorder()
  simulate({ ...queues(alike(2), 0.5, 2_000), balancers: 20, reportInterval: 400 }, policy, 3)
  const first = policy.told.map((told) => only(told, 'report')[0]?.at ?? -1)
  t.true(first.every((at) => at >= 0 && at < 400))
  t.is(new Set(first).size, 20)
  for (const told of policy.told) {
    const at = only(told, 'report').map(({ at }) => at)
    t.true(at.length > 20)
    t.true(at.every((time, i) => i < 2 || Math.abs(time - (at[i - 2] as number) - 400) < 1e-6))
  }
  const given = recorder()
  simulate(
    { ...queues(alike(2), 0.5, 2_000), balancers: 2, reportInterval: 400, reportOffsets: [7, 90] },
    given,
  )
  t.deepEqual(
    given.told.map((told) => only(told, 'report')[0]?.at),
    [7, 90],
  )
})

test('a request that arrives when a sample is taken is not in it', (t) => {
  const reports = reportsOf({
    ...scene,
    requests: 2,
    arrivals: { kind: 'replay', times: [100, 300] },
    service: { kind: 'given', times: [150] },
  })
  t.deepEqual(
    reports.map(({ at, inFlight }) => [at, inFlight]),
    [
      [0, 0],
      [100, 0],
      [200, 1],
      [300, 0],
      [400, 1],
    ],
  )
})

test('a board of queue lengths has them in the finest step of the table', (t) => {
  t.deepEqual(reportQueue({ inFlight: 7, cpu: 50, qps: 0, eps: 0, latency: 1, queueDelay: 0 }), {
    cpu: 7 * BOARD_STEP,
  })
})

test('responses carry reports when they are asked to: as the server is when it answers', (t) => {
  const policy = recorder()
  simulate(
    {
      servers: [{}],
      requests: 3,
      arrivals: { kind: 'replay', times: [0, 1, 2] },
      service: { kind: 'given', times: [10] },
      reportInterval: 0,
      delay: 4,
      inBand: ({ inFlight }) => ({ inFlight }),
    },
    policy,
  )
  t.deepEqual(
    only(policy.told[0], 'report').map(({ at, report }) => [at, report]),
    [
      [18, { inFlight: 2, age: 4 }],
      [28, { inFlight: 1, age: 4 }],
      [38, { inFlight: 0, age: 4 }],
    ],
  )
})

test('a balancer of ours counts what is in flight, and takes reports, as it does anywhere', (t) => {
  const clock = new Events()
  const setting = { servers: 3, present: [0, 2], clock, seed: 1 }
  const dispatcher = shipped('it', leastCpu()).create(setting)
  const { balancer } = dispatcher
  dispatcher.report(2, { cpu: 90 })
  dispatcher.report(1, { cpu: 10 })
  t.deepEqual(
    [1, 2, 3].map((request) => dispatcher.begin(request)),
    [0, 0, 0],
  )
  dispatcher.end(2, false, 7)
  const [first, second] = balancer.snapshot()
  t.like(first, { id: 'server-1', inFlight: 2, released: 1, failed: 1, latency: 7 })
  t.like(second, { id: 'server-3', cpu: 90, inFlight: 0 })
  t.is(balancer.stats().picks.reportsUnknown, 1)
  clock.time = 20_000
  t.false(balancer.snapshot()[1]?.fresh)
  dispatcher.leave(0)
  t.is(dispatcher.begin(4), 2)
  dispatcher.leave(2)
  t.is(dispatcher.begin(5), NONE)
  dispatcher.join(1)
  t.is(dispatcher.begin(6), 1)
  dispatcher.close()
  t.throws(() => balancer.select(), { instanceOf: ClosedError })
})

test('leastCpu of the shipped engine goes by the reports of its balancer, and random by none', (t) => {
  // One server has half of its CPU taken: at little load it must get next to nothing within a band of 5 points.
  const servers = [{ background: 0.5 }, {}, {}, {}]
  const shares = [leastCpu(), random()].map((algorithm) => {
    const scene = { ...queues(servers, 0.02, 20_000), reportInterval: 1_000, report: reportCpu, balancers: 2 }
    return simulate(scene, shipped('it', algorithm), 8).nodes[0]?.share ?? -1
  })
  t.is(shares[0], 0)
  t.true(Math.abs((shares[1] ?? 0) - 0.25) < 0.02)
})

test('a server that goes silent gets no more once its last report is too old', (t) => {
  const sent: number[] = []
  const { requests } = simulate(
    {
      ...queues(alike(4), 0.5, 10_000),
      reportInterval: 500,
      timeout: 200,
      changes: [{ at: 10_000, server: 2, state: 'silent' }],
      warmup: 0,
      window: 1_000,
      onWindow: (_, counts) => sent.push(counts[2] as number),
    },
    shipped('leastCpu', leastCpu({ threshold: 100, ttl: 1_500, missing: 'exclude' }), {
      trust: { health: false },
    }),
    1,
  )
  t.true(sent.slice(0, 10).every((count) => count > 20))
  // Its last report is of 10,000 at the latest.
  t.true((sent[10] as number) > 20)
  t.deepEqual(new Set(sent.slice(12)), new Set([0]))
  // None of those sent from then on is answered, and few of those that it had.
  t.true(requests.timeouts >= (sent[10] as number) + (sent[11] as number))
  t.true(requests.timeouts <= (sent[10] as number) + (sent[11] as number) + 20)
  t.is(requests.inSystem, 0)
})
