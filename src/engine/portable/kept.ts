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
  const known = new Map<number, number>()
  for (let i = 0; i < before.slots.length; i++) known.set(keyOf(before, i), i)
  for (let i = 0; i < places.length; i++) {
    if (members.slots[i] !== NO_SLOT) places[i] = known.get(keyOf(members, i)) ?? -1
  }
  return places
}

/** What was kept of each member, at its place now; `newcomer` for one that was none before. */
export function valuesAt(
  places: Int32Array,
  before: Float64Array,
  newcomer: number,
): Float64Array<ArrayBuffer> {
  return Float64Array.from(places, (place) => (place < 0 ? newcomer : (before[place] as number)))
}
