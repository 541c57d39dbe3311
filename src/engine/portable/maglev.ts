import { NO_NODE } from '../key-tables.js'
import { SLICE } from './slices.js'

/** Builds a Maglev table, with a pause after each slice; `key-tables.ts` says what it is. */
export function* buildMaglev(
  hashes: Uint32Array,
  weights: Float64Array,
  size: number,
): Generator<void, Uint32Array> {
  const cells = new Uint32Array(size).fill(NO_NODE)
  const count = weights.length
  if (count === 0) return cells
  const greatest = weights.reduce((most, weight) => Math.max(most, weight), 0)
  const shares = weights.map((weight) => weight / greatest)
  const places = Uint32Array.from(weights, (_, i) => (hashes[2 * i] as number) % size)
  const skips = Uint32Array.from(weights, (_, i) => ((hashes[2 * i + 1] as number) % (size - 1)) + 1)
  let left = size
  let steps = 0
  for (let round = 0; ; round++) {
    for (let i = 0; i < count; i++) {
      const share = shares[i] as number
      steps++
      if (round > 0 && Math.floor(round * share) === Math.floor((round - 1) * share)) continue
      const skip = skips[i] as number
      let place = places[i] as number
      while (cells[place] !== NO_NODE) {
        place = after(place, skip, size)
        steps++
      }
      cells[place] = i
      places[i] = after(place, skip, size)
      if (--left === 0) return cells
      if (steps < SLICE) continue
      steps = 0
      yield
    }
  }
}

function after(place: number, skip: number, size: number): number {
  const next = place + skip
  return next < size ? next : next - size
}
