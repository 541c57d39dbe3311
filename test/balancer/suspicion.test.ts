import test from 'ava'
import type { Algorithm } from '../../dist/algorithms/registry.js'
import {
  attachBalancer,
  type Balancer,
  createBalancer,
  leastCpu,
  OptionError,
  powerOfTwo,
  type Report,
  random,
  type SuspicionOptions,
  weightedRoundRobin,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { eventsOf } from '../support/events.js'
import { countPicks, follow } from '../support/shares.js'

const NODES = ['a', 'b', 'c', 'd', 'e']

/** What one node says and does in a window. */
interface Behaviour {
  readonly report?: Report
  /** What it says in the middle of the window. */
  readonly between?: Report
  /** Requests that end, and how many of them failed. */
  readonly requests?: number
  readonly failed?: number
  readonly latency?: number
}

const GOOD: Behaviour = { report: { cpu: 50 }, requests: 20, failed: 0, latency: 10 }

interface Setting {
  readonly suspicion?: SuspicionOptions | false
  readonly algorithm?: Algorithm
  readonly engine?: 'native' | 'portable'
  readonly name?: string
}

function setUp({ algorithm = random(), engine = 'portable', name = 'doubts', suspicion = {} }: Setting = {}) {
  const clock = new VirtualClock()
  const balancer = createBalancer({
    nodes: NODES,
    algorithm,
    engine,
    name,
    suspicion,
    health: false,
    poll: false,
    clock,
    seed: 1,
  })
  /** One window of 10 s in which nodes behave so, by default well. */
  const play = (behaviours: Readonly<Record<string, Behaviour>> = {}) => {
    const report = (field: 'report' | 'between') => {
      for (const node of NODES) {
        const report = { ...GOOD, ...behaviours[node] }[field]
        if (report !== undefined) balancer.report(node, report)
      }
      balancer.trySelect()
    }
    report('report')
    for (const node of NODES) {
      const { requests, failed, latency } = { ...GOOD, ...behaviours[node] }
      for (let i = 0; i < (requests ?? 0); i++) {
        const exclude = NODES.filter((other) => other !== node)
        balancer
          .acquire({ exclude })
          .release({ ok: i >= (failed ?? 0), ...(latency === undefined ? {} : { latency }) })
      }
    }
    clock.jump(5_000)
    report('between')
    clock.jump(5_000)
    report('report')
  }
  return { balancer, clock, play }
}

function suspects(balancer: Pick<Balancer<string>, 'snapshot'>): Record<string, string> {
  return Object.fromEntries(
    balancer.snapshot().flatMap(({ id, suspect }) => (suspect === undefined ? [] : [[id, suspect]])),
  )
}

const LYING: Behaviour = { report: { cpu: 5 }, failed: 12 }
const SLOW: Behaviour = { report: { cpu: 5 }, latency: 40 }

for (const engine of engines) {
  test(`${engine}: a node that claims idleness while its requests fail gets half of its share until it recovers`, (t) => {
    const { balancer, play } = setUp({ engine, name: `fails ${engine}` })
    const events = eventsOf(t, `fails ${engine}`, ['idlest:member:suspect'])
    play()
    t.deepEqual(suspects(balancer), {})
    play({ b: LYING })
    t.deepEqual(suspects(balancer), { b: 'failing' })
    const count = () => {
      const all = countPicks(5_000, () => balancer.select())
      return NODES.map((node) => all.get(node) ?? 0)
    }
    t.true(follow(count(), [0.225, 0.1, 0.225, 0.225, 0.225]))
    play({ b: LYING })
    t.like(balancer.stats().suspicion, { suspects: 1, suspected: 1, cleared: 0 })
    play()
    t.deepEqual(suspects(balancer), {})
    t.true(follow(count(), [0.2, 0.2, 0.2, 0.2, 0.2]))
    t.like(balancer.stats().suspicion, { suspects: 0, suspected: 1, cleared: 1 })
    const event = { balancer: `fails ${engine}`, node: 'b' }
    t.deepEqual(events, [
      ['idlest:member:suspect', { ...event, suspect: true, reason: 'failing' }],
      ['idlest:member:suspect', { ...event, suspect: false, reason: undefined }],
    ])
  })
}

test('so does one whose requests take three times as long as those of the others', (t) => {
  const { balancer, play } = setUp()
  play({ c: { ...SLOW, latency: 29.9 } })
  t.deepEqual(suspects(balancer), {})
  play({ c: { ...SLOW, latency: 30 } })
  t.deepEqual(suspects(balancer), { c: 'slow' })
  // Two of five do not make the others slow.
  play({ a: SLOW, c: SLOW })
  t.deepEqual(suspects(balancer), { a: 'slow', c: 'slow' })
})

test('nobody is suspect who does not claim idleness, or whom there is too little to judge by', (t) => {
  const cases: [string, Readonly<Record<string, Behaviour>>][] = [
    ['busy and failing', { b: { ...LYING, report: { cpu: 51 } } }],
    ['busy and slow', { b: { ...SLOW, report: { cpu: 51 } } }],
    ['no report', { b: { failed: 20, report: {} } }],
    ['fails, but not half', { b: { ...LYING, failed: 9 } }],
    ['too few requests', { b: { ...LYING, requests: 9, failed: 9 } }],
    ['few, and slow', { b: { ...SLOW, requests: 9 } }],
    ['the others fail too', { a: { failed: 10 }, b: LYING, c: { failed: 10 } }],
    [
      'all others have nothing to do',
      { a: { requests: 0 }, b: LYING, c: { requests: 0 }, d: { requests: 0 }, e: { requests: 0 } },
    ],
    ['all are slow', Object.fromEntries(NODES.map((node) => [node, SLOW]))],
  ]
  for (const [why, behaviours] of cases) {
    const { balancer, play } = setUp()
    play(behaviours)
    t.deepEqual(suspects(balancer), {}, why)
  }
})

test('a claim that is as idle as half of the members counts, and only while it is fresh', (t) => {
  const { balancer, play, clock } = setUp({ algorithm: leastCpu({ ttl: 12_000 }) })
  play({ b: { ...LYING, report: { cpu: 50 } } })
  t.deepEqual(suspects(balancer), { b: 'failing' })
  clock.jump(3_000)
  balancer.trySelect()
  play({ b: { ...LYING, report: {} } })
  t.deepEqual(suspects(balancer), {})
})

test('one that is busy in between is not suspect: its reports are old at times, and no lie', (t) => {
  const { balancer, play } = setUp()
  play({ b: { ...LYING, between: { cpu: 5 } } })
  t.deepEqual(suspects(balancer), { b: 'failing' })
  play({ b: { ...LYING, between: { cpu: 90 } } })
  t.deepEqual(suspects(balancer), {})
})

test('application utilization is a claim where no CPU is told, and the metric of powerOfTwo always', (t) => {
  const by = setUp()
  by.play(
    Object.fromEntries(
      NODES.map((node) => [
        node,
        { report: { application: node === 'b' ? 1 : 60 }, failed: node === 'b' ? 20 : 0 },
      ]),
    ),
  )
  t.deepEqual(suspects(by.balancer), { b: 'failing' })
  const metric = setUp({ algorithm: powerOfTwo({ metric: 'queueDelay' }) })
  const reports = (queueDelay: number): Report => ({ cpu: 90, queueDelay })
  metric.play(
    Object.fromEntries(
      NODES.map((node) => [node, { report: reports(node === 'b' ? 1 : 60), failed: node === 'b' ? 20 : 0 }]),
    ),
  )
  t.deepEqual(suspects(metric.balancer), { b: 'failing' })
})

test('one that is suspect recovers in a window without requests as well', (t) => {
  const { balancer, play } = setUp()
  play({ b: LYING })
  t.deepEqual(suspects(balancer), { b: 'failing' })
  play({ b: { requests: 0, report: { cpu: 0 } } })
  t.deepEqual(suspects(balancer), {})
})

test('a window is judged once it is over, at a pick that looks at readings anew', (t) => {
  const { balancer, play, clock } = setUp({
    suspicion: { window: 15_000, minimum: 30, failureRate: 0.9, slowdown: 10 },
  })
  play({ b: { ...LYING, failed: 20 } })
  t.deepEqual(suspects(balancer), {})
  play({ b: { ...LYING, failed: 20 } })
  t.deepEqual(suspects(balancer), { b: 'failing' })
  t.is(clock.pending, 0)
})

test('the weight of a suspect node is halved', (t) => {
  const { balancer, play } = setUp()
  balancer.report('b', { weight: 40 })
  play({ b: LYING })
  const all = countPicks(5_000, () => balancer.select())
  t.true(
    follow(
      NODES.map((node) => all.get(node) ?? 0),
      [0.24, 0.04, 0.24, 0.24, 0.24],
    ),
  )
})

test('an attached balancer heeds what the balancer suspects', (t) => {
  const { balancer, play, clock } = setUp()
  play({ b: LYING })
  const attached = attachBalancer(balancer.handle(), { clock, seed: 1 })
  t.deepEqual(suspects(attached), { b: 'elsewhere' })
  const all = countPicks(4_000, () => attached.select())
  t.true(follow([all.get('b') ?? 0, 4_000 - (all.get('b') ?? 0)], [0.1, 0.9]))
  attached.close()
})

test('with suspicion false everybody is believed', (t) => {
  const { balancer, play } = setUp({ suspicion: false })
  play({ b: LYING })
  play({ b: LYING, c: SLOW })
  t.deepEqual(suspects(balancer), {})
  t.like(balancer.stats().suspicion, { suspects: 0, suspected: 0, cleared: 0 })
})

test('bad options of suspicion are refused with their path', (t) => {
  const wrong: [unknown, RegExp][] = [
    [true, /suspicion is true/],
    [{ failureRate: 0 }, /suspicion\.failureRate/],
    [{ failureRate: 50 }, /suspicion\.failureRate/],
    [{ slowdown: 0.5 }, /suspicion\.slowdown/],
    [{ minimum: 0 }, /suspicion\.minimum/],
    [{ window: 0 }, /suspicion\.window/],
    [{ windows: 1 }, /suspicion\.windows .*"window"/],
  ]
  for (const [suspicion, message] of wrong) {
    t.throws(() => createBalancer({ poll: false, suspicion: suspicion as never }), {
      instanceOf: OptionError,
      message,
    })
  }
})

for (const engine of engines) {
  test(`${engine}: a utilization above 1 counts as 100 % in a band, and as it is in weightedRoundRobin`, (t) => {
    const header = (utilization: number) => ({
      'endpoint-load-metrics': `TEXT cpu_utilization=${utilization},rps_fractional=100`,
    })
    const given = { nodes: ['a', 'b', 'c'], poll: false, clock: new VirtualClock(), seed: 1, engine } as const
    const band = createBalancer({ ...given, algorithm: leastCpu({ threshold: 0 }) })
    const weights = createBalancer({ ...given, algorithm: weightedRoundRobin({ blackoutPeriod: 0 }) })
    for (const balancer of [band, weights]) {
      t.is(balancer.observe('a', header(1)), 'stored')
      t.is(balancer.observe('b', header(1.7)), 'stored')
      t.true(balancer.report('c', { cpu: 400, qps: 100 }))
    }
    t.deepEqual(
      band.snapshot().map(({ cpu, inBand }) => [cpu, inBand]),
      [
        [100, true],
        [100, true],
        [100, true],
      ],
    )
    t.deepEqual(
      weights.snapshot().map(({ weight }) => Math.round(weight ?? 0)),
      [100, 59, 25],
    )
  })
}
