import test from 'ava'
import { type AgentOptions, createAgent, type NamedValue } from '../../dist/agent/index.js'
import { checkAgentOptions } from '../../dist/agent/options.js'
import { Reporter } from '../../dist/agent/reporter.js'
import { OptionError } from '../../dist/errors.js'
import { checkReport } from '../../dist/reports/check.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { startAgent } from './support.js'

async function startReporter(options: AgentOptions = {}) {
  const clock = new VirtualClock(1_000)
  const reporter = new Reporter(checkAgentOptions({ clock, sampler: () => 37.5, ...options }))
  reporter.start()
  await clock.advance(0)
  return { reporter, clock }
}

test('the report is whole: what was sampled, the state, and the age of it', async (t) => {
  const { agent, clock } = await startAgent(t)
  t.deepEqual(agent.report(), { cpu: 37.5, state: 'up', age: 0 })
  await clock.advance(400)
  t.deepEqual(agent.report(), { cpu: 37.5, state: 'up', age: 400 })
})

test('before the first sample there is no report, but a state by hand is told', async (t) => {
  const { reporter } = await startReporter({ sampler: () => undefined, weight: 50, named: { a: 1 } })
  t.is(reporter.report(), undefined)
  reporter.drain()
  t.deepEqual(reporter.report(), { state: 'drain', weight: 50, age: 0 })
  reporter.ready()
  t.is(reporter.report(), undefined)
})

test('the state is the last that was said', async (t) => {
  const { agent } = await startAgent(t)
  t.is(agent.state, 'up')
  for (const [say, state] of [
    ['drain', 'drain'],
    ['maint', 'maint'],
    ['down', 'down'],
    ['ready', 'up'],
    ['drain', 'drain'],
    ['ready', 'up'],
  ] as const) {
    agent[say]()
    t.is(agent.state, state)
    t.is(agent.report()?.state, state)
  }
})

test('weight and limit are told once they are set, and no more once they are taken back', async (t) => {
  const { agent } = await startAgent(t, { weight: 30 })
  t.deepEqual(agent.report(), { cpu: 37.5, state: 'up', weight: 30, age: 0 })
  agent.setWeight(0)
  agent.setMaxInFlight(12)
  t.deepEqual(agent.report(), { cpu: 37.5, state: 'up', weight: 0, maxInFlight: 12, age: 0 })
  agent.setWeight(undefined)
  agent.setMaxInFlight(undefined)
  t.deepEqual(agent.report(), { cpu: 37.5, state: 'up', age: 0 })
  for (const bad of [-1, 25_601, Number.NaN, '7']) {
    t.throws(() => agent.setWeight(bad as number), { instanceOf: OptionError })
  }
  for (const bad of [-1, Number.POSITIVE_INFINITY, null]) {
    t.throws(() => agent.setMaxInFlight(bad as number), { instanceOf: OptionError })
  }
})

test("metrics of the user's own: numbers stay, functions are called in each sample and for no report", async (t) => {
  let calls = 0
  const { agent, clock } = await startAgent(t, { named: { fixed: 3, counted: () => ++calls } })
  for (let i = 0; i < 5; i++) t.deepEqual(agent.report()?.named, { fixed: 3, counted: 1 })
  await clock.advance(1_000)
  t.deepEqual(agent.report()?.named, { fixed: 3, counted: 2 })
  agent.set('counted', 7)
  agent.set('later', () => 8)
  t.deepEqual(agent.report()?.named, { fixed: 3, counted: 7 })
  await clock.advance(1_000)
  t.deepEqual(agent.report()?.named, { fixed: 3, counted: 7, later: 8 })
  for (const name of ['fixed', 'counted', 'later']) agent.set(name, undefined)
  t.is(agent.report()?.named, undefined)
})

test('a bad metric is left out and counted, until it is good again; nothing else suffers', async (t) => {
  const given: unknown[] = [1, Number.NaN, Number.POSITIVE_INFINITY, 1e13, '5', Promise.resolve(5), 2]
  const { agent, clock } = await startAgent(t, {
    named: {
      thrown: () => {
        throw new Error('gone')
      },
      bad: Number.NaN,
      turns: () => given.shift() as number,
      good: 9,
    },
  })
  t.deepEqual(agent.report()?.named, { turns: 1, good: 9 })
  t.is(agent.counters.named.bad, 2)
  for (let i = 0; i < 5; i++) {
    await clock.advance(1_000)
    t.deepEqual(agent.report(), { cpu: 37.5, state: 'up', named: { good: 9 }, age: 0 })
  }
  await clock.advance(1_000)
  t.deepEqual(agent.report()?.named, { turns: 2, good: 9 })
  t.is(agent.counters.named.bad, 2 + 5 + 6)
})

test('a metric called __proto__ is one like any other', async (t) => {
  const { agent } = await startAgent(t)
  agent.set('__proto__', 4)
  const { named = {} } = agent.report() ?? {}
  t.true(Object.hasOwn(named, '__proto__'))
  t.deepEqual(Object.entries(named), [['__proto__', 4]])
})

const BAD_NAMES = [
  '',
  'a,b',
  'a=b',
  'a:b',
  'two words',
  'naïve',
  'x'.repeat(129),
  'idlest_state',
  'in_flight',
  'age_ms',
]

for (const name of BAD_NAMES) {
  test(`${JSON.stringify(name).slice(0, 20)} is no name of a metric`, async (t) => {
    const { agent } = await startAgent(t)
    t.throws(() => agent.set(name, 1), { instanceOf: OptionError })
    const error = await t.throwsAsync(createAgent({ named: { [name]: 1 } }), { instanceOf: OptionError })
    t.true(error?.option.startsWith('named'))
  })
}

test('what is neither number nor function is no metric, and the hundred and first is one too many', async (t) => {
  const { agent } = await startAgent(t)
  t.throws(() => agent.set('a', '1' as unknown as NamedValue), { instanceOf: OptionError })
  for (let i = 0; i < 100; i++) agent.set(`m${i}`, i % 2 === 0 ? i : () => i)
  t.throws(() => agent.set('more', 1), { instanceOf: OptionError })
  agent.set('m7', 8)
  agent.set('m8', undefined)
  agent.set('more', 1)
  t.is(agent.report()?.named?.more, 1)
})

test('publishers hear of each sample, good or bad, and of each change by hand at once', async (t) => {
  let broken = false
  const { reporter, clock } = await startReporter({ sampler: () => (broken ? Number.NaN : 5) })
  let told = 0
  const end = reporter.onChange(() => told++)
  await clock.advance(1_000)
  t.is(told, 1)
  broken = true
  await clock.advance(1_000)
  t.is(told, 2)
  reporter.drain()
  t.is(told, 3)
  reporter.drain()
  t.is(told, 3, 'nothing changed')
  reporter.setWeight(50)
  reporter.setMaxInFlight(3)
  t.is(told, 5)
  end()
  reporter.ready()
  await clock.advance(1_000)
  t.is(told, 5)
  reporter.stop()
  t.is(clock.pending, 0)
})

test('whatever it is told, the report is one that the API takes', async (t) => {
  const { agent } = await startAgent(t, { named: { a: -5, b: () => 1e12 }, weight: 100, maxInFlight: 0 })
  for (const say of ['drain', 'maint', 'down', 'ready'] as const) {
    agent[say]()
    t.deepEqual(checkReport(agent.report()), agent.report())
  }
})

test('without HTTP it listens on no port, and reports all the same', async (t) => {
  const { agent } = await startAgent(t, { http: false })
  t.is(agent.url, '')
  t.is(agent.port, 0)
  t.is(agent.report()?.cpu, 37.5)
  t.is(agent.counters.server.requests, 0)
})
