import { MEMBER_UP, type MemberArrays, NOT_ELIGIBLE } from '../engine.js'
import { OUT } from './band.js'

/** Who is up, for algorithms that read no reports: 0, or `OUT`. */
export class StateReadings {
  take({ states }: MemberArrays, _now: number, raw: Float64Array): void {
    for (let i = 0; i < states.length; i++) raw[i] = states[i] === MEMBER_UP ? 0 : OUT
  }
}

/** The fixed weights of those that are up, or `OUT`. */
export class WeightReadings {
  take({ states, weights }: MemberArrays, _now: number, raw: Float64Array): void {
    for (let i = 0; i < states.length; i++) raw[i] = states[i] === MEMBER_UP ? (weights[i] as number) : OUT
  }
}

/** The values where readings count for nothing: 0 for those that are up. */
export function fillUpValues(raw: Float64Array, values: Float64Array): void {
  for (let i = 0; i < raw.length; i++) values[i] = raw[i] === OUT ? NOT_ELIGIBLE : 0
}
