import type { WeightOf } from '../algorithms/weights.js'
import { MEMBER_OUT, MEMBER_UP, type MemberArrays } from '../engine/engine.js'
import type { Place } from './member.js'

/** A place, as far as engines read of it. */
type ReadPlace = Place & { readonly key?: string; readonly up?: boolean }

/** What engines read of these places; all are up but those of members that may not be picked, and of weight 0. */
export function arraysOf(list: readonly ReadPlace[], weightOf: WeightOf): MemberArrays {
  const arrays = copiedArrays(undefined, list.length)
  for (let i = 0; i < list.length; i++) putInto(arrays, i, list[i] as ReadPlace, weightOf)
  return arrays
}

/** Arrays of this length with what these have: copied in one go, whoever changes. */
export function copiedArrays(before: MemberArrays | undefined, length: number): MemberArrays {
  const arrays = {
    slots: new Uint32Array(length),
    generations: new Uint32Array(length),
    states: new Uint8Array(length),
    weights: new Float64Array(length),
  }
  if (before === undefined) return arrays
  arrays.slots.set(before.slots.subarray(0, length))
  arrays.generations.set(before.generations.subarray(0, length))
  arrays.states.set(before.states.subarray(0, length))
  arrays.weights.set(before.weights.subarray(0, length))
  return arrays
}

/** Takes in one place. */
export function putInto(arrays: MemberArrays, i: number, place: ReadPlace, weightOf: WeightOf): void {
  const { id, key = id, slot, generation, up = true } = place
  const weight = weightOf(key)
  arrays.slots[i] = slot
  arrays.generations[i] = generation
  arrays.states[i] = up && weight > 0 ? MEMBER_UP : MEMBER_OUT
  arrays.weights[i] = weight > 0 ? weight : 1
}
