import test from 'ava'
import { nodesTable, responsesTable, time } from '../../dist/cli/result-tables.js'
import { quantile } from '../../dist/simulation/measures.js'
import { policies } from '../../dist/simulation/policies.js'
import type { Policy } from '../../dist/simulation/policy.js'
import type { Scene, ServerSpec } from '../../dist/simulation/scene.js'
import { simulate } from '../../dist/simulation/simulation.js'
import { inTurn } from './in-turn.js'
import { alike, queues, recorder } from './support.js'

test('a quantile is the smallest value that at least its share are at most', (t) => {
  const hundred = Float64Array.from({ length: 100 }, (_, i) => i + 1)
  t.deepEqual(
    [0, 0.001, 0.5, 0.501, 0.99, 0.999, 1].map((q) => quantile(hundred, q)),
    [1, 1, 50, 51, 99, 100, 100],
  )
  t.is(quantile(Float64Array.of(7), 0.999), 7)
  t.is(quantile(new Float64Array(0), 0.5), Number.NaN)
})

/** Ten requests of 4 ms at each full 10 ms, to two servers. */
const scene: Scene = {
  servers: [{}, {}],
  requests: 10,
  arrivals: { kind: 'replay', times: [0, 10, 20, 30, 40, 50, 60, 70, 80, 90] },
  service: { kind: 'given', times: [4] },
  reportInterval: 0,
  window: 40,
}

test('shares are over the run, and the worst is that of one whole window', (t) => {
  const picks = [0, 0, 0, 1, 0, 1, 1, 1, 1, 1]
  const windows: unknown[] = []
  const onWindow = (start: number, sent: Readonly<Uint32Array>) => windows.push([start, ...sent])
  const { nodes, worstWindow } = simulate(
    { ...scene, onWindow },
    recorder((turn) => picks[turn] as number),
  )
  t.deepEqual(
    nodes.map(({ id, sent, share, worstShare }) => [id, sent, share, worstShare]),
    [
      ['server-1', 4, 0.4, 0.75],
      // The third window has only begun.
      ['server-2', 6, 0.6, 0.75],
    ],
  )
  t.deepEqual(windows, [
    [0, 3, 1],
    [40, 1, 3],
  ])
  t.deepEqual(worstWindow, { share: 0.75, node: 'server-1', start: 0 })
})

test('what arrives in the warm-up counts in requests alone', (t) => {
  const picks = [0, 0, 0, 0, 0, 1, 1, 0, 1, 1]
  const policy = recorder((turn) => picks[turn] as number)
  const { nodes, worstWindow, requests, response } = simulate({ ...scene, warmup: 50 }, policy)
  t.is(requests.completed, 10)
  t.is(response.count, 5)
  t.deepEqual(
    nodes.map(({ sent, worstShare }) => [sent, worstShare]),
    [
      [1, 0.25],
      [4, 0.75],
    ],
  )
  t.deepEqual(worstWindow, { share: 0.75, node: 'server-2', start: 50 })
  // From 50 to 90: the last request has only arrived.
  t.deepEqual(
    nodes.map(({ utilization }) => utilization),
    [4 / 40, 12 / 40],
  )
})

test('a window that is not over counts where there is no other', (t) => {
  const { nodes } = simulate({ ...scene, window: 5_000 }, inTurn())
  t.deepEqual(
    nodes.map(({ worstShare }) => worstShare),
    [0.5, 0.5],
  )
})

test('windows in which nothing arrives are no worst share', (t) => {
  const { nodes } = simulate({ ...scene, window: 3 }, inTurn())
  t.deepEqual(
    nodes.map(({ worstShare }) => worstShare),
    [1, 1],
  )
})

test('a run of which nothing is measured has no figures, and tables say so', (t) => {
  const result = simulate({ ...scene, warmup: 1_000 }, inTurn())
  t.is(result.response.count, 0)
  t.is(result.response.p99, Number.NaN)
  t.is(result.worstWindow, undefined)
  t.regex(responsesTable([result]), /│ round-robin │ +- │ +- │ +- │ +- │ +- │/)
  t.regex(nodesTable([result]), /│ server-2 +│ +- \/ - │/)
})

function policyOf(name: string, reportInterval: number): Policy {
  const named = policies.get(name)
  if (named === undefined) throw new Error(`there is no policy ${name}`)
  return named.make(name, { reportInterval, delay: 0 })
}

// Seven reports: swings of a few reports must not be taken for growth.
test('in a short run too, loads that swing settle, and a queue that only grows does not', (t) => {
  const slow = [...alike(7), { background: 0.5 }]
  const settled = (name: string, seed: number, servers: readonly ServerSpec[]) => {
    const policy = policyOf(name, 5_000)
    return simulate({ ...queues(servers, 0.7, 20_000), reportInterval: 5_000 }, policy, seed).settled
  }
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    for (const name of [
      'least-cpu',
      'lowest-cpu',
      'spare-capacity-raw',
      'two-choices-cpu',
      'adaptive',
    ] as const) {
      t.true(settled(name, seed, alike(8)), `${name}, seed ${seed}`)
    }
    for (const name of ['round-robin', 'random'] as const) {
      t.true(settled(name, seed, alike(8)), `${name}, seed ${seed}`)
      t.false(settled(name, seed, slow), `${name} with a slow server, seed ${seed}`)
    }
  }
})

test('where all servers have more to do than they can, no policy settles', (t) => {
  for (const name of ['adaptive', 'round-robin', 'random'] as const) {
    const policy = policyOf(name, 1_000)
    const scene = { ...queues(alike(4, { cores: 2 }), 1.2, 20_000), reportInterval: 1_000 }
    t.false(simulate(scene, policy).settled, name)
  }
})

test('times are shown in three digits, in the unit that fits', (t) => {
  t.deepEqual([0, 0.123, 12.34, 123.4, 999.4, 1_234, 123_456].map(time), [
    '0.00 ms',
    '0.12 ms',
    '12.3 ms',
    '123 ms',
    '999 ms',
    '1.23 s',
    '123 s',
  ])
})
