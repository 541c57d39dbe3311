import test from 'ava'
import { meter } from '../../dist/index.js'
import { readOrcaHeader } from '../../dist/reports/orca-headers.js'
import { readOrcaJson } from '../../dist/reports/orca-json.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { ask, startAgent } from './support.js'

const FORMS = ['TEXT', 'JSON', 'BIN'] as const

for (const form of FORMS) {
  test(`a request that asks for ${form} gets the report in a header of that form too`, async (t) => {
    const { agent, clock } = await startAgent(t, { named: { jobs: 2 }, weight: 40 })
    await clock.advance(120)
    agent.drain()
    for (const [url, headers] of [
      [agent.url, { 'endpoint-load-metrics-format': form }],
      [agent.url, { 'endpoint-load-metrics-format': form.toLowerCase() }],
      [`${agent.url}?format=${form.toLowerCase()}`, {}],
      [`${agent.url}?from=b1&format=${form}`, {}],
    ] as const) {
      const answer = await ask(url, { headers })
      const value = answer.headers['endpoint-load-metrics']
      t.true(typeof value === 'string' && value.startsWith(`${form} `))
      t.deepEqual(readOrcaHeader(String(value)), readOrcaJson(answer.body))
      t.deepEqual(readOrcaHeader(String(value)), agent.report())
    }
    t.is(agent.counters.server.headerless, 0)
  })
}

test('who does not ask gets no header', async (t) => {
  const { agent } = await startAgent(t)
  for (const url of [agent.url, `${agent.url}?from=b1`, `${agent.url}?`]) {
    t.is((await ask(url)).headers['endpoint-load-metrics'], undefined)
  }
  t.is(agent.counters.server.headerless, 0)
})

test('HEAD has the header too, and so a report without a body', async (t) => {
  const { agent } = await startAgent(t)
  const { headers, body } = await ask(`${agent.url}?format=text`, { method: 'HEAD' })
  t.is(
    headers['endpoint-load-metrics'],
    'TEXT cpu_utilization=0.375,named_metrics.age_ms=0,named_metrics.idlest_state=0',
  )
  t.is(body, '')
})

test('an unknown form, a name that TEXT has no way to say and a header that is too long: no header, counted', async (t) => {
  const clock = new VirtualClock()
  const { agent } = await startAgent(t, { clock, meters: [meter({ metric: 'a,b', clock })] })
  for (const form of ['XML', '', 'TEXT']) {
    const { status, headers } = await ask(agent.url, { headers: { 'endpoint-load-metrics-format': form } })
    t.is(status, 200)
    t.is(headers['endpoint-load-metrics'], undefined)
  }
  t.is(agent.counters.server.headerless, 3)
  t.truthy((await ask(`${agent.url}?format=JSON`)).headers['endpoint-load-metrics'])
  for (let i = 0; i < 99; i++) agent.set(`${'x'.repeat(120)}${i}`, i)
  const { status, headers } = await ask(`${agent.url}?format=JSON`)
  t.is(status, 200)
  t.is(headers['endpoint-load-metrics'], undefined)
  t.is(agent.counters.server.headerless, 4)
})
