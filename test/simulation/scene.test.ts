import test from 'ava'
import { OptionError } from '../../dist/index.js'
import { redrawn } from '../../dist/simulation/redrawn.js'
import { type Change, capacity, checkScene, type Scene } from '../../dist/simulation/scene.js'
import { areUniform } from '../support/shares.js'

const scene: Scene = {
  servers: [{}, { speed: 2, cores: 3, background: 0.5, state: 'gone' }],
  requests: 10,
  arrivals: { kind: 'poisson', rate: 100 },
  service: { kind: 'exponential', mean: 10 },
}

test('defaults are filled in', (t) => {
  const { report: _, ...full } = checkScene(scene)
  t.deepEqual(full, {
    ...scene,
    servers: [
      { speed: 1, cores: 1, background: 0, delay: 0, state: 'up' },
      { speed: 2, cores: 3, background: 0.5, delay: 0, state: 'gone' },
    ],
    balancers: 1,
    reportInterval: 5_000,
    reportOffsets: undefined,
    inBand: undefined,
    onWindow: undefined,
    probe: undefined,
    delay: 0,
    timeout: Number.POSITIVE_INFINITY,
    failAfter: 1,
    changes: [],
    warmup: 0,
    window: 5_000,
  })
  t.is(checkScene({ ...scene, reportInterval: 250 }).window, 250)
  t.is(checkScene({ ...scene, reportInterval: 0 }).window, 5_000)
})

test('changes are brought into the order of time; those of one time stay in theirs', (t) => {
  const { changes } = checkScene({
    ...scene,
    changes: [
      { at: 5, server: 0 },
      { at: 1, server: 1, speed: 1 },
      { at: 1, server: 0 },
    ],
  })
  t.deepEqual(
    changes.map(({ at, server }) => [at, server]),
    [
      [1, 1],
      [1, 0],
      [5, 0],
    ],
  )
})

// Wrong in type or value, and what the error names.
const wrong: [string, Record<string, unknown>, string][] = [
  ['no servers', { servers: [] }, 'scene.servers'],
  ['a negative speed', { servers: [{ speed: -1 }] }, 'scene.servers.0.speed'],
  ['half a core', { servers: [{ cores: 0.5 }] }, 'scene.servers.0.cores'],
  ['more than all of a CPU', { servers: [{ background: 1.1 }] }, 'scene.servers.0.background'],
  ['an unknown state', { servers: [{ state: 'down' }] }, 'scene.servers.0.state'],
  ['an unknown option of a server', { servers: [{ sped: 1 }] }, 'scene.servers.0.sped'],
  ['no requests', { requests: 0 }, 'scene.requests'],
  ['arrivals of another kind', { arrivals: { kind: 'uniform' } }, 'scene.arrivals.kind'],
  ['no rate', { arrivals: { kind: 'poisson', rate: 0 } }, 'scene.arrivals.rate'],
  ['a replay at no time', { arrivals: { kind: 'replay', times: [1, Number.NaN] } }, 'scene.arrivals.times'],
  ['no service times', { service: { kind: 'given', times: [] } }, 'scene.service.times'],
  ['a negative service time', { service: { kind: 'given', times: [1, -1] } }, 'scene.service.times'],
  ['no balancer', { balancers: 0 }, 'scene.balancers'],
  ['fewer offsets than balancers', { balancers: 2, reportOffsets: [1] }, 'scene.reportOffsets'],
  ['a change of a server that there is not', { changes: [{ at: 1, server: 2 }] }, 'scene.changes.0.server'],
  ['a change in the past', { changes: [{ at: -1, server: 1 }] }, 'scene.changes.0.at'],
  ['a negative delay', { delay: -1 }, 'scene.delay'],
  ['a report that is no function', { report: {} }, 'scene.report'],
  ['an unknown option', { intervall: 1 }, 'scene.intervall'],
]

for (const [what, more, option] of wrong) {
  test(`${what}: an OptionError that names ${option}`, (t) => {
    const error = t.throws(() => checkScene({ ...scene, ...more } as Scene), { instanceOf: OptionError })
    t.is(error?.option, option)
    t.notRegex(error?.expected ?? '', /Invalid|undefined/)
  })
}

test('capacity is what background work leaves of all cores', (t) => {
  t.is(capacity(scene.servers, 10), 100 + 300)
})

test('other work that is redrawn is at as many servers all the time, at each as often', (t) => {
  const options = { servers: 10, busy: 3, background: 0.4, every: 100, until: 200_000, seed: 3 }
  const changes = redrawn(options)
  const busy = new Set<number>()
  const times = new Array<number>(10).fill(0)
  for (let at = 0, i = 0; at < options.until; at += 100) {
    for (; changes[i]?.at === at; i++) {
      const { server, background } = changes[i] as Change
      t.true(background === 0 ? busy.delete(server) : !busy.has(server))
      if (background === 0.4) busy.add(server)
    }
    t.is(busy.size, 3)
    for (const server of busy) times[server] = (times[server] as number) + 1
  }
  t.true(areUniform(times))
  t.deepEqual(redrawn(options), changes)
  t.notDeepEqual(redrawn({ ...options, seed: 4 }), changes)
})
