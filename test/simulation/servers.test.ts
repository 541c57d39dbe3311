import test from 'ava'
import fc from 'fast-check'
import { random } from '../../dist/index.js'
import { shipped } from '../../dist/simulation/policy.js'
import type { Change, Scene } from '../../dist/simulation/scene.js'
import { Simulation, simulate } from '../../dist/simulation/simulation.js'
import { inTurn } from './in-turn.js'
import { only, recorder } from './support.js'

function replay(times: number[], work: number[], more: Partial<Scene> = {}): Scene {
  return {
    servers: [{}],
    requests: times.length,
    arrivals: { kind: 'replay', times },
    service: { kind: 'given', times: work },
    reportInterval: 0,
    ...more,
  }
}

/** When each request of a scene ended, in the order of arrival; `failed` for errors and time-outs. */
function ends(scene: Scene, pick?: (turn: number) => number) {
  const policy = recorder(pick)
  const result = simulate(scene, policy)
  const told = policy.told[0]
  const arrivals = only(told, 'begin')
  const ended = only(told, 'end')
  const at = ended
    .map(({ at, latency, ok }) => ({ arrived: at - latency, at, ok }))
    .sort((a, b) => a.arrived - b.arrived)
  return { at: at.map(({ at, ok }) => (ok ? at : `failed ${at}`)), result, arrivals }
}

test('first come, first served, on one core', (t) => {
  const { at, result } = ends(replay([0, 1, 2, 30], [10, 5, 1, 2]))
  t.deepEqual(at, [10, 15, 16, 32])
  t.deepEqual(result.response, {
    count: 4,
    mean: (10 + 14 + 14 + 2) / 4,
    p50: 10,
    p99: 14,
    p999: 14,
    max: 14,
  })
  t.is(result.end, 32)
})

test('on two cores the next one starts when the first is free', (t) => {
  t.deepEqual(ends(replay([0, 1, 2, 3], [10, 3, 4, 1], { servers: [{ cores: 2 }] })).at, [10, 4, 8, 9])
})

test('a request that is being served goes on at the new speed, one that waits starts at it', (t) => {
  const change = (more: Partial<Change>): Change => ({ at: 4, server: 0, ...more })
  const scene = (changes: Change[]) => replay([0, 1], [10, 2], { changes })
  t.deepEqual(ends(scene([change({ background: 0.5 })])).at, [16, 20])
  t.deepEqual(ends(scene([change({ speed: 2 })])).at, [7, 8])
  t.deepEqual(ends(scene([change({ speed: 0 }), change({ at: 9, speed: 1 })])).at, [15, 17])
  t.deepEqual(ends(scene([change({ state: 'silent' }), change({ at: 9, state: 'up' })])).at, [15, 17])
  t.deepEqual(
    ends(scene([change({ speed: 2 }), change({ at: 5, background: 0.75 }), change({ at: 7, speed: 6 })])).at,
    // 4, 2, 1 and the last 3 of 10 at 1.5.
    [9, 9 + 2 / 1.5],
  )
})

test('the network delays requests and responses', (t) => {
  const { at, result } = ends(replay([0, 1], [10, 5], { delay: 3 }))
  t.deepEqual(at, [16, 21])
  t.is(result.response.max, 20)
})

test('a failing server answers new requests with an error at once, and finishes those that it has', (t) => {
  const { at, result } = ends(
    replay([0, 1, 6, 20], [10, 5, 9, 2], {
      changes: [
        { at: 5, server: 0, state: 'failing' },
        { at: 20, server: 0, state: 'up' },
      ],
      failAfter: 1.5,
    }),
  )
  t.deepEqual(at, [10, 15, 'failed 7.5', 22])
  t.is(result.requests.errors, 1)
  t.is(result.response.count, 3)
})

test('a balancer gives up after the time-out, once; the server works on all the same', (t) => {
  const { at, result } = ends(replay([0, 1, 2, 40], [10, 10, 10, 1], { timeout: 15 }))
  // The second would be done at 20, the third at 30.
  t.deepEqual(at, [10, 'failed 16', 'failed 17', 41])
  t.is(result.requests.timeouts, 2)
  t.is(result.requests.completed, 2)
  const behind = ends(replay([0, 1, 2, 29], [10, 10, 10, 1], { timeout: 15 }))
  t.is(behind.at[3], 31)
})

test('requests at a server that stays silent are in the system at the end', (t) => {
  const { result } = ends(
    replay([0, 1, 2], [10, 10, 10], { changes: [{ at: 5, server: 0, state: 'silent' }] }),
  )
  t.deepEqual(result.requests, {
    arrived: 3,
    completed: 0,
    errors: 0,
    timeouts: 0,
    refused: 0,
    inSystem: 3,
  })
})

test('of what happens at one time, changes come first', (t) => {
  const { result } = ends(replay([0], [10], { changes: [{ at: 10, server: 0, state: 'silent' }] }))
  t.is(result.requests.inSystem, 1)
})

test('where no server is there requests are refused', (t) => {
  const scene = replay([0, 5, 10], [1, 1, 1], {
    servers: [{ state: 'gone' }],
    changes: [{ at: 7, server: 0, state: 'up' }],
  })
  for (const policy of [inTurn(), shipped('random', random()), shipped('r', random(), { leases: false })]) {
    const { requests } = simulate(scene, policy)
    t.is(requests.refused, 2, policy.name)
    t.is(requests.completed, 1, policy.name)
  }
})

test('a server that leaves finishes what it has and gets no more; one that joins gets its share', (t) => {
  const scene = replay(
    Array.from({ length: 4_000 }, (_, i) => i),
    [0.5],
    {
      servers: [{}, {}, { state: 'gone' }],
      changes: [
        { at: 1_000, server: 0, state: 'gone' },
        { at: 2_000, server: 2, state: 'up' },
      ],
      window: 1_000,
    },
  )
  for (const policy of [inTurn(), shipped('random', random())]) {
    const windows: number[][] = []
    const { requests } = simulate({ ...scene, onWindow: (_, sent) => windows.push([...sent]) }, policy)
    t.is(requests.completed, 4_000)
    const zero = windows.map((sent) => sent.map((count) => count === 0))
    t.deepEqual(
      zero,
      [
        [false, false, true],
        [true, false, true],
        [true, false, false],
      ],
      policy.name,
    )
    t.true(Math.abs((windows[2]?.[2] ?? 0) - 500) < 60)
  }
})

const state = fc.constantFrom('up' as const, 'failing' as const, 'silent' as const, 'gone' as const)

const scenes: fc.Arbitrary<Scene> = fc.integer({ min: 1, max: 5 }).chain((count) => {
  const server = fc.record({
    speed: fc.constantFrom(0.5, 1, 3),
    cores: fc.integer({ min: 1, max: 3 }),
    background: fc.constantFrom(0, 0.3, 0.9),
    state: fc.constantFrom('up' as const, 'up' as const, 'gone' as const),
  })
  const change: fc.Arbitrary<Change> = fc.record(
    {
      at: fc.integer({ min: 0, max: 2_500 }),
      server: fc.integer({ min: 0, max: count - 1 }),
      speed: fc.constantFrom(0, 0.5, 2),
      background: fc.constantFrom(0, 0.5, 1),
      state,
    },
    { requiredKeys: ['at', 'server'] },
  )
  return fc.record({
    servers: fc.array(server, { minLength: count, maxLength: count }),
    balancers: fc.integer({ min: 1, max: 3 }),
    requests: fc.constant(400),
    arrivals: fc.record({ kind: fc.constant('poisson' as const), rate: fc.constantFrom(100, 200, 400) }),
    service: fc.constantFrom(
      { kind: 'exponential' as const, mean: 10 },
      { kind: 'given' as const, times: [1, 0, 30] },
    ),
    reportInterval: fc.constantFrom(0, 50, 500),
    delay: fc.constantFrom(0, 0, 3),
    timeout: fc.constantFrom(Number.POSITIVE_INFINITY, 40, 5),
    changes: fc.array(change, { maxLength: 8 }),
  })
})

test('whatever happens, every request is somewhere and work is neither lost nor made', (t) => {
  fc.assert(
    fc.property(scenes, fc.integer({ min: 0, max: 1e6 }), (scene, seed) => {
      const simulation = new Simulation(scene, shipped('random', random()), seed)
      let going = true
      while (going) {
        going = simulation.advance(50)
        const { arrived, completed, errors, timeouts, refused, inSystem } = simulation.counts
        t.is(arrived, completed + errors + timeouts + refused + inSystem)
        t.true(inSystem >= 0)
      }
      const { requests, nodes, response, work } = simulation.result()
      t.is(requests.arrived, 400)
      t.is(response.count, requests.completed)
      const sent = nodes.reduce((sum, node) => sum + node.sent, 0)
      t.is(sent, 400 - requests.refused)
      // What was given up is being worked on, or was.
      const slack = 1e-6 * Math.max(1, work.asked)
      t.true(work.done >= work.asked - slack, `${work.done} of ${work.asked}`)
      if (requests.inSystem + requests.timeouts === 0) t.true(work.done <= work.asked + slack)
    }),
    { numRuns: 300 },
  )
})
