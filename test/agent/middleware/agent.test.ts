import { createServer } from 'node:http'
import test from 'ava'
import { httpMiddleware } from '../../../dist/agent/index.js'
import { readOrcaHeader } from '../../../dist/reports/orca-headers.js'
import { readOrcaJson } from '../../../dist/reports/orca-json.js'
import { ask, startAgent, until } from '../support.js'
import { listen } from './support.js'

test('an agent that nothing tells of requests reports none', async (t) => {
  const { agent } = await startAgent(t)
  t.deepEqual(Object.keys(readOrcaJson((await ask(agent.url)).body)).toSorted(), ['age', 'cpu', 'state'])
})

test("what a service's middleware counts is in the agent's report, and the report in the service's responses", async (t) => {
  const { agent, clock } = await startAgent(t)
  const service = createServer(
    httpMiddleware(
      agent,
      (request, response) => {
        response.statusCode = request.url === '/bad' ? 500 : 200
        if (request.url !== '/never') response.end()
      },
      { when: 'always' },
    ),
  )
  const url = `http://127.0.0.1:${await listen(t, service)}`
  await clock.advance(100)
  await ask(`${url}/bad`)
  const header = readOrcaHeader(String((await ask(`${url}/good`)).headers['endpoint-load-metrics']))
  t.is(header.cpu, 37.5)
  t.is(header.inFlight, 1)
  const never = ask(`${url}/never`).catch(() => {})
  await until(() => agent.traffic.inFlight === 1)
  await clock.advance(400)
  const report = readOrcaJson((await ask(agent.url)).body)
  // Two in the half second since.
  t.like(report, { cpu: 37.5, inFlight: 1, qps: 4, eps: 2, latency: 0, queueDelay: 0.001, age: 500 })
  t.is(agent.counters.traffic.reports, 2)
  t.deepEqual(agent.report()?.inFlight, 1)
  service.closeAllConnections()
  await never
})

test("a user's meter goes before what is counted", async (t) => {
  const { meter } = await import('../../../dist/index.js')
  const queue = meter()
  queue.record(123)
  // What it says stays, whatever the loop does meanwhile.
  queue.close()
  const { agent, clock } = await startAgent(t, { meters: [queue] })
  agent.traffic.open()
  await clock.advance(1_000)
  const { queueDelay, inFlight } = agent.report() ?? {}
  t.is(queueDelay, 123)
  t.is(inFlight, 0)
})
