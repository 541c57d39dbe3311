import type { RequestListener, ServerResponse } from 'node:http'
import test, { type ExecutionContext } from 'ava'
import type { Answer } from '../../dist/poller/answer.js'
import { writeOrcaHeader } from '../../dist/reports/orca-headers.js'
import { httpNode, idOf, serve } from './agents.js'

async function ask(t: ExecutionContext, listener: RequestListener): Promise<Answer> {
  return httpNode(t, idOf(await serve(t, listener))).ask()
}

const report = { cpu: 37.5, inFlight: 3 } as const
const answered: Answer = { kind: 'report', report, at: 1_234 }
const page = (response: ServerResponse) => response.end('<html>It works!</html>')

for (const form of ['TEXT', 'JSON', 'BIN'] as const) {
  test(`a report in the headers in the form ${form} is read, whatever the body is`, async (t) => {
    const answer = await ask(t, (_, response) => {
      response.setHeader('endpoint-load-metrics', writeOrcaHeader(report, form))
      page(response)
    })
    t.deepEqual(answer, answered)
  })
}

test('a serialized report in the -bin header goes before the other', async (t) => {
  const answer = await ask(t, (_, response) => {
    response.setHeader('endpoint-load-metrics', 'TEXT cpu_utilization=0.9')
    response.setHeader('endpoint-load-metrics-bin', writeOrcaHeader(report, 'BIN').slice('BIN '.length))
    page(response)
  })
  t.deepEqual(answer, answered)
})

for (const status of [200, 201, 204, 206]) {
  test(`a report in the headers of an answer of status ${status} is read`, async (t) => {
    const answer = await ask(t, (_, response) => {
      response.writeHead(status, { 'endpoint-load-metrics': writeOrcaHeader(report, 'TEXT') })
      response.end()
    })
    t.deepEqual(answer, answered)
  })
}

for (const status of [302, 404, 503]) {
  test(`an answer of status ${status} is an error, whatever its headers say`, async (t) => {
    const answer = await ask(t, (_, response) => {
      response.writeHead(status, { 'endpoint-load-metrics': writeOrcaHeader(report, 'TEXT') })
      response.end()
    })
    t.like(answer, { kind: 'error' })
  })
}

for (const [what, value] of [
  ['an unknown form', 'YAML cpu: 1'],
  ['no number', 'TEXT cpu_utilization=much'],
  ['NaN', 'TEXT cpu_utilization=NaN'],
  ['a negative CPU', 'TEXT cpu_utilization=-0.1'],
  ['no base64', 'BIN ***'],
] as const) {
  test(`a report in the headers with ${what} is an error, also where the body is right`, async (t) => {
    const answer = await ask(t, (_, response) => {
      response.setHeader('endpoint-load-metrics', value)
      response.end('{"cpu_utilization":0.5}')
    })
    t.is(answer.kind, 'error')
  })
}

test('a header that stands twice is an error', async (t) => {
  const answer = await ask(t, (_, response) => {
    response.setHeader('endpoint-load-metrics', ['TEXT eps=1', 'TEXT eps=2'])
    page(response)
  })
  t.like(answer, { kind: 'error', reason: 'the header endpoint-load-metrics stands 2 times' })
})

for (const format of [undefined, 'TEXT', 'JSON', 'BIN'] as const) {
  test(`the form that is asked for is ${format ?? 'none by default'}`, async (t) => {
    const seen: unknown[] = []
    const server = await serve(t, (request, response) => {
      seen.push(request.headers['endpoint-load-metrics-format'])
      response.end('{}')
    })
    await httpNode(t, idOf(server), format === undefined ? {} : { format }).ask()
    t.deepEqual(seen, [format])
  })
}

test('the connection is kept once the body has come', async (t) => {
  const server = await serve(t, (_, response) => {
    response.setHeader('endpoint-load-metrics', writeOrcaHeader(report, 'TEXT'))
    response.end('x'.repeat(60_000))
  })
  let connections = 0
  server.on('connection', () => connections++)
  const node = httpNode(t, idOf(server))
  // Where the machine is busy the body may take its time: then the next ask makes a connection of its own.
  for (let asks = 1; asks === 1 || connections === asks - 1; asks++) {
    t.deepEqual(await node.ask(), answered)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
})

for (const [what, body] of [
  ['never ends', (response: ServerResponse) => response.write('x')],
  ['is of 10 MB', (response: ServerResponse) => response.end('x'.repeat(10_000_000))],
] as const) {
  test(`a body that ${what} is not waited for where the headers have the report, nor by the next ask`, async (t) => {
    const server = await serve(t, (_, response) => {
      response.setHeader('endpoint-load-metrics', writeOrcaHeader(report, 'TEXT'))
      body(response)
    })
    const node = httpNode(t, idOf(server))
    for (let turn = 0; turn < 5; turn++) t.deepEqual(await node.ask(), answered)
  })
}
