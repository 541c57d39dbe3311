import { NO_NODE } from '../../engine/key-tables.js'
import { SLICE } from '../../engine/portable/slices.js'

/** A share of the heaviest's turns below which rounds are not gone through node by node. */
const SELDOM = 1 / 8

/**
 * Builds a Maglev table, with a pause after each slice. This is its exact meaning, which both engines follow; `KeyTables`
 * in `src/engine/key-tables.ts` has the words.
 *
 * `size` is prime. Node i asks for the cells `(offset + k * skip) % size`, k = 0, 1, ..., with
 * `offset = hashes[2i] % size` and `skip = hashes[2i + 1] % (size - 1) + 1`: every cell once. In rounds r = 0, 1, ... the
 * nodes take turns in their order. In its turn a node takes the first cell it asks for that is free, until no cell is
 * free. With `share = weights[i] / greatest weight`, a node has a turn in round 0, and in round r where
 * `floor(r * share) > floor((r - 1) * share)`. A hash finds cell `hash % size`. Without nodes all cells are `NO_NODE`.
 */
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
  // Gives a node the next cell that it asks for and is free.
  const take = (i: number) => {
    const skip = skips[i] as number
    let place = places[i] as number
    while (cells[place] !== NO_NODE) {
      place = after(place, skip, size)
      steps++
    }
    cells[place] = i
    places[i] = after(place, skip, size)
    left--
  }
  if (shares.some((share) => share < SELDOM)) {
    // Many would have no turn in a round: so each is listed for the round of its next one.
    const due = new Map([[0, [...shares.keys()]]])
    for (let round = 0; ; round++) {
      // Never empty: the heaviest has a turn in each round.
      const whose = (due.get(round) ?? []).sort((a, b) => a - b)
      due.delete(round)
      for (const i of whose) {
        take(i)
        if (left === 0) return cells
        const next = nextTurn(round, shares[i] as number, size)
        const others = due.get(next)
        if (others !== undefined) others.push(i)
        else due.set(next, [i])
        if (++steps < SLICE) continue
        steps = 0
        yield
      }
    }
  }
  for (let round = 0; ; round++) {
    for (let i = 0; i < count; i++) {
      const share = shares[i] as number
      steps++
      if (round > 0 && Math.floor(round * share) === Math.floor((round - 1) * share)) continue
      take(i)
      if (left === 0) return cells
      if (steps < SLICE) continue
      steps = 0
      yield
    }
  }
}

/** The first round after this one in which a share has a turn; `size` where that is no earlier. */
function nextTurn(round: number, share: number, size: number): number {
  const turns = Math.floor(round * share) + 1
  let next = Math.max(round + 1, Math.ceil(turns / share))
  if (!(next < size)) return size
  // The quotient may be a hair off.
  while (next > round + 1 && Math.floor((next - 1) * share) >= turns) next--
  while (Math.floor(next * share) < turns) next++
  return next
}

function after(place: number, skip: number, size: number): number {
  const next = place + skip
  return next < size ? next : next - size
}
