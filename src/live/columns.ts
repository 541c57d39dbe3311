import * as v from 'valibot'
import { METRICS, type MetricName } from '../table/layout.js'
import type { LiveFacts } from './live-view.js'
import type { PartialNode } from './view-of.js'

/** What a member has in a column: plain JSON; undefined for nothing. */
type Cell = string | number | object | undefined

/** What all members have in a column; null for nothing. */
export type ColumnCells = readonly (Cell | null)[]

/** One field of all members, as it is sent. */
export interface Column {
  readonly name: string
  /** @param rate picks per second */
  readonly of: (node: LiveFacts, rate: number) => Cell
  /** Whether a value that came is one that this column may have. */
  readonly isCell: (value: unknown) => boolean
}

/** A column as it is sent: one value a member, one for all of them, or those of a few by their indices. */
export type SentColumn =
  | { readonly each: readonly (Cell | null)[] }
  | { readonly all: Cell | null }
  | { readonly at: readonly number[]; readonly of: readonly Cell[] }

// Shorter numbers: four digits or more are left, and nothing becomes 0.
function short(value: number | undefined): number | undefined {
  if (value === undefined || value === 0) return value
  const size = Math.abs(value)
  if (size >= 1_000) return Math.round(value)
  if (size >= 1) return Math.round(value * 1_000) / 1_000
  return size >= 0.001 ? Math.round(value * 1e6) / 1e6 : Number(value.toPrecision(4))
}

function whole(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value)
}

function milli(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value * 1_000) / 1_000
}

function mark(is: boolean): 1 | undefined {
  return is ? 1 : undefined
}

function isSaid(told: LiveFacts['told']): boolean {
  return told.state !== undefined || told.weight !== undefined || told.maxInFlight !== undefined
}

const isText = (value: unknown) => typeof value === 'string'
const isNumber = (value: unknown) => typeof value === 'number'
const isOne =
  (...texts: readonly unknown[]) =>
  (value: unknown) =>
    texts.includes(value)
const isState = isOne('up', 'drain', 'maint', 'down')

const number = v.optional(v.number())
const toldSchema = v.object({ state: v.optional(v.custom(isState)), weight: number, maxInFlight: number })
const ejectedSchema = v.object({ reason: v.string(), remaining: number })
const pollSchema = v.object({ count: v.number(), reason: v.string() })

/** The columns in which members are sent. */
export const COLUMNS: readonly Column[] = [
  { name: 'id', of: ({ id }) => id, isCell: isText },
  { name: 'state', of: ({ state }) => (state === 'up' ? undefined : state), isCell: isState },
  { name: 'order', of: ({ order }) => (order === 'up' ? undefined : order), isCell: isState },
  {
    name: 'told',
    of: ({ told }) => (isSaid(told) ? told : undefined),
    isCell: (value) => v.is(toldSchema, value),
  },
  { name: 'fixedWeight', of: ({ fixedWeight }) => fixedWeight, isCell: isNumber },
  {
    name: 'ejected',
    of: ({ ejected }) => ejected && { ...ejected, remaining: whole(ejected.remaining) },
    isCell: (value) => v.is(ejectedSchema, value),
  },
  { name: 'suspect', of: ({ suspect }) => suspect, isCell: isOne('failing', 'slow', 'elsewhere') },
  { name: 'part', of: ({ part }) => (part === 1 ? undefined : short(part)), isCell: isNumber },
  { name: 'isReserve', of: ({ isReserve }) => mark(isReserve), isCell: isNumber },
  { name: 'isCapped', of: ({ isCapped }) => mark(isCapped), isCell: isNumber },
  { name: 'poll', of: ({ poll }) => poll, isCell: (value) => v.is(pollSchema, value) },
  // As the table has them: whether a member is in the band is worked out from these.
  { name: 'cpu', of: ({ cpu }) => milli(cpu), isCell: isNumber },
  { name: 'effective', of: ({ effective }) => milli(effective), isCell: isNumber },
  { name: 'age', of: ({ age }) => whole(age), isCell: isNumber },
  { name: 'fresh', of: ({ fresh }) => mark(fresh), isCell: isNumber },
  { name: 'cost', of: ({ cost }) => short(cost), isCell: isNumber },
  { name: 'weight', of: ({ weight }) => short(weight), isCell: isNumber },
  { name: 'share', of: ({ share }) => short(share), isCell: isNumber },
  { name: 'inFlight', of: ({ inFlight }) => inFlight, isCell: isNumber },
  { name: 'picks', of: ({ picks }) => picks, isCell: isNumber },
  { name: 'picksPerSecond', of: (_, rate) => short(rate), isCell: isNumber },
  { name: 'released', of: ({ released }) => released, isCell: isNumber },
  { name: 'failed', of: ({ failed }) => failed, isCell: isNumber },
  { name: 'latency', of: ({ latency }) => short(latency), isCell: isNumber },
  ...METRICS.map(
    (metric): Column => ({
      name: `report.${metric}`,
      of: ({ report }) => short(report[metric]),
      isCell: isNumber,
    }),
  ),
]

/** What a member has in a column, as JSON has it. */
export function cellOf({ of }: Column, node: LiveFacts, rate: number): Cell | null {
  const cell = of(node, rate)
  return cell === undefined || (typeof cell === 'number' && !Number.isFinite(cell)) ? null : cell
}

/** The shortest way to send a column. */
export function sentColumn(cells: ColumnCells): SentColumn {
  const first = cells[0] ?? null
  let some = 0
  let areEqual = true
  for (const cell of cells) {
    if (cell !== null) some++
    if (cell !== first) areEqual = false
  }
  if (areEqual) return { all: first }
  // An index costs about as much as a value.
  if (some * 2 >= cells.length) return { each: cells }
  const at: number[] = []
  for (let i = 0; i < cells.length; i++) if (cells[i] !== null) at.push(i)
  return { at, of: at.map((i) => cells[i] as Cell) }
}

/** What each of so many members has in a column. */
export function cellsOf(column: SentColumn | undefined, count: number): readonly Cell[] {
  if (column !== undefined && 'each' in column) return column.each as readonly Cell[]
  const cells = new Array<Cell>(count)
  if (column === undefined) return cells.fill(undefined)
  if ('all' in column) return cells.fill(column.all ?? undefined)
  cells.fill(undefined)
  for (const [k, i] of column.at.entries()) cells[i] = column.of[k]
  return cells
}

// Names made for each member would cost more than all else.
const REPORTED = METRICS.map((metric) => [metric, `report.${metric}`] as const)

/** A member from its cells; `cell` gives that of a column. */
export function nodeFrom(cell: (name: string) => Cell): PartialNode {
  const number = (name: string) => (cell(name) ?? undefined) as number | undefined
  const report: Partial<Record<MetricName, number>> = {}
  for (const [metric, name] of REPORTED) {
    const value = number(name)
    if (value !== undefined) report[metric] = value
  }
  return {
    id: cell('id') as string,
    state: (cell('state') ?? 'up') as PartialNode['state'],
    order: (cell('order') ?? 'up') as PartialNode['order'],
    told: (cell('told') ?? {}) as PartialNode['told'],
    fixedWeight: number('fixedWeight'),
    ejected: (cell('ejected') ?? undefined) as PartialNode['ejected'],
    suspect: (cell('suspect') ?? undefined) as PartialNode['suspect'],
    part: number('part') ?? 1,
    isReserve: number('isReserve') !== undefined,
    isCapped: number('isCapped') !== undefined,
    poll: (cell('poll') ?? undefined) as PartialNode['poll'],
    cpu: number('cpu'),
    age: number('age'),
    fresh: number('fresh') !== undefined,
    effective: number('effective'),
    cost: number('cost'),
    weight: number('weight'),
    share: number('share') ?? 0,
    report,
    inFlight: number('inFlight') ?? 0,
    picks: number('picks') ?? 0,
    picksPerSecond: number('picksPerSecond') ?? 0,
    released: number('released') ?? 0,
    failed: number('failed') ?? 0,
    latency: number('latency'),
    sentShare: undefined,
    reason: undefined,
    why: undefined,
  }
}
