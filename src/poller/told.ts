import type { NodeState, Report } from '../report.js'
import type { Place } from './store.js'

/** What a node told of itself that is for the balancer's members, not for the table. A field left out is as it was. */
export interface Told extends Place {
  readonly state?: NodeState
  /** Percent of the share that it would get otherwise. */
  readonly weight?: number
  /** Most requests in flight that it takes from this process; 0: no limit. */
  readonly maxInFlight?: number
}

/** What a report tells that is for members; undefined where that is nothing. */
export function toldBy({ slot, generation }: Place, report: Report): Told | undefined {
  const { state, weight, maxInFlight } = report
  if (state === undefined && weight === undefined && maxInFlight === undefined) return undefined
  return {
    slot,
    generation,
    ...(state === undefined ? {} : { state }),
    ...(weight === undefined ? {} : { weight }),
    ...(maxInFlight === undefined ? {} : { maxInFlight }),
  }
}

/** Finds what is new in what nodes tell again and again. */
export class Tellings {
  // What each told last, field by field, by slot.
  readonly #known = new Map<number, Told>()
  // What has changed since it was taken.
  #changed: Told[] = []

  /** Whether the report tells anything new. */
  take(place: Place, report: Report): boolean {
    const told = toldBy(place, report)
    if (told === undefined) return false
    const before = this.#known.get(told.slot)
    if (before?.generation !== told.generation) {
      this.#known.set(told.slot, told)
      this.#changed.push(told)
      return true
    }
    const changed = toldBy(place, differing(before, told))
    if (changed === undefined) return false
    this.#known.set(told.slot, { ...before, ...changed })
    this.#changed.push(changed)
    return true
  }

  /** Whatever the node in this slot tells next is new. */
  forget(slot: number): void {
    this.#known.delete(slot)
  }

  /** Gives what has changed since the last time, in the order in which it came. */
  drain(): readonly Told[] {
    const changed = this.#changed
    if (changed.length > 0) this.#changed = []
    return changed
  }
}

function differing(before: Told, { state, weight, maxInFlight }: Told): Report {
  const report: Report = {}
  if (state !== undefined && state !== before.state) report.state = state
  if (weight !== undefined && weight !== before.weight) report.weight = weight
  if (maxInFlight !== undefined && maxInFlight !== before.maxInFlight) report.maxInFlight = maxInFlight
  return report
}
