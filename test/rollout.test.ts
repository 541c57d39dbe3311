// Two versions of idlest at once, as during a rollout: agents and balancers, processes that share a table, threads.

import { once } from 'node:events'
import { openSync, readFileSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Worker } from 'node:worker_threads'
import test, { type ExecutionContext } from 'ava'
import {
  agentCheckTransport,
  attachBalancer,
  createBalancer,
  createTable,
  httpTransport,
  OptionError,
  random,
  TableError,
} from '../dist/index.js'
import { noThreadFor } from '../dist/poller/start-thread.js'
import { readOrcaBinary } from '../dist/reports/orca-binary.js'
import { readOrcaHeader } from '../dist/reports/orca-headers.js'
import { readOrcaJson } from '../dist/reports/orca-json.js'
import { VERSION } from '../dist/version.js'
import { serveTcp } from './poller/agents.js'
import { warningsOf } from './support/warnings.js'
import { filePath, test as fileTest } from './table/file/processes.js'

// What later versions may add: a number, a text, a map, a message, a metric, an entry of a map.
const NEWER_JSON = JSON.stringify({
  cpu_utilization: 0.375,
  gpu_utilization: 0.9,
  zone: 'a',
  tags: { color: 'blue' },
  deadline: null,
  samples: [1, 2],
  utilization: { total: 0.5 },
  named_metrics: { idlest_state: 1, idlest_zone_weight: 3 },
})
const NEWER_TEXT =
  'TEXT cpu_utilization=0.375,gpu_utilization=0.9,tags.color=7,utilization.total=0.5,named_metrics.idlest_state=1,named_metrics.idlest_zone_weight=3'

const double = (value: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return bytes
}
const entry = (field: number, key: string, value: number) => {
  const content = Buffer.concat([
    Buffer.from([0x0a, key.length]),
    Buffer.from(key),
    Buffer.from([0x11]),
    double(value),
  ])
  return Buffer.concat([Buffer.from([(field << 3) | 2, content.length]), content])
}
const NEWER_BINARY = Buffer.concat([
  Buffer.from([0x09]),
  double(0.375),
  // Field 12 as a double, field 13 as a text, field 14 as a number, field 15 as a map.
  Buffer.from([0x61]),
  double(0.9),
  Buffer.from([0x6a, 0x01, 0x61, 0x70, 0x07]),
  entry(15, 'color', 7),
  entry(5, 'total', 0.5),
  entry(8, 'idlest_state', 1),
  entry(8, 'idlest_zone_weight', 3),
])

const newer: [string, () => unknown][] = [
  ['JSON', () => readOrcaJson(NEWER_JSON)],
  ['TEXT', () => readOrcaHeader(NEWER_TEXT)],
  ['protobuf', () => readOrcaBinary(NEWER_BINARY)],
]
for (const [form, read] of newer) {
  test(`${form}: fields of a newer agent are skipped, and the known ones count`, (t) => {
    t.deepEqual(read(), {
      cpu: 37.5,
      state: 'drain',
      named: { 'utilization.total': 0.5, idlest_zone_weight: 3 },
    })
  })
}

test('a report of an older agent, which has fewer fields, counts', (t) => {
  for (const report of [
    readOrcaJson('{"cpu_utilization":0.375}'),
    readOrcaHeader('TEXT cpu_utilization=0.375'),
    readOrcaBinary(NEWER_BINARY.subarray(0, 9)),
  ]) {
    t.deepEqual(report, { cpu: 37.5 })
  }
})

for (const [form, read] of [
  ['JSON', () => readOrcaJson('{"cpu_utilization":0.375,"named_metrics":{"idlest_state":4}}')],
  ['TEXT', () => readOrcaHeader('TEXT cpu_utilization=0.375,named_metrics.idlest_state=4')],
  [
    'protobuf',
    () => readOrcaBinary(Buffer.concat([NEWER_BINARY.subarray(0, 9), entry(8, 'idlest_state', 4)])),
  ],
] as const) {
  test(`${form}: a state of a newer agent costs no readings`, (t) => {
    t.deepEqual(read(), { cpu: 37.5, unknownState: 4 })
  })
}

/** An agent over HTTP whose answer may change. */
async function agentOf(t: ExecutionContext, state: { body: string }): Promise<string> {
  const server = createServer((_, response) => response.end(state.body)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10))
}

test('a polled agent with a state of a later version: readings count, its state stays, one warning names both', async (t) => {
  const answer = { body: '{"cpu_utilization":0.1,"named_metrics":{"idlest_state":1}}' }
  const id = await agentOf(t, answer)
  const warnings = warningsOf(t, 'IDLEST_POLL_ERROR', 'newer-agent')
  const balancer = createBalancer({
    name: 'newer-agent',
    nodes: [id],
    algorithm: random(),
    poll: { transport: httpTransport(), interval: 20, startupJitter: 0 },
  })
  t.teardown(() => balancer.close())
  await balancer.ready()
  await until(() => balancer.snapshot()[0]?.state === 'drain')
  answer.body = '{"cpu_utilization":0.75,"named_metrics":{"idlest_state":4}}'
  await until(() => (balancer.stats().poll?.pushed.bad ?? 0) > 2)
  const [node] = balancer.snapshot()
  t.is(node?.state, 'drain')
  t.is(node?.report?.cpu, 75)
  t.is(balancer.stats().poll?.error, 0)
  t.is(warnings.length, 1)
  t.true(warnings[0]?.includes(`its state 4 is unknown to idlest ${VERSION}`), warnings[0])
})

test('a response with a state of a later version: its readings count, and one warning names both', async (t) => {
  const warnings = warningsOf(t, 'IDLEST_REPORT_ERROR', 'newer-response')
  await using balancer = createBalancer({
    name: 'newer-response',
    nodes: ['a'],
    algorithm: random(),
    poll: false,
  })
  const headers = { 'endpoint-load-metrics': 'TEXT cpu_utilization=0.75,named_metrics.idlest_state=4' }
  for (let i = 0; i < 3; i++) t.is(balancer.observe('a', headers), 'stored')
  t.is(balancer.snapshot()[0]?.report?.cpu, 75)
  t.is(balancer.snapshot()[0]?.state, 'up')
  t.like(balancer.stats().inBand, { stored: 3, bad: 0, warned: 1 })
  await new Promise(setImmediate)
  t.is(warnings.length, 1)
  t.true(warnings[0]?.includes(`its state 4 is unknown to idlest ${VERSION}`), warnings[0])
})

test('a word of a newer agent-check agent is left out, and the other words count', async (t) => {
  const agent = await serveTcp(t, (socket) => socket.end('drain hibernating 40%\n'))
  const { port } = agent.address() as AddressInfo
  const balancer = createBalancer({
    nodes: ['127.0.0.1'],
    algorithm: random(),
    poll: { transport: agentCheckTransport({ port, weight: 'idle' }), interval: 20, startupJitter: 0 },
  })
  t.teardown(() => balancer.close())
  await balancer.ready()
  await until(() => balancer.snapshot()[0]?.state === 'drain')
  t.is(balancer.snapshot()[0]?.report?.cpu, 60)
  t.true((balancer.stats().poll?.pushed.bad ?? 0) > 0)
})

const patch = (file: string, at: number, bytes: Uint8Array) =>
  writeSync(openSync(file, 'r+'), bytes, 0, bytes.length, at)

fileTest(
  'a table file of another format is refused: the error names the file, both versions and the remedy',
  (t) => {
    const file = filePath()
    createTable({ file, maxNodes: 16 })
    patch(file, 8, Uint8Array.of(9))
    patch(file, 92, Buffer.from('7.8.9-rc.1\0'))
    const before = readFileSync(file)
    const error = t.throws(() => createTable({ file }), { instanceOf: TableError })
    const message = error?.message ?? ''
    t.is(error?.code, 'IDLEST_TABLE')
    t.true(message.includes(JSON.stringify(file)), message)
    t.regex(message, /made by idlest 7\.8\.9-rc\.1 \(format 9\), and this is idlest /)
    t.true(message.includes(`this is idlest ${VERSION} (format `), message)
    t.regex(message, /Give each version a file of its own, or stop all processes that use it and delete it$/)
    t.deepEqual(readFileSync(file), before)
  },
)

fileTest(
  'a table file says which version made it, and one that does not is still refused by its format',
  (t) => {
    const file = filePath()
    createTable({ file, maxNodes: 16 })
    t.is(readFileSync(file).subarray(92, 124).toString('latin1').replace(/\0+$/, ''), VERSION)
    patch(file, 92, new Uint8Array(32))
    t.notThrows(() => createTable({ file }))
    patch(file, 8, Uint8Array.of(1))
    t.throws(() => createTable({ file }), { message: /made by idlest of another version \(format 1\)/ })
  },
)

fileTest(
  'a table file whose table has another layout is refused: the error names the file and both layouts',
  (t) => {
    const file = filePath()
    createTable({ file, maxNodes: 16 })
    patch(file, 4_096 + 4, Uint8Array.of(99))
    const error = t.throws(() => createTable({ file }), { instanceOf: TableError })
    const message = error?.message ?? ''
    t.true(message.includes(JSON.stringify(file)), message)
    t.regex(message, /layout version 99, and idlest .* has version \d+: .*the same version of idlest/)
  },
)

test('a handle of another version is refused: the error names both', async (t) => {
  await using balancer = createBalancer({ nodes: ['a'], poll: false })
  const handle = structuredClone(balancer.handle())
  t.notThrows(() => attachBalancer(handle).close())
  for (const [idlest, said] of [
    ['7.8.9', 'idlest 7.8.9'],
    [undefined, 'idlest of an unknown version'],
  ]) {
    // Another version may have other fields.
    const other = { kind: handle.kind, idlest, name: 'x', layout: 5 }
    const error = t.throws(() => attachBalancer(other as never), { instanceOf: OptionError })
    t.is(error?.code, 'IDLEST_BAD_OPTION')
    t.true(error?.message.includes(`a handle of ${said}`), error?.message)
    t.true(error?.message.includes(`one of idlest ${VERSION}, which this thread runs`), error?.message)
  }
})

test('a polling thread of another version ends, and says which two there are', async (t) => {
  const program = new URL('../dist/poller/polling-thread.js', import.meta.url)
  const worker = new Worker(program, { workerData: { idlest: '7.8.9' } })
  t.teardown(() => worker.terminate())
  const [error] = (await once(worker, 'error')) as [Error]
  const reason = noThreadFor(error) ?? ''
  t.true(reason.includes(`of idlest ${VERSION}`), reason)
  t.true(reason.includes('idlest 7.8.9'), reason)
  t.regex(reason, /build both from the same version/)
})
