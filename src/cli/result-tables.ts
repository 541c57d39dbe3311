import type { Cell } from 'cli-table3'
import { count } from '../format.js'
import { printable } from '../printable.js'
import type { ResponseTimes } from '../simulation/measures.js'
import type { Result } from '../simulation/simulation.js'
import { table } from './table.js'

function filled(head: string[], rows: Cell[][]): string {
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

/**
 * One row a policy: response times, the largest share that one server had of a window, and what failed or was still
 * open at the end, where there is any. Response times of a policy under which queues only grow are left out.
 */
export function responsesTable(results: readonly Result[]): string {
  const failed = results.map(({ requests }) => requests.errors + requests.timeouts + requests.refused)
  const open = results.map(({ requests }) => requests.inSystem)
  const counted = [
    { head: 'failed', counts: failed },
    { head: 'open', counts: open },
  ].filter(({ counts }) => counts.some((value) => value > 0))
  return filled(
    ['policy', 'mean', 'p50', 'p99', 'p99.9', 'worst share', ...counted.map(({ head }) => head)],
    results.map(({ policy, settled, response, worstWindow }, i) => [
      printable(policy),
      ...(settled ? times(response) : [{ content: 'never settles', colSpan: 4, hAlign: 'right' as const }]),
      percent(worstWindow?.share ?? Number.NaN),
      ...counted.map(({ counts }) => count(counts[i] ?? 0)),
    ]),
  )
}

function times({ mean, p50, p99, p999 }: ResponseTimes): string[] {
  return [mean, p50, p99, p999].map(time)
}

/** Columns that tables fit, whatever the number of policies. */
const WIDTH = 100

/**
 * One row a server: its share of the requests and its utilization, under each policy. As many tables as it takes for
 * none to be wider than a terminal.
 */
export function nodesTable(results: readonly Result[]): string {
  const ids = (results[0]?.nodes ?? []).map(({ id }) => printable(id))
  const first = widthOf([NODES_HEAD, ...ids])
  const parts: Result[][] = []
  let left = 0
  for (const result of results) {
    const needed = widthOf([printable(result.policy), '100.0 % / 100.0 %'])
    if (needed > left || parts.length === 0) {
      parts.push([])
      left = WIDTH - 1 - first
    }
    parts.at(-1)?.push(result)
    left -= needed
  }
  return parts.map((part) => onePart(ids, part)).join('\n\n')
}

const NODES_HEAD = 'share / utilization'

// With what is around a cell: a border and a space on either side.
function widthOf(texts: readonly string[]): number {
  return Math.max(...texts.map(({ length }) => length)) + 3
}

function onePart(ids: readonly string[], results: readonly Result[]): string {
  return filled(
    [NODES_HEAD, ...results.map(({ policy }) => printable(policy))],
    ids.map((id, i) => [
      id,
      ...results.map((result) => {
        const { share = Number.NaN, utilization = Number.NaN } = result.nodes[i] ?? {}
        return `${percent(share)} / ${percent(utilization)}`
      }),
    ]),
  )
}
