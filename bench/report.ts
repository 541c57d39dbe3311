import Table from 'cli-table3'
import type { Bar, Figures } from './bars.js'
import { type CaseResult, type Doer, keyOf } from './case.js'
import type { ThreadsResult } from './cases/threads.js'
import type { FleetResult } from './figures/fleet.js'
import { KINDS, type Kind } from './figures/middleware.js'
import type { NatsResult } from './figures/nats.js'
import { amount, BYTES_A_MIB, count, digits, estimate, spread } from './numbers.js'
import type { Steadiness } from './steadiness.js'

// No colours: the tables are for README and logs too.
const style = { head: [], border: [], compact: true }

/** What cases have in common: the loop, and the empty calls that they are compared with. */
export function floorsTable(results: readonly CaseResult[], steadiness: Steadiness | undefined): string {
  const table = new Table({ head: ['what', 'ns', 'of ten rounds eight'], style, colAligns: RIGHT })
  for (const { name, engine, ns } of results.filter(({ topic }) => topic === 'floor')) {
    table.push([`${name}${BY[engine]}`, digits(ns.median), `${digits(ns.p10)}-${digits(ns.p90)}`])
  }
  const floor = steadiness?.floor
  if (floor !== undefined) {
    const range = `${digits(floor.p10)}-${digits(floor.p90)}`
    table.push(['floor by napi-rs, before and after each case', digits(floor.median), range])
  }
  return table.toString()
}

const RIGHT: ('left' | 'right')[] = ['left', 'right', 'right']

const BY: Readonly<Record<Doer, string>> = {
  native: ' by napi-rs',
  'C++': ' by node-addon-api',
  portable: '',
  '-': '',
}

export function casesTable(results: readonly CaseResult[], bars: readonly Bar[]): string {
  const table = new Table({
    head: ['case', 'engine', 'nodes', 'ns', 'floors', 'p99', 'per', 'samples', 'at most', 'met?'],
    colAligns: ['left', 'left', 'right', 'right', 'right', 'right', 'left', 'right', 'right', 'left'],
    style,
  })
  for (const result of results) {
    const { name, engine, nodes, ns, floors, p99, unit, samples } = result
    const bar = bars.find(({ of }) => of !== undefined && keyOf(of) === keyOf(result))
    table.push([
      name,
      engine,
      nodes === 0 ? '' : count(nodes),
      spread(ns),
      floors === undefined ? '-' : spread(floors),
      digits(p99),
      unit,
      count(samples),
      bar === undefined ? '' : amount(bar.atMost, bar.unit),
      bar === undefined ? '' : metWord(bar),
    ])
  }
  return table.toString()
}

/** Whether a bar is met, and whether that is sure. */
export function metWord({ met, between, atMost }: Bar): string {
  if (met === undefined) return 'not measured'
  const word = met ? 'yes' : 'MISSED'
  if (between === undefined || atMost < between[0] || atMost > between[1]) return word
  return `${word}, just`
}

/** How many bars are missed of those that were measured. */
export function missedLine(bars: readonly Bar[]): string {
  const measured = bars.filter(({ met }) => met !== undefined)
  const missed = measured.filter(({ met }) => !met).length
  return missed === 0
    ? 'No bar that was measured is missed.'
    : `${missed} of ${measured.length} bars are MISSED.`
}

export function barsTable(bars: readonly Bar[]): string {
  const table = new Table({
    head: ['what', 'at most', 'reached', 'between', 'met?'],
    colAligns: ['left', 'right', 'right', 'right', 'left'],
    style,
  })
  for (const bar of bars) {
    const { what, unit, atMost, reached, between } = bar
    table.push([
      what,
      amount(atMost, unit),
      reached === undefined ? '-' : amount(reached, unit),
      between === undefined ? '' : between.map(digits).join(' to '),
      metWord(bar),
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
        `${engine} ${name}: garbage collections in ${count(picks)} picks`,
        `${collections} (${digits(Math.max(0, bytesPerPick))} bytes a pick)`,
      ])
    }
  }
  if (tableBytes !== undefined) table.push(['table of 10,000 nodes', `${count(tableBytes)} bytes`])
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
  for (const one of middleware ?? []) {
    table.push([
      `middleware of ${one.server}: added to a request of ${digits(one.plain.median)} µs`,
      KINDS.flatMap((kind) => {
        const found = one[kind]
        return found === undefined ? [] : [`${estimate(found)} µs ${KIND_WORDS[kind]}`]
      }).join('\n'),
    ])
  }
  for (const { sender, throughput, cpu, toBalancedPool, toRoundRobinPool, p50, p99 } of undici ?? []) {
    table.push([
      `undici, 4 servers: ${sender}`,
      `${count(throughput)} requests/s, ${digits(cpu)} µs CPU each (${estimate(toBalancedPool)} of BalancedPool, ` +
        `${estimate(toRoundRobinPool)} of RoundRobinPool); one server busy: p50 ${digits(p50)} ms, p99 ${digits(p99)} ms`,
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

const KIND_WORDS: Readonly<Record<Kind, string>> = {
  empty: 'by one that does nothing',
  counted: 'counted',
  reported: 'with a report',
  anew: 'with one of its own',
}

// The first cycle connects to all, and the thread starts; those after it are what polling costs.
function fleetRows({ nodes, by, interval, cycles, rssBefore, rss }: FleetResult): string[][] {
  const what = `${count(nodes)} nodes every ${interval} ms${by === 'grpc' ? ' by gRPC' : ''}`
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
    [`NATS, ${count(nodes)} nodes with a report a second each`, cpu(steady)],
    [
      'NATS, as many reports as it takes',
      `${digits((flooded.heard / flooded.elapsed) * 1_000)} a second; ${cpu(flooded)}`,
    ],
  ]
}
