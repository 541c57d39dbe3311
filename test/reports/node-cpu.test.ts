import test from 'ava'
import { type CpuSource, cpuCounters, percentBetween } from '../../dist/reports/node-cpu.js'
import { refused } from '../support/reports.js'

const NODE: CpuSource = { kind: 'node' }

/** A page of node_exporter: seconds of idle, iowait, user, system and steal of each core. */
function nodePage(
  ...cores: [idle: number, iowait: number, user: number, system: number, steal: number][]
): string {
  const lines = cores.flatMap((seconds, cpu) =>
    ['idle', 'iowait', 'user', 'system', 'steal'].map(
      (mode, index) => `node_cpu_seconds_total{cpu="${cpu}",mode="${mode}"} ${seconds[index]}\n`,
    ),
  )
  return `# TYPE node_cpu_seconds_total counter\n${lines.join('')}node_load1 7\n`
}

function percent(before: string, after: string, source: CpuSource, seconds = 5): number | undefined {
  return percentBetween(cpuCounters(before, source, 1000), cpuCounters(after, source, 1000 + seconds * 1000))
}

test('percent of a node is all but idle and iowait, over all cores', (t) => {
  const before = nodePage([100, 10, 50, 20, 5], [200, 0, 10, 10, 0])
  const after = nodePage([102, 11, 51, 20.5, 5.5], [204, 0, 11, 10, 0])
  // 3 of 10 seconds.
  t.is(percent(before, after, NODE), 30)
  t.deepEqual(cpuCounters(before, NODE, 0), { busy: 95, total: 405, cores: 2, at: undefined })
})

test('an idle node is at 0, a full one at 100', (t) => {
  t.is(percent(nodePage([1, 1, 1, 1, 1]), nodePage([6, 1, 1, 1, 1]), NODE), 0)
  t.is(percent(nodePage([1, 1, 1, 1, 1]), nodePage([1, 1, 6, 1, 1]), NODE), 100)
})

test('modes of guests, which old versions have, count once: they are user and nice already', (t) => {
  const guests = (seconds: number) =>
    ['guest', 'guest_nice']
      .map((mode) => `node_cpu_seconds_total{cpu="0",mode="${mode}"} ${seconds}\n`)
      .join('')
  const before = nodePage([0, 0, 0, 0, 0]) + guests(0)
  t.is(percent(before, nodePage([2, 0, 2, 0, 0]) + guests(2), NODE), 50)
})

test('a page of a real node_exporter is read', (t) => {
  const page = (user: number) => `node_cpu_guest_seconds_total{cpu="0",mode="user"} 0
node_cpu_seconds_total{cpu="0",mode="idle"} 3192.7
node_cpu_seconds_total{cpu="0",mode="iowait"} 13.57
node_cpu_seconds_total{cpu="0",mode="irq"} 0
node_cpu_seconds_total{cpu="0",mode="nice"} 0
node_cpu_seconds_total{cpu="0",mode="softirq"} 13.66
node_cpu_seconds_total{cpu="0",mode="steal"} 34.19
node_cpu_seconds_total{cpu="0",mode="system"} 754.68
node_cpu_seconds_total{cpu="0",mode="user"} ${user}
`
  t.is(percent(page(8332.85), page(8333.85), NODE), 100)
})

test('there is no percentage where a counter went back, the cores are others or nothing was sampled', (t) => {
  const before = nodePage([100, 10, 50, 20, 5], [200, 0, 10, 10, 0])
  t.is(percent(before, nodePage([1, 0, 1, 0, 0], [1, 0, 1, 0, 0]), NODE), undefined)
  t.is(percent(before, nodePage([200, 10, 49, 20, 5], [300, 0, 10, 10, 0]), NODE), undefined)
  t.is(percent(before, nodePage([1000, 10, 50, 20, 5]), NODE), undefined)
  t.is(percent(before, before, NODE), undefined)
})

test('iowait that goes back a little, as the kernel has it, is no harm', (t) => {
  const value = percent(nodePage([100, 10, 50, 20, 5]), nodePage([104, 9.9, 51, 20, 5]), NODE) ?? -1
  t.true(Math.abs(value - 100 / 4.9) < 1e-9)
})

for (const page of ['', 'node_load1 1\n', 'node_cpu_seconds_total{cpu="0",mode="user"} 1\n']) {
  test(`a page without idle time is refused: ${JSON.stringify(page)}`, (t) => {
    refused(t, () => cpuCounters(page, NODE, 0), 'node_cpu_seconds_total')
  })
}

for (const bad of ['NaN', '-1', '+Inf', '1e300']) {
  test(`a counter of ${bad} is refused`, (t) => {
    const line = (labels: string) => `{${labels}} ${bad}\n`
    refused(
      t,
      () => cpuCounters(`node_cpu_seconds_total${line('cpu="0",mode="idle"')}`, NODE, 0),
      'node_cpu_seconds_total',
    )
    refused(
      t,
      () => cpuCounters(`process_cpu_seconds_total${line('')}`, { kind: 'process', cores: 1 }, 0),
      'process_cpu_seconds_total',
    )
    refused(
      t,
      () => cpuCounters(`container_cpu_usage_seconds_total${line('id="/"')}`, { kind: 'container' }, 0),
      'container_cpu_usage_seconds_total',
    )
  })
}

test('percent of a process is of so many cores, by our clock', (t) => {
  const page = (seconds: number) => `process_cpu_seconds_total ${seconds}\n`
  t.is(percent(page(100), page(102.5), { kind: 'process', cores: 1 }), 50)
  t.is(percent(page(100), page(102.5), { kind: 'process', cores: 2 }), 25)
  t.is(percent(page(100), page(110), { kind: 'process', cores: 1 }), 100)
  t.is(percent(page(100), page(0.5), { kind: 'process', cores: 1 }), undefined)
  t.is(percent(page(1), page(2), { kind: 'process', cores: 1 }, 0), undefined)
  refused(t, () => cpuCounters('up 1\n', { kind: 'process', cores: 1 }, 0), 'process_cpu_seconds_total')
})

/** A page of cAdvisor: the container `app` with its seconds, sampled at a time of its own, among others. */
function containerPage(seconds: number, at: number, extra = ''): string {
  return `container_cpu_usage_seconds_total{container="",cpu="total",id="/",name="",pod=""} 9000 ${at}
container_cpu_usage_seconds_total{container="app",cpu="total",id="/k/a",name="x",pod="p-1"} ${seconds} ${at}
container_cpu_usage_seconds_total{container="side",cpu="total",id="/k/b",name="y",pod="p-1"} 70 ${at}
container_spec_cpu_period{container="app",id="/k/a",pod="p-1"} 100000 ${at}
container_spec_cpu_period{container="side",id="/k/b",pod="p-1"} 100000 ${at}
${extra}machine_cpu_cores{machine_id="m"} 4
`
}
const APP: CpuSource = { kind: 'container', labels: { container: 'app', pod: 'p-1' } }

test("percent of a container is of the machine's cores where it has no quota", (t) => {
  t.is(percent(containerPage(100, 10_000), containerPage(110, 20_000), APP), 25)
})

test('percent of a container is of its quota', (t) => {
  const quota = 'container_spec_cpu_quota{container="app",id="/k/a",pod="p-1"} 250000\n'
  t.is(percent(containerPage(100, 10_000, quota), containerPage(110, 20_000, quota), APP), 40)
  const none = 'container_spec_cpu_quota{container="app",id="/k/a",pod="p-1"} -1\n'
  t.is(percent(containerPage(100, 10_000, none), containerPage(110, 20_000, none), APP), 25)
})

test('a number of cores that is given goes before those on the page', (t) => {
  t.is(percent(containerPage(100, 10_000), containerPage(110, 20_000), { ...APP, cores: 2 }), 50)
})

test('without labels it is the root, which is the machine', (t) => {
  t.is(cpuCounters(containerPage(100, 10_000), { kind: 'container' }, 0).busy, 9000)
})

test('series of single cores are summed up', (t) => {
  const page = (a: number, b: number) =>
    `container_cpu_usage_seconds_total{cpu="cpu00",id="/"} ${a}\n` +
    `container_cpu_usage_seconds_total{cpu="cpu01",id="/"} ${b}\n`
  t.is(percent(page(1, 2), page(3, 5), { kind: 'container', cores: 2 }), 50)
})

test('time goes by the stamps of the page: one that was not sampled anew gives no percentage', (t) => {
  t.is(percent(containerPage(100, 10_000), containerPage(100, 10_000), APP), undefined)
  t.is(percent(containerPage(100, 10_000), containerPage(100, 20_000), APP), 0)
  t.is(cpuCounters(containerPage(100, 10_000), APP, 0).at, 10_000)
})

test('a page with stamps and one without have no time between them', (t) => {
  const bare = containerPage(110, 20_000).replaceAll(' 20000\n', '\n')
  t.is(percent(containerPage(100, 10_000), bare, APP), undefined)
})

test('labels that fit no container, or several whose quotas would have to be known, are refused', (t) => {
  const page = containerPage(100, 10_000)
  const field = 'container_cpu_usage_seconds_total'
  refused(t, () => cpuCounters(page, { kind: 'container', labels: { container: 'none' } }, 0), field)
  refused(t, () => cpuCounters(page, { kind: 'container', labels: { pod: 'p-1' } }, 0), field)
  t.is(cpuCounters(page, { kind: 'container', labels: { pod: 'p-1' }, cores: 4 }, 0).busy, 170)
})

for (const machine of ['', 'machine_cpu_cores 0\n', 'machine_cpu_cores NaN\n', 'machine_cpu_cores +Inf\n']) {
  test(`a page that does not say how many cores there are is refused: ${JSON.stringify(machine)}`, (t) => {
    const page = `container_cpu_usage_seconds_total{id="/"} 1\n${machine}`
    refused(t, () => cpuCounters(page, { kind: 'container' }, 0), 'machine_cpu_cores')
  })
}
