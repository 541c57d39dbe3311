import { count } from '../../format.js'
import type { LiveView } from '../../live/live-view.js'
import { table } from '../table.js'
import { type Column, columns } from './columns.js'
import { balancerFact, nodesFact, picksFact, pollFact } from './facts.js'
import { compact } from './format.js'
import type { History } from './history.js'
import { rowsOf, type Sorting } from './model.js'

// A single look has none.
const NO_HISTORY: Pick<History, 'last'> = { last: () => [] }

function isTold({ key }: Column): boolean {
  return key !== 'history'
}

/** All nodes in one table, with what is known of the balancer above. */
export function wholeTable(view: LiveView, sorting: Sorting): string {
  const told = columns.filter(isTold)
  const rows = table(
    told.map(({ head }) => head),
    0,
  )
  // Words to the left, numbers to the right.
  rows.options.colAligns = told.map(({ align }) => align)
  for (const node of rowsOf(view.nodes, sorting)) {
    rows.push(told.map(({ text }) => text(node, Number.POSITIVE_INFINITY, NO_HISTORY)))
  }
  return [balancerFact(view), nodesFact(view), picksFact(view), pollFact(view), String(rows)].join('\n')
}

/** What a view comes to in one line, for a log. */
export function viewLine(view: LiveView, at: Date): string {
  const { picksPerSecond, empty, nodes } = view
  const cpus = nodes.flatMap(({ cpu }) => (cpu === undefined ? [] : [cpu])).sort((a, b) => a - b)
  const quantile = (part: number) => cpus[Math.floor(part * (cpus.length - 1))]?.toFixed(0)
  const cpu = cpus.length === 0 ? 'no CPU known' : `CPU ${quantile(0)} / ${quantile(0.5)} / ${quantile(1)} %`
  const failing = view.poll === undefined ? '' : `, ${count(view.poll.failing)} polls fail`
  return `${at.toISOString()} ${compact(picksPerSecond)} picks/s, ${count(empty)} empty; ${nodesFact(view)}; ${cpu} (least, median, most)${failing}`
}
