import type { Key } from '../../live/arrange.js'
import type { LiveNode } from '../../live/live-view.js'
import { printable } from '../../printable.js'
import { compact, latency, part, sparkline, time } from './format.js'
import type { History } from './history.js'
import type { Style } from './paint.js'
import { type CutAt, cellsOf } from './text.js'

/** One column of the table of nodes. */
export interface Column {
  /** What `--sort` calls it. */
  readonly key: ColumnKey
  readonly head: string
  /** Fewest cells that it is shown in. */
  readonly cells: number
  /** What goes first where there is no room: the largest. */
  readonly rank: number
  readonly align: 'left' | 'right'
  /** Where what has no room is left out; default at the end. */
  readonly cutAt?: CutAt
  readonly text: (node: LiveNode, cells: number, history: Pick<History, 'last'>) => string
  readonly style?: (node: LiveNode) => Style | undefined
  /** What it is sorted by; undefined comes last. */
  readonly value: (node: LiveNode) => Key
}

/** What nodes are sorted by. */
export type ColumnKey = (typeof columnKeys)[number]

export const columnKeys = [
  'node',
  'state',
  'cpu',
  'history',
  'age',
  'share',
  'sent',
  'flight',
  'rate',
  'weight',
  'latency',
  'failed',
  'ejected',
  'polls',
  'why',
] as const

/** In one word: ejected and suspect nodes are up, but do not get what others get. */
export function stateOf({ state, ejected, suspect }: LiveNode): string {
  if (state !== 'up') return state
  if (ejected !== undefined) return 'ejected'
  return suspect === undefined ? 'up' : 'suspect'
}

const stateStyles = { up: undefined, drain: 'yellow', maint: 'yellow', down: 'red' } as const

function stateStyle(node: LiveNode): Style | undefined {
  if (node.state === 'up') return node.ejected === undefined && node.suspect === undefined ? undefined : 'red'
  return stateStyles[node.state]
}

function cpuStyle({ cpu = 0 }: LiveNode): Style | undefined {
  return cpu >= 95 ? 'red' : cpu >= 80 ? 'yellow' : undefined
}

const right = 'right' as const
const left = 'left' as const

/** All columns, in the order in which they are shown. */
export const columns: readonly Column[] = [
  {
    key: 'node',
    head: 'node',
    cells: 14,
    rank: 0,
    align: left,
    cutAt: 'middle',
    text: ({ id }) => printable(id),
    value: ({ id }) => id,
  },
  {
    key: 'state',
    head: 'state',
    cells: 7,
    rank: 1,
    align: left,
    text: stateOf,
    style: stateStyle,
    value: stateOf,
  },
  {
    key: 'cpu',
    head: 'cpu%',
    cells: 5,
    rank: 2,
    align: right,
    text: ({ cpu }) => (cpu === undefined ? '' : cpu.toFixed(0)),
    style: cpuStyle,
    value: ({ cpu }) => cpu,
  },
  {
    key: 'history',
    head: 'lately',
    cells: 8,
    rank: 7,
    align: right,
    text: ({ id }, cells, history) => sparkline(history.last(id, cells), cells, 100),
    style: cpuStyle,
    value: ({ cpu }) => cpu,
  },
  {
    key: 'age',
    head: 'age',
    cells: 5,
    rank: 4,
    align: right,
    text: ({ age }) => time(age),
    style: ({ fresh, age }) => (age === undefined || fresh ? undefined : 'yellow'),
    value: ({ age }) => age,
  },
  {
    key: 'share',
    head: 'share%',
    cells: 7,
    rank: 5,
    align: right,
    text: ({ share }) => part(share),
    value: ({ share }) => share,
  },
  {
    key: 'sent',
    head: 'sent%',
    cells: 6,
    rank: 9,
    align: right,
    text: ({ sentShare }) => part(sentShare),
    value: ({ sentShare }) => sentShare,
  },
  {
    key: 'flight',
    head: 'flight',
    cells: 7,
    rank: 6,
    align: right,
    text: ({ inFlight }) => compact(inFlight),
    value: ({ inFlight }) => inFlight,
  },
  {
    key: 'rate',
    head: 'picks/s',
    cells: 8,
    rank: 8,
    align: right,
    text: ({ picksPerSecond }) => compact(picksPerSecond),
    value: ({ picksPerSecond }) => picksPerSecond,
  },
  {
    key: 'weight',
    head: 'weight',
    cells: 7,
    rank: 10,
    align: right,
    text: ({ weight }) => compact(weight),
    value: ({ weight }) => weight,
  },
  {
    key: 'latency',
    head: 'latency',
    cells: 8,
    rank: 13,
    align: right,
    text: (node) => latency(node.latency),
    value: (node) => node.latency,
  },
  {
    key: 'failed',
    head: 'failed',
    cells: 7,
    rank: 14,
    align: right,
    text: ({ failed }) => compact(failed),
    value: ({ failed }) => failed,
  },
  {
    key: 'ejected',
    head: 'ejected',
    cells: 8,
    rank: 11,
    align: right,
    text: ({ ejected }) => (ejected === undefined ? '' : time(ejected.remaining) || 'yes'),
    style: () => 'red',
    value: ({ ejected }) => (ejected === undefined ? undefined : (ejected.remaining ?? 0)),
  },
  {
    key: 'polls',
    head: 'poll errors',
    cells: 12,
    rank: 12,
    align: right,
    text: ({ poll }) => compact(poll?.count),
    style: () => 'red',
    value: ({ poll }) => poll?.count,
  },
  {
    key: 'why',
    head: 'why not picked',
    cells: 14,
    rank: 3,
    align: left,
    text: ({ why }) => (why === undefined ? '' : printable(why)),
    value: ({ why }) => why,
  },
]

/** A column that has room. */
export interface Placed {
  readonly column: Column
  readonly cells: number
}

/** Cells between two columns. */
export const GAP = 1

// What room is left goes to these in turn, each up to what it needs and no more than that.
const growth: readonly (readonly [ColumnKey, number])[] = [
  ['node', 20],
  ['why', 28],
  ['node', 44],
  ['why', 60],
  ['history', 30],
  ['node', 80],
  ['why', 120],
  ['history', 60],
]

/**
 * Chooses the columns that have room in `width` cells, by their rank, and how wide each is.
 * @param nodes by whose texts wide columns are as wide as they need
 * @param among those to choose from
 * @param gap cells between two of them
 */
export function place(width: number, nodes: readonly LiveNode[], among = columns, gap = GAP): Placed[] {
  const shown: Column[] = []
  let room = width + gap
  for (const column of among.toSorted((a, b) => a.rank - b.rank)) {
    if (column.cells + gap > room && shown.length > 0) break
    shown.push(column)
    room -= column.cells + gap
  }
  const cells = new Map(shown.map(({ key, cells }) => [key, Math.min(cells, width)]))
  const needs = { node: longest(nodes, ({ id }) => id), why: longest(nodes, ({ why }) => why), history: 60 }
  for (const [key, most] of growth) {
    const now = cells.get(key)
    if (now === undefined) continue
    const need = Math.min(most, needs[key as keyof typeof needs])
    const more = Math.max(0, Math.min(room, need - now))
    cells.set(key, now + more)
    room -= more
  }
  return among.flatMap((column) => {
    const found = cells.get(column.key)
    return found === undefined ? [] : [{ column, cells: found }]
  })
}

function longest(nodes: readonly LiveNode[], text: (node: LiveNode) => string | undefined): number {
  let most = 0
  for (const node of nodes) {
    const one = text(node)
    // No text takes more than two cells for each of its characters.
    if (one !== undefined && one.length * 2 > most) most = Math.max(most, cellsOf(printable(one)))
  }
  return most
}
