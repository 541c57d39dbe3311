import test from 'ava'
import { leastCpu, random } from '../../dist/index.js'
import { shipped } from '../../dist/simulation/policy.js'
import type { Scene } from '../../dist/simulation/scene.js'
import { checkScene } from '../../dist/simulation/scene.js'
import { Simulation, simulate } from '../../dist/simulation/simulation.js'
import { streamSeed, Workload } from '../../dist/simulation/workload.js'
import { engines } from '../support/engines.js'
import { inTurn } from './in-turn.js'
import { alike, queues } from './support.js'

// Everything that can happen, in one.
const scene: Scene = {
  ...queues(alike(6, { cores: 2 }), 0.8, 20_000),
  balancers: 3,
  reportInterval: 150,
  delay: 2,
  timeout: 400,
  changes: [
    { at: 1_000, server: 0, background: 0.5 },
    { at: 2_000, server: 1, state: 'failing' },
    { at: 4_000, server: 1, state: 'silent' },
    { at: 6_000, server: 1, state: 'up' },
    { at: 7_000, server: 2, state: 'gone' },
    { at: 9_000, server: 2, state: 'up' },
  ],
}

const policies = [
  inTurn(),
  shipped('random', random()),
  shipped('random, no leases', random(), { leases: false }),
  shipped('leastCpu', leastCpu()),
  shipped('leastCpu, mean', leastCpu({ threshold: 0, ttl: 200, missing: 'mean' })),
]

for (const policy of policies) {
  test(`${policy.name}: the same seed gives the same result bit for bit, another seed another`, (t) => {
    const result = simulate(scene, policy, 5)
    t.deepEqual(simulate(scene, policy, 5), result)
    t.notDeepEqual(simulate(scene, policy, 6).response, result.response)
  })
}

test('the engines that there are give the same results bit for bit', (t) => {
  for (const algorithm of [random(), leastCpu(), leastCpu({ threshold: 1, ttl: 160, missing: 'exclude' })]) {
    const results = engines.map((engine) => {
      const { engine: used, ...result } = simulate(scene, shipped('same', algorithm, { engine }), 9)
      t.is(used, engine)
      return result
    })
    for (const result of results) t.deepEqual(result, results[0] as typeof result)
  }
})

test('leases change nothing for an algorithm that does not look at them', (t) => {
  // But for health, which goes by them.
  const trust = { health: false } as const
  const [leased, selected] = [true, false].map((leases) =>
    simulate(scene, shipped('leastCpu', leastCpu(), { leases, trust }), 2),
  )
  t.deepEqual(leased, selected)
})

test('every policy gets the same arrivals, service times and balancers; another seed gives others', (t) => {
  const digests = policies.map((policy) => simulate(scene, policy, 5).workload)
  t.deepEqual(new Set(digests).size, 1)
  t.not(simulate(scene, inTurn(), 6).workload, digests[0] as string)
  t.regex(digests[0] ?? '', /^[0-9a-f]{16}$/)
})

test('the digest tells requests apart that differ in one arrival, one service time or one balancer', (t) => {
  const times = [1, 2, 3, 4, 5]
  const work = [10, 20, 30, 40, 50]
  const digest = (arrivals: number[], service: number[], balancers = 1) => {
    const workload = new Workload(
      checkScene({
        servers: [{}],
        balancers,
        requests: 5,
        arrivals: { kind: 'replay', times: arrivals },
        service: { kind: 'given', times: service },
      }),
      1,
    )
    while (workload.next());
    return workload.digest()
  }
  const digests = [
    digest(times, work),
    digest([1, 2, 3, 4, 5 + 2 ** -48], work),
    digest([1, 2, 3.5, 4, 5], work),
    digest(times, [10, 20, 30, 40, 50.1]),
    digest(times, [20, 10, 30, 40, 50]),
    digest(times, work, 3),
  ]
  t.is(new Set(digests).size, digests.length)
  t.is(digest(times, work), digests[0] as string)
})

test('a run in small steps gives what a run at once does, and tells its progress', (t) => {
  const policy = shipped('leastCpu', leastCpu())
  const simulation = new Simulation(scene, policy, 5)
  t.is(simulation.progress, 0)
  let before = 0
  while (simulation.advance(997)) {
    t.true(simulation.progress >= before)
    before = simulation.progress
  }
  t.is(simulation.progress, 1)
  t.deepEqual(simulation.result(), simulate(scene, policy, 5))
})

test('all 53 bits of a seed count', (t) => {
  const seeds = [0, 1, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1, 2 ** 52 - 1]
  t.is(new Set(seeds.map((seed) => simulate({ ...scene, requests: 10 }, inTurn(), seed).workload)).size, 6)
  t.notDeepEqual(streamSeed(1, 2), streamSeed(1, 3))
})
