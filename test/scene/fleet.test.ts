import test from 'ava'
import fc from 'fast-check'
import {
  eachFleetName,
  exampleFleet,
  fleetInput,
  fleetOf,
  losingOf,
  readFleet,
} from '../../dist/scene/model/fleet.js'
import { DEFAULTS, type Inputs, type NumberInput, ranges } from '../../dist/scene/model/inputs.js'
import { SceneRun } from '../../dist/scene/model/run.js'
import { sceneOf } from '../../dist/scene/model/scene.js'

function fleet(inputs: Partial<Inputs>) {
  return fleetOf({ ...DEFAULTS, ...inputs })
}

test('of the example, the scene shows four of ten servers, with four tenths of the requests', (t) => {
  const { drawn, capacity, total, rate, scale, estimate } = fleetOf(DEFAULTS)
  t.is(estimate.servers, 10)
  t.is(drawn, 4)
  t.is(capacity, 200)
  t.is(total, (1_000_000 * 50 * 2 * 4) / 86_400 / 10)
  t.is(rate, total)
  t.is(scale, 1)
})

test('servers, capacity and users are those that were entered, and the load is that of the fleet', (t) => {
  const { drawn, capacity, rate, estimate } = fleet({ users: 432_000, capacity: 50, servers: 6 })
  t.is(drawn, 6)
  t.is(capacity, 50)
  t.is(rate, 500)
  t.true(Math.abs(estimate.load - rate / (6 * 50)) < 1e-12)
  t.is(fleet({ servers: 1 }).drawn, 1)
  t.is(fleet({ servers: 8 }).drawn, 8)
  t.is(fleet({ servers: 100 }).drawn, 8)
  t.is(fleet({ users: 100_000 }).drawn, 1)
  const { servers, arrivals, service } = sceneOf({ ...DEFAULTS, users: 432_000, capacity: 50, servers: 6 })
  t.is(servers.length, 6)
  t.deepEqual(arrivals, { kind: 'poisson', rate: 500 })
  t.deepEqual(service, { kind: 'exponential', mean: 20 })
})

test('the server that loses CPU is the second, or the only one', (t) => {
  t.is(losingOf(DEFAULTS), 1)
  t.is(losingOf({ ...DEFAULTS, servers: 1 }), 0)
  const run = new SceneRun({ ...DEFAULTS, servers: 1, lostAt: 0 }, 'adaptive')
  run.advanceTo(1_000)
  t.is(run.servers[0]?.lost, 0.5)
})

test('a fleet that is too busy for a page runs at a part of its scale, at the same load', (t) => {
  const { drawn, capacity, rate, total, scale, estimate } = fleet({ users: 1e9, servers: 8, capacity: 1e6 })
  t.true(total > 1_000_000 && scale < 0.01)
  t.is(rate, total * scale)
  t.is(capacity, 1e6 * scale)
  t.true(Math.abs(rate / (drawn * capacity) / estimate.load - 1) < 1e-9)
})

test('without users nothing is sent', (t) => {
  const run = new SceneRun({ ...DEFAULTS, users: 0 }, 'adaptive')
  run.advanceTo(60_000)
  t.is(run.servers.length, 1)
  t.is(run.sentTotal, 0)
  t.is(fleet({ users: 0 }).total, 0)
})

test('whatever the inputs are, they can be estimated and run', (t) => {
  const fleetInputs = [
    'users',
    'requests',
    'peakFactor',
    'traffic',
    'capacity',
    'targetLoad',
    'servers',
  ] as const
  const extreme = (name: NumberInput) => {
    const { min, max, whole } = ranges[name]
    const between = whole ? fc.integer({ min, max }) : fc.double({ min, max, noNaN: true })
    return fc.oneof(fc.constantFrom(min, max), between)
  }
  const inputs = fc.record({
    ...(Object.fromEntries(fleetInputs.map((name) => [name, extreme(name)])) as Record<
      (typeof fleetInputs)[number],
      fc.Arbitrary<number>
    >),
    servers: fc.option(extreme('servers'), { nil: undefined }),
    lost: extreme('lost'),
    lostAt: fc.constant(0),
  })
  fc.assert(
    fc.property(inputs, (given) => {
      const run = new SceneRun({ ...DEFAULTS, ...given }, 'round-robin')
      run.advanceTo(100)
      t.true(run.servers.length >= 1 && run.sentTotal < 5_000)
      for (const { busy, cpu } of run.servers) t.true(busy >= 0 && busy <= 1 && cpu >= 0 && cpu <= 100)
    }),
    { numRuns: 100 },
  )
})

test('what is entered sets the inputs of the scene; seconds become milliseconds', (t) => {
  const entered = eachFleetName((name) => fleetInput(DEFAULTS, name))
  t.deepEqual(readFleet(entered), { inputs: exampleFleet })
  const result = readFleet({
    ...entered,
    dailyActiveUsers: 5,
    reportInterval: 1.1,
    servers: 3,
    trafficFactor: 2,
  })
  t.like(result, { inputs: { users: 5, reportInterval: 1_100, servers: 3, traffic: 2 } })
})

test('what the estimate or the scene cannot have is a fault of that input', (t) => {
  const entered = eachFleetName((name) => fleetInput(DEFAULTS, name))
  const faults = (changed: Partial<typeof entered>) => {
    const result = readFleet({ ...entered, ...changed })
    return 'faults' in result ? result.faults : {}
  }
  t.deepEqual(Object.keys(faults({ targetLoad: 1, serverCapacity: 0 })).sort(), [
    'serverCapacity',
    'targetLoad',
  ])
  t.regex(faults({ reportInterval: 0.05 }).reportInterval ?? '', /^a number from 0\.1 to 600/)
  t.regex(faults({ lostShare: 0.999 }).lostShare ?? '', /^a number from 0 to 0\.99/)
  t.deepEqual(faults({ dailyActiveUsers: 1e11 }), {
    dailyActiveUsers: 'a number from 0 to 10,000,000,000: the scene can show no other',
  })
})
