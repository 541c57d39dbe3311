import { channel } from 'node:diagnostics_channel'
import { setTimeout as wait } from 'node:timers/promises'
import test from 'ava'
import {
  type Algorithm,
  ClosedError,
  createAgent,
  createBalancer,
  createTable,
  httpTransport,
  leastCpu,
  type Report,
  random,
} from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'
import { countPicks } from '../support/shares.js'

/** A transport that answers from a list of loads, on the balancer's thread. */
function answering(loads: Record<string, Report | Error>) {
  return {
    poll: async (node: string) => {
      const answer = loads[node] ?? new Error('unknown')
      if (answer instanceof Error) throw answer
      return answer
    },
  }
}

for (const engine of engines) {
  test(`${engine}: real agents are polled by the thread, and the idlest is picked`, async (t) => {
    const loads = [70, 10, 40]
    const agents = await Promise.all(
      loads.map((_, i) => createAgent({ sampler: () => loads[i] ?? 0, sampleInterval: 10 })),
    )
    const nodes = agents.map((agent) => `127.0.0.1:${agent.port}`)
    const balancer = createBalancer({
      nodes,
      engine,
      algorithm: leastCpu(),
      poll: { interval: 20, startupJitter: 0, transport: httpTransport() },
    })
    await balancer.ready()
    t.is(countPicks(200, () => balancer.select()).get(nodes[1] as string), 200)
    loads.splice(0, 3, 5, 90, 90)
    while (balancer.select() !== nodes[0]) await wait(10)
    while ((balancer.stats().poll?.cycles ?? 0) < 2) await wait(10)
    const { asked = 0, exit, error } = balancer.stats().poll ?? {}
    t.true(asked >= 6)
    t.deepEqual([exit, error], [0, 0])
    await balancer.close()
    await Promise.all(agents.map((agent) => agent.close()))
  })
}

test('until the first cycle has ended picks are even; ready tells when', async (t) => {
  const clock = new VirtualClock()
  const balancer = createBalancer({
    nodes: ['a', 'b'],
    clock,
    seed: 1,
    poll: { startupJitter: 10_000, transport: answering({ a: { cpu: 10 }, b: { cpu: 90 } }) },
  })
  let ready = false
  const waited = balancer.ready().then(() => {
    ready = true
  })
  await clock.advance(0)
  t.false(ready)
  const picksOfA = () => countPicks(100, () => balancer.select()).get('a') ?? 0
  t.true(Math.abs(picksOfA() - 50) <= 2)
  await clock.advance(10_000)
  await waited
  t.true(ready)
  // By spare CPU, 90 to 10.
  t.true(Math.abs(picksOfA() - 90) <= 2)
  await balancer.close()
  t.is(clock.pending, 0)
})

test('ready rejects where the balancer is or was closed, and resolves at once without polling', async (t) => {
  const balancer = createBalancer({
    nodes: ['a'],
    clock: new VirtualClock(),
    poll: { port: 1, startupJitter: 1_000 },
  })
  const waited = balancer.ready()
  await balancer.close()
  await t.throwsAsync(waited, { instanceOf: ClosedError })
  await t.throwsAsync(balancer.ready(), { instanceOf: ClosedError })
  await t.notThrowsAsync(createBalancer({ nodes: ['a'], poll: false }).ready())
})

test('the local node is sampled, not polled', async (t) => {
  const clock = new VirtualClock()
  const asked: string[] = []
  const balancer = createBalancer({
    nodes: ['a'],
    self: 'me',
    sampler: () => 33,
    clock,
    poll: {
      startupJitter: 0,
      transport: {
        poll: async (node) => {
          asked.push(node)
          return { cpu: 60 }
        },
      },
    },
  })
  await clock.advance(1)
  t.deepEqual(asked, ['a'])
  t.deepEqual(
    balancer.snapshot().map(({ id, cpu }) => [id, cpu]),
    [
      ['a', 60],
      ['me', 33],
    ],
  )
  balancer.setNodes(['b'])
  t.deepEqual(balancer.nodes, ['b', 'me'])
  t.is(balancer.stats().sampler?.values, 1)
  await balancer.close()
})

const brokenSamplers: [string, () => number | Promise<number>][] = [
  [
    'throws',
    () => {
      throw new Error('broken')
    },
  ],
  ['rejects', () => Promise.reject(new Error('broken'))],
  ['hangs', () => new Promise<number>(() => {})],
  ['gives NaN', () => Number.NaN],
  ['gives less than 0', () => -1],
  ['gives a string', () => '50' as unknown as number],
  ['gives Infinity', () => Number.POSITIVE_INFINITY],
]

for (const [what, sampler] of brokenSamplers) {
  test(`a sampler that ${what} is counted, and its node stored as onSamplerError says`, async (t) => {
    const outcomes: unknown[] = []
    for (const onSamplerError of [undefined, 12, 'stale'] as const) {
      const clock = new VirtualClock()
      const balancer = createBalancer({
        nodes: ['a'],
        self: 'me',
        sampler,
        onSamplerError,
        clock,
        poll: { startupJitter: 0, timeout: 100, transport: answering({ a: { cpu: 1 } }) },
      })
      await clock.advance(200)
      outcomes.push(balancer.snapshot()[1]?.cpu)
      const { threw = 0, rejected = 0, hung = 0, invalid = 0 } = balancer.stats().sampler ?? {}
      t.is(threw + rejected + hung + invalid, 1)
      await balancer.close()
    }
    t.deepEqual(outcomes, [50, 12, undefined])
  })
}

test('a sampler over 100 is stored as 100, and one without a value yet stores nothing', async (t) => {
  const clock = new VirtualClock()
  const samples = [undefined, 140]
  const balancer = createBalancer({
    self: 'me',
    sampler: { sample: () => samples.shift() },
    clock,
    poll: { startupJitter: 0, interval: 1_000, transport: answering({}) },
  })
  await clock.advance(1)
  t.is(balancer.snapshot()[0]?.cpu, undefined)
  await clock.advance(1_000)
  t.is(balancer.snapshot()[0]?.cpu, 100)
  await balancer.close()
})

test('what a slow sampler says is as old as the question', async (t) => {
  const clock = new VirtualClock()
  const balancer = createBalancer({
    self: 'me',
    sampler: () => new Promise<number>((resolve) => clock.setTimeout(() => resolve(40), 700)),
    clock,
    poll: { startupJitter: 0, interval: 100_000, transport: answering({}) },
  })
  await clock.advance(1_000)
  t.like(balancer.snapshot()[0], { cpu: 40, age: 1_000 })
  await balancer.close()
})

test('of two balancers that hear of a node, the newest sample at its origin wins', async (t) => {
  const clock = new VirtualClock(50_000)
  const table = createTable({ clock })
  const poll = (report: Report, interval: number) => ({
    startupJitter: 0,
    interval,
    transport: answering({ a: report }),
  })
  const old = createBalancer({ nodes: ['a'], table, poll: poll({ cpu: 90, age: 4_000 }, 10) })
  const young = createBalancer({ nodes: ['a'], table, poll: poll({ cpu: 10, age: 500 }, 100_000) })
  await clock.advance(1_000)
  t.is(old.snapshot()[0]?.cpu, 10)
  t.is(young.snapshot()[0]?.cpu, 10)
  // The old samples are 4 s old all the time, so they win once the young one is older than that.
  await clock.advance(4_000)
  t.is(young.snapshot()[0]?.cpu, 90)
  await old.close()
  await young.close()
})

test('a node whose agent goes on answering with an old sample goes stale', async (t) => {
  const clock = new VirtualClock()
  const born = clock.now()
  const balancer = createBalancer({
    nodes: ['dead', 'alive'],
    clock,
    algorithm: leastCpu({ ttl: 10_000, missing: 50 }),
    poll: {
      startupJitter: 0,
      interval: 1_000,
      transport: {
        poll: async (node) => (node === 'dead' ? { cpu: 5, age: clock.now() - born } : { cpu: 30, age: 0 }),
      },
    },
  })
  await clock.advance(9_000)
  t.is(balancer.select(), 'dead')
  await clock.advance(4_000)
  t.is(balancer.select(), 'alive')
  t.false(balancer.snapshot()[0]?.fresh)
  await balancer.close()
})

test('reports that were polled for a node that left are dropped and counted', async (t) => {
  const clock = new VirtualClock()
  let answer: (report: Report) => void = () => {}
  const balancer = createBalancer({
    nodes: ['slow', 'quick'],
    clock,
    poll: {
      startupJitter: 0,
      timeout: 1_000,
      interval: 100,
      transport: {
        poll: (node) =>
          node === 'quick'
            ? Promise.resolve({ cpu: 20 })
            : new Promise<Report>((resolve) => {
                answer = resolve
              }),
      },
    },
  })
  await clock.advance(10)
  balancer.remove('slow')
  balancer.add('slow')
  answer({ cpu: 99 })
  await clock.advance(2_000)
  t.is(balancer.snapshot().find(({ id }) => id === 'slow')?.cpu, undefined)
  t.is(balancer.snapshot().find(({ id }) => id === 'quick')?.cpu, 20)
  const poll = balancer.stats().poll
  t.true((poll?.left ?? 0) + (poll?.late ?? 0) >= 1)
  await balancer.close()
})

test('an empty pick is published on its channel, and nothing listens for free', (t) => {
  const events: unknown[] = []
  const listen = (event: unknown) => {
    events.push(event)
  }
  const balancer = createBalancer({ name: 'empty-one', poll: false })
  t.is(balancer.trySelect(), undefined)
  channel('idlest:select:empty').subscribe(listen)
  t.is(balancer.trySelect(), undefined)
  t.throws(() => balancer.select())
  channel('idlest:select:empty').unsubscribe(listen)
  t.deepEqual(events, [
    { balancer: 'empty-one', members: 0 },
    { balancer: 'empty-one', members: 0 },
  ])
})

test.serial('a ttl below twice the poll interval warns once', async (t) => {
  const warnings: Error[] = []
  const listen = (warning: Error) => {
    if ('code' in warning && warning.code === 'IDLEST_SHORT_TTL') warnings.push(warning)
  }
  process.on('warning', listen)
  const make = (ttl: number, interval: number) =>
    createBalancer({ clock: new VirtualClock(), algorithm: leastCpu({ ttl }), poll: { port: 1, interval } })
  const balancers = [make(10_000, 5_000), make(9_999, 5_000), make(1_000, 5_000)]
  balancers.push(
    createBalancer({ clock: new VirtualClock(), algorithm: random(), poll: { port: 1, interval: 50_000 } }),
  )
  await wait(10)
  process.off('warning', listen)
  t.is(warnings.length, 1)
  t.regex(warnings[0]?.message ?? '', /9999 ms.*5000 ms/)
  for (const balancer of balancers) await balancer.close()
})

test('nodes are polled only where a transport or a port says how', async (t) => {
  const clock = new VirtualClock()
  const balancer = createBalancer({ nodes: ['a', 'b'], clock })
  t.deepEqual(await balancer.ready(), { nodes: 0, answered: 0 })
  t.is(balancer.stats().poll, undefined)
  t.is(clock.pending, 0)
  await balancer.close()
  for (const poll of [{}, { interval: 1_000 }]) {
    t.throws(() => createBalancer({ nodes: ['a'], poll }), {
      code: 'IDLEST_BAD_OPTION',
      message: /poll\.port/,
    })
  }
  const both = { port: 9_000, transport: answering({}) }
  t.throws(() => createBalancer({ nodes: ['a'], poll: both }), {
    code: 'IDLEST_BAD_OPTION',
    message: /poll\.port/,
  })
})

test('the local node is sampled also where no node is polled', async (t) => {
  const clock = new VirtualClock()
  const balancer = createBalancer({ nodes: ['a'], self: 'me', sampler: () => 33, clock })
  await clock.advance(10_000)
  t.deepEqual(await balancer.ready(), { nodes: 0, answered: 0 })
  t.is(balancer.snapshot().find(({ id }) => id === 'me')?.cpu, 33)
  t.is(balancer.stats().poll?.asked, 0)
  await balancer.close()
})

test('a port alone polls agents there', async (t) => {
  const agent = await createAgent({ sampler: () => 12, sampleInterval: 10 })
  const balancer = createBalancer({
    nodes: ['127.0.0.1:1'],
    poll: { port: agent.port, interval: 20, startupJitter: 0 },
  })
  await balancer.ready()
  while (balancer.snapshot()[0]?.cpu === undefined) await wait(10)
  t.is(balancer.snapshot()[0]?.cpu, 12)
  await balancer.close()
  await agent.close()
})

test('the first cycle starts within one interval, with leastCpu within 60 s', async (t) => {
  const startOf = async (algorithm: Algorithm, seed: number) => {
    const clock = new VirtualClock()
    const transport = { poll: async () => ({ cpu: clock.now() }) }
    const poll = { interval: 1_000, transport }
    const balancer = createBalancer({ nodes: ['a'], clock, algorithm, seed, poll })
    const start = clock.now()
    while (balancer.stats().poll?.cycles === 0) await clock.advance(100)
    await balancer.close()
    return clock.now() - start
  }
  const starts = async (algorithm: Algorithm) =>
    Promise.all(Array.from({ length: 30 }, (_, seed) => startOf(algorithm, seed)))
  const soon = await starts(random())
  t.true(soon.every((start) => start <= 1_100))
  t.true(new Set(soon).size > 1)
  const published = await starts(leastCpu())
  t.true(published.every((start) => start <= 60_100))
  t.true(published.some((start) => start > 30_000))
})

test('ready says how many of the polled nodes answered, and later so of the last cycle', async (t) => {
  const clock = new VirtualClock()
  const answers: Record<string, { cpu: number }> = { a: { cpu: 10 }, c: { cpu: 20 } }
  const balancer = createBalancer({
    nodes: ['a', 'b', 'c'],
    clock,
    poll: { interval: 1_000, startupJitter: 0, transport: answering(answers) },
  })
  const first = balancer.ready()
  await clock.advance(0)
  t.deepEqual(await first, { nodes: 3, answered: 2 })
  answers.b = { cpu: 5 }
  await clock.advance(1_000)
  t.deepEqual(await balancer.ready(), { nodes: 3, answered: 3 })
  await balancer.close()
})
