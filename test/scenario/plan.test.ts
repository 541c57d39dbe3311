import test from 'ava'
import { fleetOf, lengthOf, sceneOf } from '../../dist/scenario/plan.js'
import { readScenario } from '../../dist/scenario/read.js'
import type { Scenario } from '../../dist/scenario/scenario.js'

function scenario(text: string): Scenario {
  const read = readScenario(text)
  if ('problems' in read) throw new Error(JSON.stringify(read.problems))
  return read.scenario
}

test('an empty object is what idlest simulate does by default', (t) => {
  const given = scenario('{}')
  t.like(sceneOf(given), {
    balancers: 1,
    requests: 200_000,
    arrivals: { kind: 'poisson', rate: 560 },
    service: { kind: 'exponential', mean: 10 },
    reportInterval: 5_000,
    delay: 0,
  })
  t.is(sceneOf(given).servers.length, 8)
  t.is(given.seed, 1)
  t.true(given.policies.length > 10)
})

test('times have units, and percentages may have a sign', (t) => {
  const given = scenario(`
delay: 250us
timeout: 1.5 s
reportInterval: 2000
duration: 2min
warmup: 1h
servers: [{ background: 25 % }]
arrivals: { load: "50%" }
`)
  const scene = sceneOf(given)
  t.like(scene, { delay: 0.25, timeout: 1_500, reportInterval: 2_000, warmup: 3_600_000 })
  t.is(scene.servers[0]?.background, 0.25)
  // One core with a quarter taken, 10 ms a request, half of that, for 120 s.
  t.deepEqual(scene.arrivals, { kind: 'poisson', rate: 37.5 })
  t.is(scene.requests, 4_500)
})

test('servers are counted out, and called by their names or by their numbers', (t) => {
  const { specs, names } = fleetOf(
    scenario('servers: [{ count: 2 }, { name: old, cores: 4 }, { name: web, count: 2, speed: 2 }, {}]'),
  )
  t.deepEqual(names, ['server-1', 'server-2', 'old', 'web-1', 'web-2', 'server-6'])
  t.deepEqual(
    specs.map(({ cores, speed }) => [cores, speed]),
    [
      [1, 1],
      [1, 1],
      [4, 1],
      [1, 2],
      [1, 2],
      [1, 1],
    ],
  )
})

test('changes name one server, several, or all', (t) => {
  const scene = sceneOf(
    scenario(`
servers: [{ count: 2 }, { name: old }]
changes:
  - { at: 1s, server: old, background: 50% }
  - { at: 2s, server: [1, old], state: gone }
  - { at: 3s, server: all, speed: 2 }
`),
  )
  t.deepEqual(scene.changes, [
    { at: 1_000, server: 2, background: 0.5 },
    { at: 2_000, server: 0, state: 'gone' },
    { at: 2_000, server: 2, state: 'gone' },
    { at: 3_000, server: 0, speed: 2 },
    { at: 3_000, server: 1, speed: 2 },
    { at: 3_000, server: 2, speed: 2 },
  ])
})

test('servers that are not there at the start do not count in the load', (t) => {
  const scene = sceneOf(
    scenario('servers: [{ count: 4 }, { count: 4, state: gone }]\narrivals: { load: 50 }'),
  )
  t.deepEqual(scene.arrivals, { kind: 'poisson', rate: 200 })
})

test('service times are exponential, constant or given', (t) => {
  const service = (text: string) => sceneOf(scenario(`service: ${text}\narrivals: { load: 100 }`))
  t.like(service('20ms'), { service: { kind: 'exponential', mean: 20 }, arrivals: { rate: 400 } })
  t.like(service('{ constant: 20 }'), { service: { kind: 'given', times: [20] }, arrivals: { rate: 400 } })
  t.like(service('{ times: [10, 1s, 190] }'), {
    service: { kind: 'given', times: [10, 1_000, 190] },
    arrivals: { rate: 20 },
  })
})

test('a replay goes as far as the log, the requests or the duration', (t) => {
  const times = Float64Array.of(0, 100, 2_000, 2_000, 5_000)
  const replayed = (more: string) => sceneOf(scenario(`arrivals: { replay: log }\n${more}`), times)
  t.like(replayed(''), { requests: 5, warmup: 500 })
  t.is(lengthOf(replayed('')), 5_000)
  t.is(replayed('requests: 9').requests, 5)
  t.is(replayed('requests: 2').requests, 2)
  t.is(lengthOf(replayed('requests: 2')), 100)
  t.is(replayed('duration: 2s').requests, 4)
})

test('policies with options are named by them, unless they have a name', (t) => {
  const { policies } = scenario(`
policies:
  - adaptive
  - algorithm: leastCpu
    options: { threshold: 20, missing: mean }
  - algorithm: roundRobin
  - algorithm: random
    name: by size
    options: { weights: { server-1: 2 } }
  - algorithm: weightedRoundRobin
    options: { weights: { server-1: 2, server-2: 3, server-3: 4, server-4: 5 } }
`)
  t.deepEqual(
    policies.map(({ label }) => label),
    [
      'adaptive',
      'leastCpu({ threshold: 20, missing: "mean" })',
      'roundRobin()',
      'by size',
      'weightedRoundRobin({ … })',
    ],
  )
})
