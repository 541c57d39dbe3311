import type { RequestListener } from 'node:http'
import test from 'ava'
import { type NodeExporterTransportOptions, nodeExporterTransport, OptionError } from '../../dist/index.js'
import { CpuRate } from '../../dist/poller/cpu-rate.js'
import { resolveNodeExporter } from '../../dist/poller/transports/node-exporter.js'
import { httpPoller, idOf, readingOf, serve } from './agents.js'

// A page of a machine with two cores, of which so many seconds were used in all.
function page(busy: number, idle: number): string {
  return `# HELP node_cpu_seconds_total Seconds the CPUs spent in each mode.
# TYPE node_cpu_seconds_total counter
node_cpu_seconds_total{cpu="0",mode="idle"} ${idle / 2}
node_cpu_seconds_total{cpu="0",mode="user"} ${busy / 2}
node_cpu_seconds_total{cpu="1",mode="idle"} ${idle / 2}
node_cpu_seconds_total{cpu="1",mode="system"} ${busy / 2}
node_load1 7
`
}

function reportsOf(
  source: ConstructorParameters<typeof CpuRate>[0],
  pages: readonly (readonly [string, number])[],
) {
  const rate = new CpuRate(source)
  return pages.map(([page, at]) => {
    const answer = rate.readBody(page, at)
    return answer.kind === 'report' ? answer.report : answer.kind
  })
}

test('the first page is no report; each later one is of the time since the last, dated to its middle', (t) => {
  const reports = reportsOf({ kind: 'node' }, [
    [page(100, 300), 1_000],
    [page(103, 301), 6_000],
    [page(104, 304), 8_000],
  ])
  t.deepEqual(reports, ['heard', { cpu: 75, age: 2_500 }, { cpu: 25, age: 1_000 }])
})

test('after counters that started anew the next page begins again', (t) => {
  const reports = reportsOf({ kind: 'node' }, [
    [page(100, 300), 0],
    [page(1, 3), 5_000],
    [page(2, 4), 10_000],
  ])
  t.deepEqual(reports, ['heard', 'heard', { cpu: 50, age: 2_500 }])
})

test('a page with no new sample is passed over: the next one is compared with the last sample', (t) => {
  const reports = reportsOf({ kind: 'node' }, [
    [page(100, 300), 0],
    [page(100, 300), 5_000],
    [page(101, 303), 10_000],
  ])
  t.deepEqual(reports, ['heard', 'heard', { cpu: 25, age: 5_000 }])
})

test('a process is measured against its cores, over the time between the pages', (t) => {
  const reports = reportsOf({ kind: 'process', cores: 2 }, [
    ['process_cpu_seconds_total 10\n', 0],
    ['process_cpu_seconds_total 12\n', 4_000],
  ])
  t.deepEqual(reports, ['heard', { cpu: 25, age: 2_000 }])
})

test('a container is found by its labels, and measured against its quota', (t) => {
  const container = (busy: number, seconds: number) => `container_spec_cpu_period{id="/a"} 100000
container_spec_cpu_quota{id="/a"} 200000
container_cpu_usage_seconds_total{cpu="total",id="/a"} ${busy} ${seconds * 1_000}
container_cpu_usage_seconds_total{cpu="total",id="/b"} 7 ${seconds * 1_000}
`
  const reports = reportsOf({ kind: 'container', labels: { id: '/a' } }, [
    [container(50, 100), 0],
    [container(55, 110), 9_000],
  ])
  t.deepEqual(reports, ['heard', { cpu: 25, age: 4_500 }])
})

// Half a second of CPU time with each page, of which this much was used.
function exporter(percent: number): RequestListener {
  let pages = 0
  return (_, response) => {
    pages++
    response.end(page((pages * percent) / 100, (pages * (100 - percent)) / 100))
  }
}

test('nodes are read by the polling thread from the second cycle on', async (t) => {
  const [busy, idle] = [await serve(t, exporter(90)), await serve(t, exporter(20))]
  const { table, poller } = httpPoller(t, {
    transport: nodeExporterTransport({ node: (id) => ({ url: `http://${id}/metrics` }) }),
  })
  poller.setMembers([table.claim(idOf(busy)), table.claim(idOf(idle))])
  poller.start()
  await poller.ready
  t.like(poller.counters, { stored: 0, heard: 2, exit: 0, error: 0 })
  t.is(readingOf(table, idOf(busy)), undefined)
  while (poller.counters.cycles < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  t.is(readingOf(table, idOf(busy))?.cpu, 90)
  t.is(readingOf(table, idOf(idle))?.cpu, 20)
})

test('a page of 3 MB is read, one of 5 MB is an error', async (t) => {
  const filler = (bytes: number) => '# filler of a page that is long\n'.repeat(bytes / 32)
  const sized = (bytes: number): RequestListener => {
    let pages = 0
    return (_, response) => response.end(`${filler(bytes)}${page(++pages, pages)}`)
  }
  const [long, longer] = [await serve(t, sized(3_000_000)), await serve(t, sized(5_000_000))]
  const { table, poller } = httpPoller(t, {
    timeout: 60_000,
    transport: nodeExporterTransport({ node: (id) => ({ url: `http://${id}/metrics` }) }),
  })
  poller.setMembers([table.claim(idOf(long)), table.claim(idOf(longer))])
  poller.start()
  await poller.ready
  t.like(poller.counters, { heard: 1, error: 1 })
})

for (const [id, options, expected] of [
  ['10.0.0.1:8080', {}, ['http://10.0.0.1:9100', '/metrics', { kind: 'node' }]],
  ['[fd00::1]:80', { port: 81, path: '/m?x' }, ['http://[fd00::1]:81', '/m?x', { kind: 'node' }]],
  ['a', { protocol: 'https', metric: 'container' }, ['https://a:9100', '/metrics', { kind: 'container' }]],
  [
    'a:1',
    { node: () => ({ url: 'http://b:2/c', metric: { kind: 'process', cores: 0.5 } }) },
    ['http://b:2', '/c', { kind: 'process', cores: 0.5 }],
  ],
] as const) {
  test(`node ${id} with ${Object.keys(options).join() || 'no options'} is read at ${expected[0]}${expected[1]}`, (t) => {
    const { origin, path, source } = resolveNodeExporter(
      id,
      nodeExporterTransport(options as NodeExporterTransportOptions).settings,
    )
    t.deepEqual([origin, path, source], [...expected])
  })
}

for (const [what, given, option] of [
  ['an unknown metric', { metric: 'disk' }, 'nodeExporterTransport.metric'],
  ['a process of no cores', { metric: { kind: 'process' } }, 'nodeExporterTransport.metric.cores'],
  [
    'labels that are none',
    { metric: { kind: 'container', labels: { id: 1 } } },
    'nodeExporterTransport.metric.labels.id',
  ],
  ['port 0', { port: 0 }, 'nodeExporterTransport.port'],
] as const) {
  test(`nodeExporterTransport refuses ${what}`, (t) => {
    const error = t.throws(() => nodeExporterTransport(given as never), { instanceOf: OptionError })
    t.is(error.option, option)
  })
}
