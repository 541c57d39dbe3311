import test from 'ava'
import type { Algorithm } from '../../dist/algorithms/registry.js'
import {
  adaptive,
  leastConnections,
  leastCpu,
  random,
  spareCapacity,
  type TrustOptions,
} from '../../dist/index.js'
import { type Policy, shipped } from '../../dist/simulation/policy.js'
import type { Scene } from '../../dist/simulation/scene.js'
import { Simulation } from '../../dist/simulation/simulation.js'
import { engines } from '../support/engines.js'

const engine = engines[0] ?? 'portable'

// Eight servers at 60 % load.
const scene: Scene = {
  servers: Array.from({ length: 8 }, () => ({})),
  requests: 30_000,
  arrivals: { kind: 'poisson', rate: 480 },
  service: { kind: 'exponential', mean: 10 },
  reportInterval: 1_000,
}

/** A policy that trusts so; the first server reports to be idle where it lies. */
function trusting(algorithm: Algorithm, trust: TrustOptions, lies = false): Policy {
  const policy = shipped(algorithm.kind, algorithm, { engine, trust })
  return {
    name: algorithm.kind,
    create: (setting) => {
      const dispatcher = policy.create(setting)
      const report = dispatcher.report.bind(dispatcher)
      dispatcher.report = (server, honest) => report(server, lies && server === 0 ? { cpu: 0 } : honest)
      return dispatcher
    },
  }
}

function play(given: Scene, policy: Policy) {
  const simulation = new Simulation(given, policy, 1)
  while (simulation.advance());
  return simulation.result()
}

for (const algorithm of [random(), leastCpu(), spareCapacity()]) {
  test(`${algorithm.kind}: of a node that fails at once, and so looks idle, few requests are lost`, (t) => {
    const failing: Scene = { ...scene, changes: [{ at: 20_000, server: 3, state: 'failing' }] }
    const lost = (trust: TrustOptions) => play(failing, trusting(algorithm, trust)).requests.errors
    const believed = lost({ health: false, suspicion: false })
    t.true(believed > 1_500, `${believed}`)
    t.true(lost({}) < 40, `${lost({})}`)
  })
}

for (const algorithm of [random(), leastConnections(), adaptive()]) {
  test(`${algorithm.kind}: of half of the nodes that fail hardly a request is lost, and an overload gets no worse`, (t) => {
    const completed = (given: Scene, trust: TrustOptions) => {
      const { requests } = play(given, trusting(algorithm, trust))
      return requests.completed / requests.arrived
    }
    const changes = [0, 1, 2, 3].map((server) => ({ at: 10_000, server, state: 'failing' as const }))
    t.true(completed({ ...scene, arrivals: { kind: 'poisson', rate: 320 }, changes }, {}) > 0.97)
    const busy: Scene = { ...scene, arrivals: { kind: 'poisson', rate: 760 }, timeout: 200 }
    const [without, with_] = [completed(busy, { health: false }), completed(busy, {})]
    t.true(with_ > 0.9 * without, `${with_} of ${without}`)
  })
}

test('a slow node that reports to be idle is sent less by a balancer that doubts it, and by maxShare', (t) => {
  const slow: Scene = {
    ...scene,
    servers: scene.servers.map((_, i) => ({ speed: i === 0 ? 0.5 : 1 })),
    requests: 60_000,
  }
  const share = (trust: TrustOptions) =>
    play(slow, trusting(spareCapacity(), trust, true)).nodes[0]?.share ?? 1
  const believed = share({ suspicion: false })
  const doubted = share({})
  t.true(doubted < 0.67 * believed, `${doubted} of ${believed}`)
  t.true(share({ suspicion: false, maxShare: 0.15 }) < 0.155)
})
