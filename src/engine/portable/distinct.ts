import type { Generator } from './generator.js'

/**
 * Fills `into` with distinct numbers from 0 to `length - 1`, every set of them as likely as any other, by Floyd's way
 * (Bentley and Floyd, 1987). `into` is shorter than `length`.
 */
export function drawDistinct(into: Uint32Array, length: number, generator: Generator): void {
  const first = length - into.length
  for (let i = 0; i < into.length; i++) {
    const drawn = generator.below(first + i + 1)
    into[i] = has(into, i, drawn) ? first + i : drawn
  }
}

function has(numbers: Uint32Array, count: number, wanted: number): boolean {
  for (let i = 0; i < count; i++) if (numbers[i] === wanted) return true
  return false
}
