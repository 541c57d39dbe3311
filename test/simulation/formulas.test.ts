import test from 'ava'
import { Generator } from '../../dist/engine/portable/generator.js'
import { random } from '../../dist/index.js'
import { type Policy, shipped } from '../../dist/simulation/policy.js'
import { reportQueue } from '../../dist/simulation/scene.js'
import { simulate } from '../../dist/simulation/simulation.js'
import { inTurn } from './in-turn.js'
import { alike, near, queues, recorder } from './support.js'

// Requests so many that the tolerance is some three standard deviations of the mean, by the asymptotic variance of
// response times in an M/M/1 queue: (2 + 5 r - 4 r^2 + r^3) / (1 - r)^2 times their squared mean, over the requests.
for (const [load, requests, tolerance] of [
  [0.5, 300_000, 0.02],
  [0.7, 400_000, 0.03],
  [0.9, 800_000, 0.07],
] as const) {
  test(`random over 100 servers at load ${load} is 100 M/M/1 queues`, (t) => {
    const { response } = simulate(queues(alike(100), load, requests), shipped('random', random()), 7)
    // Response times are exponential with mean 1 / (1 - load) service times.
    const mean = 10 / (1 - load)
    t.true(near(response.mean, mean, tolerance), `mean ${response.mean}, not ${mean}`)
    // A tail is made by few long waits, so it varies more.
    for (const [name, q, times] of [
      ['p50', 0.5, 1],
      ['p99', 0.99, 2],
      ['p999', 0.999, 4],
    ] as const) {
      const exact = -Math.log(1 - q) * mean
      t.true(near(response[name], exact, times * tolerance), `${name} ${response[name]}, not ${exact}`)
    }
  })
}

// Erlang's C formula: the chance to wait, in a queue of n servers that are offered `a` of work.
function chanceToWait(n: number, a: number): number {
  let term = 1
  let sum = 1
  for (let k = 1; k < n; k++) {
    term *= a / k
    sum += term
  }
  const last = ((term * a) / n) * (n / (n - a))
  return last / (sum + last)
}

for (const [cores, load] of [
  [1, 0.8],
  [4, 0.8],
  [16, 0.9],
] as const) {
  test(`a server of ${cores} cores at load ${load} is an M/M/${cores} queue`, (t) => {
    const { response, nodes } = simulate(queues([{ cores }], load, 400_000), inTurn(), 3)
    const exact = 10 + (chanceToWait(cores, cores * load) * 10) / (cores * (1 - load))
    t.true(near(response.mean, exact, 0.03), `mean ${response.mean}, not ${exact}`)
    t.true(near(nodes[0]?.utilization ?? 0, load, 0.01), `utilization ${nodes[0]?.utilization}`)
  })
}

test('given service times of one length make an M/D/1 queue', (t) => {
  const scene = { ...queues([{}], 0.8, 400_000), service: { kind: 'given', times: [10] } as const }
  const exact = 10 * (1 + 0.8 / (2 * (1 - 0.8)))
  t.true(near(simulate(scene, inTurn(), 5).response.mean, exact, 0.03))
})

test('the speed of a server and other work on it stretch the service times', (t) => {
  // 1.25 times as fast, a fifth of it taken: an M/M/1 queue at the speed of 1.
  const { response, nodes } = simulate(queues([{ speed: 1.25, background: 0.2 }], 0.7, 400_000), inTurn(), 11)
  t.true(near(response.mean, 10 / 0.3, 0.03), `mean ${response.mean}`)
  // The other work is there all the time; requests are in the rest.
  t.true(near(nodes[0]?.utilization ?? 0, 0.2 + 0.8 * 0.7, 0.01), `utilization ${nodes[0]?.utilization}`)
})

// The supermarket model's fixed point: s1 = load, s(i+1) = load s_i^2, E[T] = sum(s_i) / load, in service times.
function supermarket(load: number): number {
  let sum = 0
  for (let s = load; s > 1e-12; s = load * s * s) sum += s
  return sum / load
}

/** Two distinct servers at random, the one with fewer requests; plainly, and by what it knows for itself. */
function twoChoices(know: 'own' | 'reports'): Policy {
  return {
    name: `two choices by ${know}`,
    create({ servers, seed }) {
      const generator = new Generator([seed >>> 0, 1])
      const load = new Float64Array(servers)
      const at: number[] = []
      return {
        ...recorder().create({ servers, seed, present: [], clock: { now: () => 0 } as never }),
        begin(request) {
          const a = generator.below(servers)
          const b = (a + 1 + generator.below(servers - 1)) % servers
          // The first is as likely to be either, so that it may win ties.
          const server = (load[b] as number) < (load[a] as number) ? b : a
          at[request] = server
          if (know === 'own') load[server] = (load[server] as number) + 1
          return server
        },
        end(request) {
          const server = at[request] as number
          if (know === 'own') load[server] = (load[server] as number) - 1
        },
        report(server, { cpu = 0 }) {
          if (know === 'reports') load[server] = cpu
        },
      }
    },
  }
}

test('two choices by live counts over 250 servers meet the fixed point of the supermarket model', (t) => {
  for (const load of [0.5, 0.9]) {
    const { response } = simulate(queues(alike(250), load, 250_000), twoChoices('own'), 2)
    const exact = 10 * supermarket(load)
    t.true(near(response.mean, exact, 0.03), `load ${load}: mean ${response.mean}, not ${exact}`)
  }
})

test('two choices by a board come out as others found', (t) => {
  // Mitzenmacher's periodic bulletin board, 100 servers at load 0.9; the values of stale-board.json.
  for (const [age, mean] of [
    [1, 2.96],
    [10, 5.08],
  ] as const) {
    const scene = { ...queues(alike(100), 0.9, 300_000), reportInterval: age * 10, report: reportQueue }
    const { response } = simulate(scene, twoChoices('reports'), 4)
    t.true(near(response.mean, 10 * mean, 0.05), `T ${age}: ${response.mean / 10}, not ${mean}`)
  }
})
