/** Colours that lines can be told apart by; further ones have dashes. */
const COLORS = 8

const DASHES: readonly (readonly number[] | undefined)[] = [undefined, [7, 4], [2, 3]]

/** What a line of a chart looks like. */
export interface Look {
  readonly color: string
  readonly dash?: readonly number[]
}

/** The look of the n-th line: 24 differ. */
export function lookOf(index: number): Look {
  const dash = DASHES[Math.floor(index / COLORS) % DASHES.length]
  return { color: `--line-${(index % COLORS) + 1}`, ...(dash && { dash }) }
}
