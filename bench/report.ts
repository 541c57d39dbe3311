import Table from 'cli-table3'
import type { Bar, BarUnit, Figures } from './bars.js'
import type { CaseResult } from './case.js'
import type { ThreadsResult } from './cases/threads.js'

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

export function figuresTable({ gc, tableBytes, poll, waits, middleware }: Figures): string {
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
  return table.toString()
}
