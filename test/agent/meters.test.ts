import test from 'ava'
import { type AgentOptions, createAgent } from '../../dist/agent/index.js'
import { createBalancer, httpTransport, meter, OptionError } from '../../dist/index.js'
import { readOrcaJson } from '../../dist/reports/orca-json.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { ask, startAgent } from './support.js'

async function reportOf(url: string) {
  return readOrcaJson((await ask(url)).body)
}

test('what meters say goes into the report: ORCA has no fields for it, so as named metrics', async (t) => {
  const clock = new VirtualClock()
  const meters = ['queueDelay', 'inFlight', 'latency', 'askers'].map((metric) => meter({ metric, clock }))
  const [waits, flights, , askers] = meters
  const { agent } = await startAgent(t, { clock, meters })
  waits?.record(12.5)
  flights?.arrive()
  askers?.record(3)
  t.is(
    (await ask(agent.url)).body,
    '{"cpu_utilization":0.375,"age_ms":0,"named_metrics":{"askers":3,"in_flight":1,"latency_ms":5000,"queue_delay_ms":12.5,"idlest_state":0}}',
  )
  t.deepEqual(await reportOf(agent.url), {
    cpu: 37.5,
    inFlight: 1,
    latency: 5_000,
    queueDelay: 12.5,
    named: { askers: 3 },
    state: 'up',
    age: 0,
  })
})

test('the age of a report is that of the oldest part of it', async (t) => {
  const clock = new VirtualClock()
  const queue = meter({ clock, update: 100 })
  const { agent } = await startAgent(t, { clock, meters: [queue], sampleInterval: 1_000 })
  await clock.advance(250)
  t.deepEqual(
    await reportOf(agent.url),
    { cpu: 37.5, queueDelay: 0, state: 'up', age: 250 },
    'the sample is older',
  )
  queue.close()
  await clock.advance(850)
  t.deepEqual(
    await reportOf(agent.url),
    { cpu: 37.5, queueDelay: 0, state: 'up', age: 900 },
    'the meter is older',
  )
})

test('a balancer that polls knows the queue of each node', async (t) => {
  const queue = meter()
  const agent = await createAgent({ sampler: () => 10, meters: [queue] })
  t.teardown(() => agent.close())
  const node = `127.0.0.1:${agent.port}`
  queue.record(77)
  queue.close()
  const poll = { transport: httpTransport(), startupJitter: 0 }
  await using balancer = createBalancer({ nodes: [node], poll })
  await balancer.ready()
  t.is(balancer.snapshot()[0]?.report.queueDelay, 77)
})

for (const [name, meters] of [
  ['no array', meter()],
  ['something else', [{ metric: 'queueDelay', sample: () => 1 }]],
  ['two of one metric', [meter(), meter()]],
] as const) {
  test(`meters that are ${name} are refused`, async (t) => {
    const error = await t.throwsAsync(createAgent({ meters } as AgentOptions), { instanceOf: OptionError })
    t.regex(error?.option ?? '', /^meters/)
  })
}
