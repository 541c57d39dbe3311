import assert from 'node:assert/strict'
import type { Report } from '../../dist/report.js'
import { haproxyWeight, readAgentCheck, writeAgentCheck } from '../../dist/reports/agent-check.js'
import { checkReport } from '../../dist/reports/check.js'
import { type CpuSource, cpuCounters, percentBetween } from '../../dist/reports/node-cpu.js'
import { readOrcaBinary } from '../../dist/reports/orca-binary.js'
import { readOrcaBinaryHeader, readOrcaHeader } from '../../dist/reports/orca-headers.js'
import { readOrcaJson } from '../../dist/reports/orca-json.js'
import { readOrcaRequest, writeOrcaRequest } from '../../dist/reports/orca-request.js'
import { readPrometheus, type Series } from '../../dist/reports/prometheus.js'
import { RESERVED } from '../support/reports.js'
import { assertReport, outcome } from './outcome.js'
import type { Target } from './target.js'

const FIELDS = [
  'cpu_utilization',
  'mem_utilization',
  'application_utilization',
  'rps_fractional',
  'rps',
  'eps',
]
const MAPS = ['named_metrics', 'utilization', 'request_cost']

const text = (input: Uint8Array): string => Buffer.from(input).toString('utf8')
// As Node.js gives headers.
const header = (input: Uint8Array): string => Buffer.from(input).toString('latin1')

function checkRead(read: () => Report): boolean {
  const report = outcome(read)
  if (report !== undefined) assertReport(report)
  return report !== undefined
}

const orcaJson: Target = {
  name: 'orca-json',
  words: [...FIELDS, ...MAPS, ...RESERVED, 'cpuUtilization', 'namedMetrics', 'ageMs', '{"', '":', ',"', '}'],
  check: (input) => checkRead(() => readOrcaJson(text(input))),
}

const orcaBinary: Target = {
  name: 'orca-binary',
  words: ['\x09', '\x42', '\x0a', '\x11', '\x42\x0b\x0a\0\x11\0\0\0\0\0\0\xf0\x3f', '\x1b\x1c', ...RESERVED],
  check: (input) => checkRead(() => readOrcaBinary(input)),
}

const orcaHeader: Target = {
  name: 'orca-header',
  words: ['TEXT ', 'JSON ', 'BIN ', ...FIELDS, ...MAPS.map((map) => `${map}.`), ...RESERVED],
  check: (input) => checkRead(() => readOrcaHeader(header(input))),
}

const orcaBinaryHeader: Target = {
  name: 'orca-binary-header',
  words: ['CQAA', 'AAAA', '=', '==', 'Qg4K', '_', '-'],
  check: (input) => checkRead(() => readOrcaBinaryHeader(header(input))),
}

const orcaRequest: Target = {
  name: 'orca-request',
  words: ['\x0a', '\x08', '\x10', '\x12', '\x0a\x02\x08\x01', '\x80\x80\x01', '\x1b\x1c'],
  check: (input) => {
    const request = outcome(() => readOrcaRequest(input))
    if (request === undefined) return false
    const { interval } = request
    assert.ok(interval >= 0 && interval <= 2 ** 63 * 1001, `${interval}`)
    if (interval > 1e9) return true
    const again = readOrcaRequest(writeOrcaRequest(request)).interval
    assert.ok(Math.abs(again - interval) < 1e-5, `${again} in place of ${interval}`)
    return true
  },
}

const reports: Target = {
  name: 'report',
  words: [
    '"cpu"',
    '"named"',
    '"state"',
    '"drain"',
    '"weight"',
    '"maxInFlight"',
    '"age"',
    '"inFlight"',
    ':',
    ',',
  ],
  check: (input) => {
    let value: unknown
    try {
      value = JSON.parse(text(input))
    } catch {
      return false
    }
    return checkRead(() => checkReport(value))
  },
}

const STATES = ['up', 'drain', 'maint', 'down'] as const

const agentCheck: Target = {
  name: 'agent-check',
  words: ['up', 'down', 'stopped', 'fail', 'ready', 'drain', 'maint', 'weight:', 'maxconn:', '%', ' #', '\n'],
  check: (input) => {
    const line = text(input)
    const reply = outcome(() => readAgentCheck(line))
    // The limit is in characters of one and in bytes of the other.
    if (input.length <= 60_000) {
      assert.equal(reply === undefined, !/[\r\n\0]/.test(line))
      assert.deepEqual(
        outcome(() => readAgentCheck(input)),
        reply,
      )
    }
    if (reply === undefined) return false
    const ranges = [
      [reply.percent, 25_600],
      [reply.weight, 256],
      [reply.maxconn, 1e12],
      [haproxyWeight(reply, 256), 256],
    ] as const
    for (const [value, most] of ranges) {
      assert.ok(value === undefined || (Number.isInteger(value) && value >= 0 && value <= most), `${value}`)
    }
    assert.ok(reply.percent === undefined || reply.weight === undefined)
    for (const error of reply.errors) assert.ok(error.length < 500)

    const state = STATES[input.length % 4] ?? 'up'
    const written = writeAgentCheck({ state, percent: reply.percent ?? 0, maxInFlight: reply.maxconn ?? 0 })
    const read = readAgentCheck(written)
    assert.deepEqual([read?.unknown, read?.errors], [[], []])
    assert.ok((read?.percent ?? 0) >= 1 || state === 'drain' || state === 'maint', written)
    return true
  },
}

/** The samples before the first line that is refused, and whether there was one. */
function samples(page: string, wanted: ReadonlySet<string> | ((name: string) => boolean)) {
  const found: Series[] = []
  const whole = outcome(() => {
    for (const series of readPrometheus(page, wanted)) found.push(series)
    return true
  })
  return { found, whole: whole === true }
}

const prometheus: Target = {
  name: 'prometheus',
  words: [
    'node_cpu_seconds_total',
    '{cpu="0",mode="idle"} 1\n',
    '{',
    '}',
    '="',
    '\\"',
    '\\n',
    ' # {',
    '# EOF\n',
    '+Inf',
  ],
  check: (input) => {
    const page = text(input)
    const { found, whole } = samples(page, () => true)
    for (const { name, labels, value, timestamp } of found) {
      assert.match(name, /^[^ \t\n\r{]+$/)
      assert.equal(typeof value, 'number')
      assert.ok(timestamp === undefined || Number.isFinite(timestamp))
      for (const label of Object.values(labels)) assert.equal(typeof label, 'string')
    }
    if (!whole) return false
    // Whoever wants a few of them gets the same.
    const [first] = found
    if (first === undefined) return true
    const some = samples(page, new Set([first.name, 'none']))
    assert.deepEqual(some, { found: found.filter(({ name }) => name === first.name), whole })
    return true
  },
}

const SOURCES: readonly CpuSource[] = [
  { kind: 'node' },
  { kind: 'process', cores: 2 },
  { kind: 'container' },
  { kind: 'container', labels: { container: 'app' }, cores: 0.5 },
]

const nodeCpu: Target = {
  name: 'node-cpu',
  words: [
    ...[
      'node_cpu_seconds_total{cpu="0",mode="user"} ',
      'mode="idle"',
      'mode="iowait"',
      'process_cpu_seconds_total ',
    ],
    ...['container_cpu_usage_seconds_total', 'container_spec_cpu_quota', 'container_spec_cpu_period'],
    ...['machine_cpu_cores 4\n', 'id="/"', 'container="app"', ' 1000\n', '\f'],
  ],
  // Two pages, parted by a form feed.
  check: (input) => {
    const [before = '', after = before] = text(input).split('\f')
    let read = false
    for (const source of SOURCES) {
      const from = outcome(() => cpuCounters(before, source, 1000))
      const to = outcome(() => cpuCounters(after, source, 6000))
      for (const counters of [from, to]) {
        if (counters === undefined) continue
        assert.ok(counters.busy >= 0 && Number.isFinite(counters.busy))
        assert.ok(Number.isFinite(counters.total) && counters.cores > 0)
        if (source.kind === 'node') assert.ok(counters.total >= counters.busy)
      }
      if (from === undefined || to === undefined) continue
      read = true
      const percent = percentBetween(from, to)
      assert.ok(percent === undefined || (percent >= 0 && percent <= 100), `${percent}`)
    }
    return read
  },
}

/** All readers. */
export const targets: readonly Target[] = [
  orcaJson,
  orcaBinary,
  orcaHeader,
  orcaBinaryHeader,
  orcaRequest,
  reports,
  agentCheck,
  prometheus,
  nodeCpu,
]
