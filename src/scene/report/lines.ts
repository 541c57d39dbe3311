import type { Line } from '../parts/chart.js'

/** Colours that lines can be told apart by; further ones have dashes. */
const COLORS = 8

const DASHES: readonly (readonly number[] | undefined)[] = [undefined, [7, 4], [2, 3]]

/** What a line of a chart looks like. */
export type Look = Pick<Line, 'color' | 'dash'>

/** The look of the n-th line: 24 differ. */
export function lookOf(index: number): Look {
  return {
    color: `--line-${(index % COLORS) + 1}`,
    dash: DASHES[Math.floor(index / COLORS) % DASHES.length],
  }
}
