/** A bar of `cells` characters, filled to `part`, 0-1. */
export function bar(part: number, cells: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, part)) * cells)
  return '█'.repeat(filled) + '░'.repeat(cells - filled)
}
