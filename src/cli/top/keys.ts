import type { Key } from 'node:readline'
import { type ColumnKey, columnKeys, place } from './columns.js'
import type { TopModel } from './model.js'
import { MARGIN, nodesSeen, type Size } from './render.js'

/** What a key asks of the session, beyond the model. */
export type Command = 'quit' | 'interrupt' | 'suspend'

/** Longest filter, characters. */
const LONGEST_FILTER = 200

/** Does what a key asks for; returns what the model can't do. */
export function press(
  model: TopModel,
  { name, ctrl, meta, sequence = '' }: Key,
  size: Size,
): Command | undefined {
  if (ctrl) {
    if (name === 'c') return 'interrupt'
    if (name === 'z') return 'suspend'
    return undefined
  }
  if (moved(model, name, size)) return undefined
  if (model.typing) type(model, name, meta === true ? '' : sequence)
  else if (sequence === 'q') return 'quit'
  else sorted(model, name, sequence, size)
  return undefined
}

function moved(model: TopModel, name: string | undefined, size: Size): boolean {
  const page = Math.max(1, nodesSeen(model, size) - 1)
  const end = model.rows.length
  const steps = { up: -1, down: 1, pageup: -page, pagedown: page, home: -end, end }
  if (name === undefined || !(name in steps)) return false
  model.move(steps[name as keyof typeof steps])
  return true
}

function type(model: TopModel, name: string | undefined, sequence: string): void {
  const { filter } = model.sorting
  if (name === 'return' || name === 'enter') model.typing = false
  else if (name === 'escape') {
    model.typing = false
    model.sortBy({ filter: '' })
  } else if (name === 'backspace') model.sortBy({ filter: [...filter].slice(0, -1).join('') })
  // A key of its own, such as one of an arrow, is a whole escape sequence.
  else if (!/\p{C}/u.test(sequence)) model.sortBy({ filter: (filter + sequence).slice(0, LONGEST_FILTER) })
}

function sorted(model: TopModel, name: string | undefined, sequence: string, size: Size): void {
  const { sort, reverse } = model.sorting
  const shown = shownColumns(model, size)
  const step = (by: number) => {
    const next = shown[(shown.indexOf(sort) + by + shown.length) % shown.length]
    if (next !== undefined) model.sortBy({ sort: next, reverse: false })
  }
  if (sequence === 's') step(1)
  else if (sequence === 'S') step(-1)
  else if (sequence === 'r') model.sortBy({ reverse: !reverse })
  else if (sequence === '/') model.typing = true
  else if (name === 'escape') model.sortBy({ filter: '' })
  else if (sequence === 'j') model.move(1)
  else if (sequence === 'k') model.move(-1)
  else if (sequence === 'g') model.move(-model.rows.length)
  else if (sequence === 'G') model.move(model.rows.length)
  else if (/^[1-9]$/.test(sequence)) {
    const chosen = shown[Number(sequence) - 1]
    if (chosen === sort) model.sortBy({ reverse: !reverse })
    else if (chosen !== undefined) model.sortBy({ sort: chosen, reverse: false })
  }
}

function shownColumns({ view }: TopModel, { columns }: Size): readonly ColumnKey[] {
  if (view === undefined) return columnKeys
  return place(columns - MARGIN, view.nodes).map(({ column }) => column.key)
}
