import test from 'ava'
import { barsOf } from '../../../bench/quality/bars.js'
import { contenders } from '../../../bench/quality/contenders.js'
import { type Outcome, runScene } from '../../../bench/quality/run.js'
import { neighbours, type QualityScene, queues, scenes, servers } from '../../../bench/quality/scenes.js'
import { adaptive } from '../../../dist/index.js'
import { shipped } from '../../../dist/simulation/policy.js'
import { capacity, checkScene, type Scene } from '../../../dist/simulation/scene.js'

const all = [...scenes, ...neighbours]

function named(name: string): QualityScene {
  const scene = all.find((it) => it.name === name)
  if (scene === undefined) throw new Error(`no scene ${name}`)
  return scene
}

function rateOf({ arrivals }: Scene): number {
  return arrivals.kind === 'poisson' ? arrivals.rate : Number.NaN
}

function near(value: number, expected: number): boolean {
  return Math.abs(value - expected) < 1e-9 * expected
}

// Requests a second, by hand: nodes do 100 a second each, of 10 ms.
for (const [name, rate] of [
  ['equal-1', 0.7 * 800],
  ['equal-8', 0.7 * 800],
  ['slow-1', 0.7 * 750],
  ['slow-8', 0.7 * 750],
  ['two-slow-1', 0.85 * 680],
  ['two-slow-8', 0.85 * 680],
  // 100 nodes of 50 a second, of which 20 do half.
  ['fleet', 0.9 * (80 * 50 + 20 * 25)],
  ['failing-1', 0.7 * 700],
  ['join-8', 0.8 * 700],
  ['long-1', 0.85 * 68],
  ['giants-1', 0.85 * (60 + 4 * 16) * 100],
] as const) {
  test(`${name}: the load is a share of the capacity that remains`, (t) => {
    const got = rateOf(named(name).make(1_000, 1))
    t.true(near(got, rate), `${got} a second, not ${rate}`)
  })
}

test('every scene is one, with a name of its own', (t) => {
  t.is(new Set(all.map(({ name }) => name)).size, all.length)
  for (const { name, make } of all) t.notThrows(() => checkScene(make(1_000, 1)), name)
})

test('every scene ends after what happens in it', (t) => {
  for (const { name, make, requests, watched } of all) {
    const scene = make(requests, 1)
    const end = (requests / rateOf(scene)) * 1_000
    t.true((scene.warmup ?? 0) < end / 1.5, `${name}: the warm-up takes most of it`)
    t.true((watched?.from ?? 0) < end / 1.5, `${name}: what it is about comes late`)
  }
})

test('the fleet: a fifth has lost half its CPU at any time, and others every 10 s', (t) => {
  const { make, requests } = named('fleet')
  const scene = make(requests, 3)
  const background = scene.servers.map((server) => server.background ?? 0)
  const seen: string[] = []
  for (const start of [0, 10_000, 20_000]) {
    for (const { at, server, background: now } of scene.changes ?? []) {
      if (at === start) background[server] = now ?? 0
    }
    const busy = background.flatMap((share, i) => (share > 0 ? [i] : []))
    t.is(busy.length, 20)
    const remaining = background.map((background) => ({ background }))
    t.true(near(rateOf(scene), 0.9 * capacity(remaining, 20)))
    seen.push(busy.join())
  }
  t.is(new Set(seen).size, 3)
})

test('given service times have the mean that the load is reckoned with', (t) => {
  for (const name of ['kinds-1', 'pareto-8']) {
    const { service } = named(name).make(1_000, 1)
    if (service.kind !== 'given') return t.fail(`${name} draws its service times`)
    let sum = 0
    for (let i = 0; i < service.times.length; i++) sum += service.times[i] ?? 0
    t.true(near(sum / service.times.length, 10), name)
  }
  return undefined
})

test('a slow node has other work, not a lower speed, so that its CPU counts as busy', (t) => {
  t.deepEqual(servers(3, 1, 0.5), [{ background: 0.5 }, { background: 0 }, { background: 0 }])
  t.is(rateOf(queues({ servers: servers(2, 1, 0.5), load: 0.5 }, 10)), 75)
})

function outcome(scene: string, given: Partial<Outcome>): Outcome {
  return {
    scene,
    policy: 'mine',
    runs: 1,
    mean: 20,
    p50: 10,
    p99: 90,
    p999: 100,
    worst: 1,
    failed: 0,
    watched: [],
    ...given,
  }
}

function verdicts(mine: Outcome, others: readonly Outcome[] = []): (boolean | undefined)[] {
  return barsOf(mine, [...others, mine]).map(({ met }) => met)
}

test('bars: what is just reached is met, what is beyond it is missed', (t) => {
  t.deepEqual(verdicts(outcome('slow-1', { p99: 90 })), [true])
  t.deepEqual(verdicts(outcome('slow-1', { p99: 90.1 })), [false])
  t.deepEqual(verdicts(outcome('slow-1', { p99: Number.NaN })), [false])
  t.deepEqual(verdicts(outcome('fleet', { p99: 320 })), [true])
  t.deepEqual(verdicts(outcome('join-1', { watched: [0.5, 2.1] })), [false])
  t.deepEqual(verdicts(outcome('join-1', {})), [undefined])
})

test('bars: equal nodes are judged by round robin in the same run, or not at all', (t) => {
  const reference = outcome('equal-1', { policy: 'roundRobin', p99: 100 })
  t.deepEqual(verdicts(outcome('equal-1', { p99: 75, worst: 1.4 }), [reference]), [true, true])
  t.deepEqual(verdicts(outcome('equal-1', { p99: 76, worst: 1.5 }), [reference]), [false, false])
  t.deepEqual(verdicts(outcome('equal-1', { p99: 76 })), [undefined, true])
})

test('bars: a failing node gets its fair share at most, then less', (t) => {
  t.deepEqual(verdicts(outcome('failing-1', { watched: [1, 0.5, 0.5] })), [true, true])
  t.deepEqual(verdicts(outcome('failing-1', { watched: [1.1, 0.4, 0.6] })), [false, false])
})

test('a run is repeatable, whatever kept its policy over all balancers', (t) => {
  const scene = named('failing-8')
  for (const name of ['adaptive', 'prequal']) {
    const contender = contenders.find((it) => it.name === name)
    if (contender === undefined) return t.fail(`no contender ${name}`)
    const once = () => runScene(scene, contender, 32_000, [1])
    t.deepEqual(once(), once(), name)
  }
  return undefined
})

test('what the watched node got is counted from the moment on, in whole windows', (t) => {
  const scene = named('failing-1')
  const contender = { name: 'adaptive', make: () => shipped('adaptive', adaptive()) }
  const { watched } = runScene(scene, contender, 36_000, [1])
  // 490 requests a second: 73 s in all, 60 of them before.
  t.is(watched.length, 2)
  t.true(watched.every((share) => share < 0.5))
})
