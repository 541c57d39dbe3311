import { count } from '../format.js'
import { printable } from '../printable.js'
import type { Result } from '../simulation/simulation.js'
import { table } from './table.js'

function filled(head: string[], rows: string[][]): string {
  const made = table(head)
  made.push(...rows)
  return made.toString()
}

/** A time for people: three digits, in ms below a second. */
export function time(ms: number): string {
  if (!Number.isFinite(ms)) return '-'
  if (ms >= 1000) return `${digits(ms / 1000)} s`
  return `${digits(ms)} ms`
}

function digits(value: number): string {
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)
}

function percent(share: number): string {
  return Number.isFinite(share) ? `${(share * 100).toFixed(1)} %` : '-'
}

/** One row a policy: response times, the worst share of a window, and what failed. */
export function responsesTable(results: readonly Result[]): string {
  return filled(
    ['policy', 'mean', 'p50', 'p99', 'p99.9', 'worst share', 'failed', 'unended'],
    results.map(({ policy, response, worstWindow, requests }) => [
      printable(policy),
      time(response.mean),
      time(response.p50),
      time(response.p99),
      time(response.p999),
      percent(worstWindow?.share ?? Number.NaN),
      count(requests.errors + requests.timeouts + requests.refused),
      count(requests.inSystem),
    ]),
  )
}

/** One row a server: its share of the requests and its utilization, under each policy. */
export function nodesTable(results: readonly Result[]): string {
  const nodes = results[0]?.nodes ?? []
  return filled(
    ['share / utilization', ...results.map(({ policy }) => printable(policy))],
    nodes.map(({ id }, i) => [
      printable(id),
      ...results.map((result) => {
        const { share = Number.NaN, utilization = Number.NaN } = result.nodes[i] ?? {}
        return `${percent(share)} / ${percent(utilization)}`
      }),
    ]),
  )
}
