/** A line through points, by least squares. */
export function slopeOf(points: readonly { readonly x: number; readonly y: number }[]): number {
  const mean = (of: (point: { x: number; y: number }) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length
  const [x, y] = [mean((point) => point.x), mean((point) => point.y)]
  const above = points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0)
  const below = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0)
  return below === 0 ? 0 : above / below
}

/** How much a line through the last two thirds of the looks rises from their first to their last. */
export function rise<L extends { readonly at: number }>(
  looks: readonly L[],
  of: (look: L) => number,
): number {
  const last = looks.slice(Math.floor(looks.length / 3))
  const [first, end] = [last[0], last.at(-1)]
  if (first === undefined || end === undefined) return 0
  return slopeOf(last.map((look) => ({ x: look.at, y: of(look) }))) * (end.at - first.at)
}
