import { reasonOf } from '../../errors.js'
import { compare, matcher } from '../../live/arrange.js'
import type { LiveNode, LiveView } from '../../live/live-view.js'
import { type Column, type ColumnKey, columns } from './columns.js'
import { History } from './history.js'

/** The series of the picks of a whole balancer; no node has an empty id. */
export const ALL = ''

/** In what order nodes are shown, and which. */
export interface Sorting {
  readonly sort: ColumnKey
  /** Against the column's own order: numbers largest first, words from A. */
  readonly reverse: boolean
  /** Words that all have to be in a node's id, state or why; upper and lower case are the same. */
  readonly filter: string
}

export const DEFAULT_SORTING: Sorting = { sort: 'cpu', reverse: false, filter: '' }

function columnOf(key: ColumnKey): Column {
  return columns.find((column) => column.key === key) as Column
}

/** The nodes that the filter lets through, in order; what is not known comes last, either way. */
export function rowsOf(nodes: readonly LiveNode[], { sort, reverse, filter }: Sorting): LiveNode[] {
  const { value } = columnOf(sort)
  return nodes
    .filter(matcher(filter))
    .map((node) => ({ node, by: value(node) }))
    .sort((a, b) => compare(a.by, b.by, typeof (a.by ?? b.by) === 'number' ? !reverse : reverse))
    .map(({ node }) => node)
}

/** What the terminal view shows, and what the keys change of it. */
export class TopModel {
  readonly url: string
  readonly history = new History()
  #view: LiveView | undefined
  #lost: string | undefined
  #sorting: Sorting
  #rows: LiveNode[] | undefined
  // Undefined: what is on top, whichever that is.
  #selected: string | undefined
  #index = 0
  #offset = 0
  /** Whether keys go to the filter. */
  typing = false

  constructor(url: string, sorting: Sorting = DEFAULT_SORTING) {
    this.url = url
    this.#sorting = sorting
  }

  /** The last view; undefined before the first. */
  get view(): LiveView | undefined {
    return this.#view
  }

  /** Why there is no connection; undefined while there is one. */
  get lost(): string | undefined {
    return this.#lost
  }

  get sorting(): Sorting {
    return this.#sorting
  }

  get rows(): readonly LiveNode[] {
    this.#rows ??= rowsOf(this.#view?.nodes ?? [], this.#sorting)
    return this.#rows
  }

  /** The node that the most is told of; undefined where there is none. */
  get selected(): LiveNode | undefined {
    return this.rows[this.#index]
  }

  show(view: LiveView): void {
    this.#view = view
    this.#lost = undefined
    this.history.push(seriesOf(view))
    this.#sorted()
  }

  lose(error: Error): void {
    this.#lost = reasonOf(error)
  }

  sortBy(change: Partial<Sorting>): void {
    this.#sorting = { ...this.#sorting, ...change }
    this.#sorted()
  }

  /** Moves the selection by so many rows. */
  move(by: number): void {
    const last = this.rows.length - 1
    if (last < 0) return
    this.#index = Math.min(last, Math.max(0, this.#index + by))
    this.#selected = this.#index === 0 ? undefined : this.rows[this.#index]?.id
  }

  /** The rows that are to be seen where there is room for `height` of them: those around the selected one. */
  window(height: number): { readonly offset: number; readonly index: number } {
    const index = this.#index
    this.#offset = Math.max(0, Math.min(this.#offset, index, this.rows.length - height))
    if (index >= this.#offset + height) this.#offset = index - Math.max(1, height) + 1
    return { offset: this.#offset, index }
  }

  // The selection stays with its node, and where that is gone with its row.
  #sorted(): void {
    this.#rows = undefined
    const { rows } = this
    const found = this.#selected === undefined ? -1 : rows.findIndex(({ id }) => id === this.#selected)
    if (this.#selected === undefined) this.#index = 0
    else this.#index = found >= 0 ? found : Math.max(0, Math.min(this.#index, rows.length - 1))
  }
}

function* seriesOf(view: LiveView): Iterable<readonly [string, number | undefined]> {
  yield [ALL, view.picksPerSecond]
  for (const { id, cpu } of view.nodes) yield [id, cpu]
}
