import type { LiveNode } from '../../live/live-view.js'
import { printable } from '../../printable.js'
import { withoutUrlCredentials } from '../../without-credentials.js'
import { GAP, type Placed, place } from './columns.js'
import { balancerFact, nodeFacts, nodesFact, picksFact, pollFact } from './facts.js'
import { sparkline } from './format.js'
import type { History } from './history.js'
import { ALL, type TopModel } from './model.js'
import type { Paint } from './paint.js'
import { cellsOf, cut, filled, isPlain } from './text.js'

/** A terminal's, in cells. */
export interface Size {
  readonly columns: number
  readonly rows: number
}

/** Rows of what is told of the selected node. */
const DETAILS = 3

/** Fewest rows of nodes that are kept; what is around them goes first. */
const LEAST_NODES = 3

const KEYS = 'q quit  ↑↓ PgUp PgDn move  s/S sort  1-9 by column  r reverse  / filter'

/** Cells of the marks of the selected row. */
export const MARGIN = 2

/** How the rows of a screen are used. */
interface Layout {
  /** Lines about the balancer. */
  readonly header: number
  /** Rows of nodes, below the head of their table. */
  readonly nodes: number
  readonly details: boolean
  readonly keys: boolean
}

// What is around the nodes, the most dispensable last, as far as there is room.
function layoutOf(model: TopModel, rows: number): Layout {
  let room = rows - 1 - (hasStatus(model) ? 1 : 0) - LEAST_NODES
  const take = (lines: number) => {
    const fits = lines <= room
    if (fits) room -= lines
    return fits
  }
  const header = Array.from({ length: model.view === undefined ? 1 : 4 }, () => take(1)).filter(
    Boolean,
  ).length
  const keys = take(1)
  const details = take(DETAILS + 1)
  return { header, keys, details, nodes: Math.max(0, room + LEAST_NODES) }
}

/** How many nodes are seen at once. */
export function nodesSeen(model: TopModel, { rows }: Size): number {
  return layoutOf(model, rows).nodes
}

/** The whole screen, top to bottom: at most as many lines as it has rows, none wider than it. */
export function render(model: TopModel, { columns, rows }: Size, paint: Paint): string[] {
  const layout = layoutOf(model, rows)
  const lines = header(model, columns, paint).slice(0, layout.header)
  lines.push(...nodesTable(model, columns, layout.nodes, paint))
  if (layout.details) lines.push(...detailLines(model, columns, paint))
  if (hasStatus(model)) lines.push(statusLine(model, columns, paint))
  if (layout.keys) lines.push(paint('dim', cut(KEYS, columns)))
  return lines.slice(0, rows)
}

function header({ view, url, history }: TopModel, columns: number, paint: Paint): string[] {
  if (view === undefined)
    return [paint('bold', cut(`idlest top ${printable(withoutUrlCredentials(url))}`, columns))]
  const picks = picksFact(view)
  const cells = Math.min(60, columns - cellsOf(picks) - MARGIN)
  const lately = history.last(ALL, Math.max(0, cells))
  const top = Math.max(0, ...lately.map((value) => value ?? 0))
  const bars = cells < 8 ? '' : `  ${sparkline(lately, Math.min(cells, lately.length), top)}`
  return [
    paint('bold', cut(balancerFact(view), columns)),
    cut(nodesFact(view), columns),
    cut(picks + bars, columns),
    cut(pollFact(view), columns),
  ]
}

function hasStatus({ lost, typing, sorting, view }: TopModel): boolean {
  return lost !== undefined || view === undefined || typing || sorting.filter !== ''
}

function statusLine({ lost, typing, sorting, rows, view }: TopModel, columns: number, paint: Paint): string {
  const filter = printable(sorting.filter)
  // Of a long filter the end is seen, where the cursor is.
  if (typing) return `filter: ${cut(filter, columns - 9, 'start')}${paint('inverse', ' ')}`
  if (lost !== undefined) {
    const what = view === undefined ? 'no connection' : 'connection lost, this is the last that was heard'
    return paint('red', cut(`${what}: ${printable(lost)}; trying again`, columns))
  }
  if (view === undefined) return paint('dim', cut('connecting …', columns))
  return paint('cyan', cut(`filter: ${filter} (${rows.length} of ${view.nodes.length}; Esc: all)`, columns))
}

/** The head of the table and `height` rows of it. */
function nodesTable(model: TopModel, columns: number, height: number, paint: Paint): string[] {
  const { rows, view, history } = model
  if (view === undefined || columns <= MARGIN) return Array.from({ length: height + 1 }, () => '')
  const placed = place(columns - MARGIN, view.nodes)
  const { offset, index } = model.window(height)
  const shown = rows.slice(offset, offset + height)
  const lines = [
    paint('bold', headOf(model, placed)),
    ...shown.map((node, i) => rowOf(node, placed, history, offset + i === index, paint)),
  ]
  if (rows.length === 0)
    lines.push(cut(view.nodes.length === 0 ? '  no nodes' : '  no node is like this', columns))
  while (lines.length < height + 1) lines.push('')
  return lines.slice(0, height + 1)
}

function headOf({ sorting }: TopModel, placed: readonly Placed[]): string {
  const cells = placed.map(({ column: { key, head, align }, cells }) => {
    if (key !== sorting.sort) return filled(head, cells, align)
    return filled(`${cut(head, cells - 1)}${sorting.reverse ? '▲' : '▼'}`, cells, align)
  })
  return `  ${cells.join(' '.repeat(GAP))}`
}

function rowOf(
  node: LiveNode,
  placed: readonly Placed[],
  history: History,
  selected: boolean,
  paint: Paint,
): string {
  let end = MARGIN
  const cells = placed.map(({ column, cells }, i) => {
    end += cells + (i === 0 ? 0 : GAP)
    const text = filled(column.text(node, cells, history), cells, column.align, column.cutAt)
    const style = column.style?.(node)
    const painted = selected || style === undefined ? text : paint(style, text)
    return isPlain(text) ? painted : painted + toColumn(end)
  })
  const line = cells.join(' '.repeat(GAP))
  return selected ? paint('inverse', `› ${line}`) : `  ${line}`
}

// Terminals differ in how wide they draw some characters: what comes behind stays where it belongs.
function toColumn(cells: number): string {
  return `\x1b[${cells + 1}G`
}

/** The selected node's id in full where there is room, and what is known of it, broken between facts. */
function detailLines(model: TopModel, columns: number, paint: Paint): string[] {
  const node = model.selected
  const lines = node === undefined ? [] : broken(nodeFacts(node), columns, DETAILS)
  const id = node === undefined ? '' : cut(printable(node.id), columns, 'middle')
  return [paint('bold', id), ...lines, ...Array.from({ length: DETAILS - lines.length }, () => '')]
}

function broken(facts: readonly string[], columns: number, most: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const fact of facts) {
    const longer = line === '' ? fact : `${line} · ${fact}`
    if (line !== '' && cellsOf(longer) > columns) {
      lines.push(line)
      line = fact
    } else line = longer
  }
  lines.push(line)
  return lines.slice(0, most).map((one) => cut(one, columns))
}
