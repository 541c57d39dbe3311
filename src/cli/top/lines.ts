import { count } from '../../format.js'
import type { LiveView } from '../../live/live-view.js'
import { table } from '../table.js'
import { columns, place } from './columns.js'
import { balancerFact, nodesFact, picksFact, pollFact } from './facts.js'
import { compact } from './format.js'
import type { History } from './history.js'
import { rowsOf, type Sorting } from './model.js'
import { cut } from './text.js'

// A single look has no history.
const NO_HISTORY: Pick<History, 'last'> = { last: () => [] }
const told = columns.filter(({ key }) => key !== 'history')

/** What the borders of a table take: between two columns, and around all. */
const BORDER = 3
const FRAME = 4

/**
 * All nodes in one table, with what is known of the balancer above.
 * @param width cells that there are; default enough for all columns
 */
export function wholeTable(view: LiveView, sorting: Sorting, width = Number.POSITIVE_INFINITY): string {
  const placed = place(width - FRAME, view.nodes, told, BORDER)
  const rows = table(
    placed.map(({ column }) => column.head),
    0,
  )
  // Words to the left, numbers to the right.
  rows.options.colAligns = placed.map(({ column }) => column.align)
  for (const node of rowsOf(view.nodes, sorting)) {
    rows.push(
      placed.map(({ column: { text, cutAt }, cells }) => cut(text(node, cells, NO_HISTORY), cells, cutAt)),
    )
  }
  const above = [balancerFact(view), nodesFact(view), picksFact(view), pollFact(view)]
  return [...above, String(rows)].join('\n')
}

/** What a view comes to in one line, for a log. */
export function viewLine(view: LiveView, at: Date): string {
  const { picksPerSecond, empty, nodes } = view
  const cpus = nodes.flatMap(({ cpu }) => (cpu === undefined ? [] : [cpu])).sort((a, b) => a - b)
  const quantile = (part: number) => cpus[Math.floor(part * (cpus.length - 1))]?.toFixed(0)
  const cpu =
    cpus.length === 0
      ? 'no CPU known'
      : `CPU ${quantile(0)} / ${quantile(0.5)} / ${quantile(1)} % (least, median, most)`
  const failing = view.poll === undefined ? '' : `; polls: ${count(view.poll.failing)} failing`
  return `${at.toISOString()} ${compact(picksPerSecond)} picks/s, ${count(empty)} empty; ${nodesFact(view)}; ${cpu}${failing}`
}
