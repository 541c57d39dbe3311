import test from 'ava'
import { DEFAULTS, type Inputs, type ScenePolicy, scenePolicies } from '../../dist/scene/model/inputs.js'
import { Responses } from '../../dist/scene/model/responses.js'
import { SceneRun } from '../../dist/scene/model/run.js'
import { sceneOf } from '../../dist/scene/model/scene.js'
import { checkScene } from '../../dist/simulation/scene.js'
import { Simulation } from '../../dist/simulation/simulation.js'
import { Workload } from '../../dist/simulation/workload.js'

const policies = Object.keys(scenePolicies) as ScenePolicy[]

function runTo(time: number, policy: ScenePolicy, inputs: Partial<Inputs> = {}): SceneRun {
  const run = new SceneRun({ ...DEFAULTS, ...inputs }, policy)
  run.advanceTo(time)
  return run
}

/** Of several seconds, the mean of a figure of one server. */
function mean(run: SceneRun, figure: 'busy' | 'share', server: number): number {
  return run.windows.reduce((sum, window) => sum + (window[figure][server] as number), 0) / run.windows.length
}

test('whatever the policy, at the same time the same requests have come', (t) => {
  for (const balancers of [1, 5]) {
    const runs = policies.map((policy) => runTo(30_000, policy, { balancers }))
    t.deepEqual(new Set(runs.map((run) => run.digest())).size, 1)
    t.is(new Set(runs.map((run) => run.sentTotal)).size, 1)
    t.not(runTo(30_000, 'adaptive', { balancers, seed: 2 }).digest(), runs[0]?.digest() ?? '')
  }
})

for (const policy of policies) {
  test(`${policy}: arrivals, balancers and service times are those of the seed, request by request`, (t) => {
    const inputs: Inputs = { ...DEFAULTS, balancers: 3, lost: 0 }
    const workload = new Workload(checkScene(sceneOf(inputs)), 1)
    // First come, first served, by one core: all that a response time can be made of.
    const freeAt = [0, 0, 0, 0]
    const expected: number[][] = [[], [], [], []]
    const latencies: number[][] = [[], [], [], []]
    const simulation = new Simulation(sceneOf(inputs), scenePolicies[policy].make(inputs), 1, {
      sent(server, balancer, time) {
        workload.next()
        t.is(time, workload.time)
        t.is(balancer, workload.balancer)
        freeAt[server] = Math.max(time, freeAt[server] as number) + workload.work
        expected[server]?.push((freeAt[server] as number) - time)
      },
      ended: (server, _ok, latency) => latencies[server]?.push(latency),
    })
    simulation.advanceTo(6_000)
    for (const [server, served] of latencies.entries()) {
      for (const [i, latency] of served.entries()) {
        t.true(Math.abs(latency - (expected[server]?.[i] as number)) < 1e-6)
      }
    }
    t.true(latencies.flat().length > 1_000)
  })
}

test('under least-loaded one server gets nearly all requests of a report interval; under adaptive none does', (t) => {
  const herd = runTo(60_000, 'least-loaded')
  t.true((herd.worstShare?.share ?? 0) > 0.9)
  t.is(herd.worstWindowLength, DEFAULTS.reportInterval)
  const calm = runTo(60_000, 'adaptive')
  t.true((calm.worstShare?.share ?? 1) < 0.5)
  t.true((herd.p99 ?? 0) > 10 * (calm.p99 ?? Number.POSITIVE_INFINITY))
})

test('however a run is cut into steps, it is the same', (t) => {
  const whole = runTo(25_000, 'adaptive', { balancers: 2 })
  const cut = new SceneRun({ ...DEFAULTS, balancers: 2 }, 'adaptive')
  for (let time = 0; time < 25_000; time += 1000 / 60) cut.advanceTo(time)
  cut.advanceTo(25_000)
  t.deepEqual(cut.windows, whole.windows)
  t.deepEqual(cut.servers, whole.servers)
  t.deepEqual(
    [cut.p50, cut.p99, cut.worstShare, cut.sentTotal, cut.digest()],
    [whole.p50, whole.p99, whole.worstShare, whole.sentTotal, whole.digest()],
  )
  t.deepEqual(cut.takeDots(), whole.takeDots())
})

test('busy is the time spent serving; the CPU of a server that lost some of it has its other work too', (t) => {
  const before = runTo(19_000, 'round-robin')
  for (let server = 0; server < 4; server++) {
    t.true(Math.abs(mean(before, 'busy', server) - 0.58) < 0.04)
    t.true(Math.abs(mean(before, 'share', server) - 0.25) < 0.001)
  }
  const { busy, cpu } = before.servers[1] as (typeof before.servers)[number]
  t.true(Math.abs(cpu - 100 * busy) < 1e-6)

  const after = runTo(60_000, 'weighted-round-robin')
  const [well, losing] = after.servers
  t.is(well?.lost, 0)
  t.is(losing?.lost, 0.5)
  t.true(Math.abs((losing?.cpu ?? 0) - (50 + 50 * (losing?.busy ?? 0))) < 1e-6)
})

test('by round robin the server that lost half of its CPU never stops serving, and its queue grows', (t) => {
  const run = runTo(60_000, 'round-robin')
  const queue = (second: number) => run.windows[second]?.queue[1] ?? 0
  t.is(run.servers[1]?.busy, 1)
  t.is(run.servers[1]?.cpu, 100)
  t.true(queue(59) > queue(39) + 100 && queue(39) > queue(24) + 50)
  t.true((run.servers[0]?.queue ?? 1_000) < 30)
})

test('what a server reported stays until the next report, and ages', (t) => {
  const run = new SceneRun(DEFAULTS, 'round-robin')
  t.deepEqual(
    run.servers.map(({ reported, reportAge }) => [reported, reportAge]),
    new Array(4).fill([0, 0]),
  )
  run.advanceTo(3_999)
  const [first] = run.servers
  const reported = first?.reported
  t.is(first?.reportAge, 1_999)
  t.true(reported !== undefined && reported > 30 && reported < 90)
  run.advanceTo(4_500)
  t.is(first?.reportAge, 500)
  t.not(first?.reported, reported)
})

test('reports are those to the first balancer: of several, it has none before its turn', (t) => {
  const run = runTo(0, 'least-cpu', { balancers: 8, reportInterval: 10_000 })
  t.is(run.servers[0]?.reported, undefined)
  t.is(run.servers[0]?.reportAge, undefined)
  run.advanceTo(10_000)
  t.true((run.servers[0]?.reportAge ?? 10_000) < 10_000)
})

test('one of every hundred requests to a server is a dot, and a dot is taken once', (t) => {
  const run = runTo(10_000, 'round-robin', { dot: 100, balancers: 2 })
  const dots = run.takeDots()
  t.deepEqual(
    run.servers.map(({ sent }) => Math.floor(sent / 100)),
    [0, 1, 2, 3].map((server) => dots.filter((dot) => dot.server === server).length),
  )
  t.deepEqual(
    dots.map(({ time }) => time),
    dots.map(({ time }) => time).sort((a, b) => a - b),
  )
  t.deepEqual([...new Set(dots.map(({ balancer }) => balancer))].sort(), [0, 1])
  t.deepEqual(run.takeDots(), [])
})

test('dots that nobody takes do not pile up: the latest are kept', (t) => {
  const run = runTo(60_000, 'round-robin', { dot: 1 })
  t.true(run.sentTotal > 25_000)
  const dots = run.takeDots()
  t.is(dots.length, 10_000)
  t.true((dots.at(-1)?.time ?? 0) > 59_900)
})

test('the server that the last request went to is told apart, and shares are of the last second', (t) => {
  const run = runTo(5_000, 'least-loaded')
  t.is(run.servers.filter(({ lastSentTo }) => lastSentTo).length, 1)
  const sum = run.servers.reduce((sum, { share }) => sum + share, 0)
  t.true(Math.abs(sum - 1) < 1e-9)
  // The second before lies within one report interval.
  t.deepEqual(run.servers.map(({ share }) => share).sort(), [0, 0, 0, 1])
  t.is(
    run.servers.reduce((sum, { sent }) => sum + sent, 0),
    run.sentTotal,
  )
})

test('a run has ten minutes, in which each second has its figures; it does not go back', (t) => {
  const run = runTo(599_000, 'round-robin', { traffic: 0.1 })
  t.false(run.over)
  run.advanceTo(1_000)
  t.is(run.time, 599_000)
  run.advanceTo(Number.POSITIVE_INFINITY)
  t.true(run.over)
  t.is(run.time, 600_000)
  t.deepEqual(
    run.windows.map(({ start }) => start),
    Array.from({ length: 600 }, (_, second) => second * 1_000),
  )
  t.true(Math.abs(run.sentTotal - 27_778) < 700)
})

test('a window that would have too few requests is as many report intervals long as it takes', (t) => {
  const run = runTo(60_000, 'round-robin', { traffic: 0.1, reportInterval: 100 })
  t.is(run.worstWindowLength, 500)
  t.true((run.worstShare?.share ?? 1) < 0.4)
})

test('percentiles of the last ten seconds forget what was before; a second without responses has none', (t) => {
  const responses = new Responses()
  t.is(responses.closeSecond(), undefined)
  t.is(responses.p99, undefined)
  for (let i = 0; i < 5_000; i++) responses.add(1_000)
  t.is(responses.closeSecond(), 1_000)
  for (let second = 0; second < 9; second++) {
    for (let i = 1; i <= 100; i++) responses.add(i)
    t.is(responses.closeSecond(), 99)
  }
  t.is(responses.p99, 1_000)
  for (let i = 1; i <= 100; i++) responses.add(i)
  responses.closeSecond()
  t.is(responses.p50, 50)
  t.is(responses.p99, 99)
})

test('the extremes of all inputs run', (t) => {
  const extremes: Partial<Inputs>[] = [
    { traffic: 2, balancers: 32, reportInterval: 100, lost: 0.95, lostAt: 0, threshold: 50, smoothing: 0 },
    { traffic: 0.1, reportInterval: 30_000, lost: 0, threshold: 0, smoothing: 60_000, dot: 1 },
  ]
  for (const inputs of extremes) {
    for (const policy of policies) {
      const run = runTo(5_000, policy, inputs)
      t.true(run.sentTotal > 150)
      for (const { busy, cpu, share } of run.servers) {
        t.true(busy >= 0 && busy <= 1 && cpu >= 0 && cpu <= 100 && share >= 0 && share <= 1)
      }
    }
  }
})
