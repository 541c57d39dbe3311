import { NO_SLOT } from '../../table/layout.js'
import type { MemberArrays } from '../engine.js'

// Slot and slot generation in one number, exact: slots are below 2^20.
function keyOf(members: MemberArrays, i: number): number {
  return (members.slots[i] as number) * 2 ** 32 + (members.generations[i] as number)
}

/** Where each member stood before, by slot and slot generation; -1 for one that is new or has no slot. */
export function placesBefore(before: MemberArrays | undefined, members: MemberArrays): Int32Array {
  const places = new Int32Array(members.slots.length).fill(-1)
  if (before === undefined) return places
  const { slots, generations } = before
  let known: Map<number, number> | undefined
  // Where the next one is if nothing changed.
  let next = 0
  let strays = 0
  for (let i = 0; i < places.length; i++) {
    const slot = members.slots[i]
    if (slot === NO_SLOT) continue
    let place = next
    if (slots[next] !== slot || generations[next] !== members.generations[i]) {
      if (++strays <= LOOKED_FOR) place = placeOf(slot as number, members.generations[i] as number, before)
      else {
        known ??= placesOf(before)
        place = known.get(keyOf(members, i)) ?? -1
      }
    }
    places[i] = place
    if (place >= 0) next = place + 1
  }
  return places
}

/** So many members are looked for one by one before all are hashed, which takes more than a millisecond for ten thousand. */
const LOOKED_FOR = 32

function placeOf(slot: number, generation: number, { slots, generations }: MemberArrays): number {
  let place = slots.indexOf(slot)
  while (place >= 0 && generations[place] !== generation) place = slots.indexOf(slot, place + 1)
  return place
}

function placesOf(before: MemberArrays): Map<number, number> {
  const known = new Map<number, number>()
  for (let i = 0; i < before.slots.length; i++) known.set(keyOf(before, i), i)
  return known
}

/** What was kept of each member, at its place now; `newcomer` for one that was none before. */
export function valuesAt(
  places: Int32Array,
  before: Float64Array,
  newcomer: number,
): Float64Array<ArrayBuffer> {
  const values = new Float64Array(places.length)
  for (let i = 0; i < places.length; i++) {
    const place = places[i] as number
    values[i] = place < 0 ? newcomer : (before[place] as number)
  }
  return values
}
