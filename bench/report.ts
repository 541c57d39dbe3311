import Table from 'cli-table3'
import type { Bar, BarUnit, Figures } from './bars.js'
import type { CaseResult } from './case.js'
import type { ThreadsResult } from './cases/threads.js'
import type { FleetResult } from './figures/fleet.js'
import type { NatsResult } from './figures/nats.js'

// No colours: the tables are for README and logs too.
const style = { head: [], border: [], compact: true }

/** 3 digits that count, with separators: `4.56`, `12.3`, `1,234`. */
export function digits(value: number): string {
  const fraction = value >= 100 || value === 0 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3
  return value.toLocaleString('en-US', { minimumFractionDigits: fraction, maximumFractionDigits: fraction })
}

/** A bar's number as a person reads it. */
export function amount(value: number, unit: BarUnit): string {
  if (unit === 'part') return `1/${digits(1 / value)}`
  if (unit === 'collections') return `${value}`
  return unit === 'times' ? `${digits(value)} x` : `${digits(value)} ${unit}`
}

// Differences of what was measured may come out below 0.
function signed(value: number): string {
  return value < 0 ? `-${digits(-value)}` : digits(value)
}

export function casesTable(results: readonly CaseResult[]): string {
  const table = new Table({
    head: ['case', 'engine', 'nodes', 'ns', 'floors', 'p99', 'per', 'samples'],
    colAligns: ['left', 'left', 'right', 'right', 'right', 'right', 'left', 'right'],
    style,
  })
  for (const { name, engine, nodes, nsPerPick, floors, p99, unit, samples } of results) {
    table.push([
      name,
      engine,
      nodes === 0 ? '' : nodes.toLocaleString('en-US'),
      digits(nsPerPick),
      floors === undefined ? '-' : digits(floors),
      digits(p99),
      unit,
      samples.toLocaleString('en-US'),
    ])
  }
  return table.toString()
}

export function barsTable(bars: readonly Bar[]): string {
  const table = new Table({
    head: ['what', 'at most', 'reached', 'met?'],
    colAligns: ['left', 'right', 'right', 'left'],
    style,
  })
  for (const { what, unit, atMost, reached, met } of bars) {
    table.push([
      what,
      amount(atMost, unit),
      reached === undefined ? '-' : amount(reached, unit),
      met === undefined ? 'not measured' : met ? 'yes' : 'MISSED',
    ])
  }
  return table.toString()
}

export function threadsTable(results: readonly ThreadsResult[]): string {
  const table = new Table({
    head: ['threads that pick, while one writes', 'engine', 'million picks a second, each'],
    colAligns: ['right', 'left', 'right'],
    style,
  })
  for (const { threads, engine, picksPerSecond } of results) {
    table.push([threads, engine, digits(picksPerSecond / 1e6)])
  }
  return table.toString()
}

export function figuresTable({
  gc,
  tableBytes,
  poll,
  fleet,
  streams,
  nats,
  waits,
  middleware,
  undici,
  grpcPolicies,
}: Figures): string {
  const table = new Table({ head: ['figure', 'reached'], style })
  for (const { engine, cases } of gc ?? []) {
    for (const { name, picks, collections, bytesPerPick } of cases) {
      table.push([
        `${engine} ${name}: garbage collections in ${picks.toLocaleString('en-US')} picks`,
        `${collections} (${digits(Math.max(0, bytesPerPick))} bytes a pick)`,
      ])
    }
  }
  if (tableBytes !== undefined)
    table.push(['table of 10,000 nodes', `${tableBytes.toLocaleString('en-US')} bytes`])
  if (poll !== undefined) {
    const { agents, silent, timeout, durations, stored } = poll
    table.push([
      `poll cycles, ${agents} agents, ${silent} of them silent, timeout ${timeout} ms`,
      durations.map((ms, i) => `${digits(ms)} ms, ${stored[i]} stored`).join('\n'),
    ])
  }
  for (const one of [fleet, streams]) if (one !== undefined) for (const row of fleetRows(one)) table.push(row)
  if (nats !== undefined) for (const row of natsRows(nats)) table.push(row)
  for (const { policy, mean, p99, jobs } of waits ?? []) {
    table.push([
      `wait of jobs for 8 worker threads, two of them slow: ${policy}`,
      `mean ${digits(mean)} ms, p99 ${digits(p99)} ms (jobs ${jobs.join(' ')})`,
    ])
  }
  for (const { server, plain, counted, reported, anew } of middleware ?? []) {
    table.push([
      `middleware of ${server}: added to a request of ${digits(plain)} µs`,
      `${signed(counted)} µs counted, ${signed(reported)} µs with a report, ${signed(anew)} µs with one of its own`,
    ])
  }
  for (const { sender, throughput, cpu, toBalancedPool, toRoundRobinPool, p50, p99 } of undici ?? []) {
    table.push([
      `undici, 4 servers: ${sender}`,
      `${Math.round(throughput).toLocaleString('en-US')} requests/s, ${digits(cpu)} µs CPU each (${digits(toBalancedPool)} of BalancedPool, ` +
        `${digits(toRoundRobinPool)} of RoundRobinPool); one server busy: p50 ${digits(p50)} ms, p99 ${digits(p99)} ms`,
    ])
  }
  for (const { policy, cpu, toRoundRobin } of grpcPolicies ?? []) {
    table.push([
      `CPU of a call of gRPC in the client by ${policy}`,
      `${digits(cpu)} µs, ${digits(toRoundRobin)} x round_robin`,
    ])
  }
  return table.toString()
}

const BYTES_A_MIB = 1024 * 1024

// The first cycle connects to all, and the thread starts; those after it are what polling costs.
function fleetRows({ nodes, by, interval, cycles, rssBefore, rss }: FleetResult): string[][] {
  const what = `${nodes.toLocaleString('en-US')} nodes every ${interval} ms${by === 'grpc' ? ' by gRPC' : ''}`
  const [first, ...later] = cycles
  const thread = later.flatMap(({ threadCpu }) => threadCpu ?? [])
  const rows = [
    [
      `${what}: poll cycles`,
      cycles.map(({ duration, stored }) => `${digits(duration)} ms, ${stored} stored`).join('\n'),
    ],
  ]
  if (first?.threadCpu !== undefined && thread.length > 0) {
    const mean = thread.reduce((sum, ms) => sum + ms, 0) / thread.length
    const period = interval + later.reduce((sum, { duration }) => sum + duration, 0) / later.length
    rows.push([
      `${what}: CPU of the polling thread, a cycle`,
      `${digits(mean)} ms, ${digits((mean / period) * 100)} % of a core (the first cycle ${digits(first.threadCpu)} ms)`,
    ])
  }
  rows.push([
    `${what}: CPU of the process, a cycle`,
    later.map(({ processCpu }) => `${digits(processCpu)} ms`).join(', '),
  ])
  rows.push([
    `${what}: memory of the process`,
    `${digits(rss / BYTES_A_MIB)} MiB, ${digits((rss - rssBefore) / BYTES_A_MIB)} of it since before the balancer`,
  ])
  return rows
}

function natsRows({ nodes, steady, flooded }: NatsResult): string[][] {
  const cpu = ({ elapsed, heard, processCpu, threadCpu }: NatsResult['steady']): string => {
    const thread =
      threadCpu === undefined
        ? ''
        : `${digits((threadCpu / heard) * 1_000)} µs a report in the polling thread, `
    return `${heard} reports in ${digits(elapsed)} ms: ${thread}the process ${digits((processCpu / elapsed) * 100)} % of a core`
  }
  return [
    [`NATS, ${nodes.toLocaleString('en-US')} nodes with a report a second each`, cpu(steady)],
    [
      'NATS, as many reports as it takes',
      `${digits((flooded.heard / flooded.elapsed) * 1_000)} a second; ${cpu(flooded)}`,
    ],
  ]
}
