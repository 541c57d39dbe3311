import stringWidth from 'string-width'
import { ASCII } from '../../printable.js'

// What is drawn here beside ASCII, of one cell each: measured at a glance, since there is a lot of it.
const NARROW = /^[ -~·…▁-█]*$/

const ELLIPSIS = '…'

const graphemes = new Intl.Segmenter()

/** Whether each character takes one cell on whatever terminal. */
export function isPlain(text: string): boolean {
  return ASCII.test(text)
}

/** How many cells of a terminal a printable text takes. */
export function cellsOf(text: string): number {
  return NARROW.test(text) ? text.length : stringWidth(text)
}

// As much from the start as has room.
function startOf(parts: Iterable<string>, cells: number): { text: string[]; cells: number } {
  const text: string[] = []
  let used = 0
  for (const part of parts) {
    const more = cellsOf(part)
    if (used + more > cells) break
    text.push(part)
    used += more
  }
  return { text, cells: used }
}

function segmentsOf(text: string): string[] {
  return NARROW.test(text) ? [...text] : Array.from(graphemes.segment(text), ({ segment }) => segment)
}

/** Which part of a text is left out where it has no room. */
export type CutAt = 'start' | 'middle' | 'end'

/** Cuts a printable text to at most `cells`. */
export function cut(text: string, cells: number, where: CutAt = 'end'): string {
  if (cellsOf(text) <= cells) return text
  if (cells <= 0) return ''
  const parts = segmentsOf(text)
  const behind = { start: cells - 1, middle: Math.floor((cells - 1) / 2), end: 0 }[where]
  const end = startOf(parts.toReversed(), behind)
  const start = startOf(parts, cells - 1 - end.cells)
  return start.text.join('') + ELLIPSIS + end.text.toReversed().join('')
}

/** A printable text as exactly `cells` cells. */
export function filled(text: string, cells: number, align: 'left' | 'right' = 'left', where?: CutAt): string {
  const short = cut(text, cells, where)
  const blank = ' '.repeat(Math.max(0, cells - cellsOf(short)))
  return align === 'left' ? short + blank : blank + short
}
